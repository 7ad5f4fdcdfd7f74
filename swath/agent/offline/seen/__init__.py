"""The second grammar: heights, looks, places and masks; see `design/grammar.md`."""
