#!/usr/bin/env python3
"""Writes the reference cases, each by brute force from the model's definition: see README.md beside this file.

`make_cases.py [--only BEGINNING] [FOLDER]`; without a folder beside this file. What is written is also listed in cases.txt,
which the tests read: a case that is listed and not there is a failure.
"""

import argparse
import importlib
import json
import pathlib

HERE = pathlib.Path(__file__).parent
MODULES = [
    "bhc",
    "bhcc",
    "nrmm",
    "nrmm_moves",
    "nrmm_published",
    "nhcm",
    "rbhmc",
    "bnmc_mixture",
    "bnmc_experts",
    "bnmc_metrics",
]


def main():
    parser = argparse.ArgumentParser(description="Writes the reference cases.")
    parser.add_argument("--only", default="", metavar="BEGINNING", help="modules whose name begins so")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE)
    arguments = parser.parse_args()
    for name in MODULES:
        if name.startswith(arguments.only):
            for case, content in importlib.import_module(name).cases():
                text = json.dumps(content, allow_nan=False, separators=(",", ":"))
                (arguments.folder / f"{case}.json").write_text(text + "\n", encoding="utf-8")
                print(case, len(text), flush=True)
    listed = "".join(f"{path.stem}\n" for path in sorted(arguments.folder.glob("*.json")))
    (arguments.folder / "cases.txt").write_text(listed, encoding="utf-8")


if __name__ == "__main__":
    main()
