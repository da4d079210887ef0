"""`python -m homenode` is the command `homenode`."""

from homenode.cli import main

main()
