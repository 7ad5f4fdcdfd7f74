"""What can be said of a program before it runs: one file per kind of fault."""
