"""Starts the command line `coppice`, a program inside the package, without loading the package itself."""

import importlib.util
import os
import pathlib
import sys


def path() -> pathlib.Path:
    """Where the program is."""
    spec = importlib.util.find_spec("coppice")  # looks for the package and does not import it
    for folder in spec.submodule_search_locations if spec is not None else []:
        program = pathlib.Path(folder) / "bin" / "coppice"
        if program.exists():
            return program
    raise SystemExit("coppice: the program is missing from the installed package; install it again")


def main() -> None:
    program = path()
    os.execv(program, ["coppice", *sys.argv[1:]])
