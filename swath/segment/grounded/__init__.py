"""Objects that any phrase names, by a detector with an open vocabulary."""
