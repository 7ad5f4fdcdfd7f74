"""`python -m swath` is the command line."""

from swath.cli import main

main()
