#!/usr/bin/env python3
"""Fails when a folder of src/coppice includes one that is not above it in the list, or one model another."""
import pathlib
import re
import sys

LAYERS = ["base", "data", "family", "shape", "prior", "cluster", "model", "run", "post", "out", "app"]
GENERATED = {"version.hpp", "instruction_set.hpp"}
PUBLIC = "coppice.hpp"  # of the whole library, so it may include every layer but the command line
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def fault(here, root, target):
    """Why a file in the folders `here` may not include `target`, or None."""
    if ".." in target or (not target.startswith("coppice/") and (root / "/".join(here) / target).exists()):
        return "write the path from src/"
    there = target.split("/")[1:]
    if not target.startswith("coppice/") or target.removeprefix("coppice/") in GENERATED:
        return None
    if there[0] not in LAYERS:
        return f"{there[0]} is not a layer"
    if LAYERS.index(there[0]) > LAYERS.index(here[0]):
        return f"{here[0]} is above {there[0]}"
    if here[0] == there[0] == "model" and len(here) > 1 and len(there) > 2 and here[1] != there[1]:
        return f"model/{here[1]} may not know model/{there[1]}"
    return None


def main(root):
    count, faults = 0, []
    for path in sorted(p for p in root.rglob("*") if p.suffix in {".hpp", ".cpp"}):
        count += 1
        here = path.relative_to(root).parts[:-1] or (("out",) if path.name == PUBLIC else ())
        if not here or here[0] not in LAYERS:
            faults.append(f"{path}: not in a layer ({', '.join(LAYERS)})")
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            if why := fault(here, root, match[1]):
                line = text.count("\n", 0, match.start(1)) + 1
                faults.append(f"{path}:{line}: includes {match[1]}: {why}")
    print("\n".join(faults + [f"layers: {count} files, {len(faults)} offenders"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src/coppice")))
