"""Cases, metrics and benchmarks."""
