"""Fakes of benchmarks: generators of tiny folders in the official layouts, with truths from closed forms."""
