"""`python -m coppice`: the command line."""

from coppice_program import main

main()
