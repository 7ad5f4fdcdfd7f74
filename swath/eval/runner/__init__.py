"""Runs a benchmark: cases in, one line of results out for each, whatever happens in between."""
