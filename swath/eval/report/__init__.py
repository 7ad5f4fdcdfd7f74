"""Reports on benchmark runs: what was right, where errors come from, how sure that is, for people and for programs."""
