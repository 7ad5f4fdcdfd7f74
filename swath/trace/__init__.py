"""Schemas of the run folder, reading and comparing runs."""
