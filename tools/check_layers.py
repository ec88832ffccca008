#!/usr/bin/env python3
"""Fails where an include points the wrong way: from a folder of src/coppice to one below it in the list, from anywhere
but its own folder to a model, in a circle between files of src/coppice (x.hpp and x.cpp are one file here), or from
python/ and r/ to the command line. Also where the folder of a model lacks one of the files that all models have."""

import pathlib
import re
import sys

LAYERS = ["base", "data", "family", "shape", "prior", "cluster", "model", "run", "post", "out", "app"]
GENERATED = {"version.hpp", "instruction_set.hpp"}
PUBLIC = "coppice.hpp"  # of the whole library, so it may include every layer but the command line
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
MODEL_FILES = ("{}.cpp", "options.cpp", "inference.cpp", "predictor.cpp", "NOTES.md")


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
    if there[0] == "model" and len(there) > 2 and here[:2] != ("model", there[1]):
        return f"{'/'.join(here[:2])} may not know model/{there[1]}"
    return None


def circles(graph):
    """Of every set of files that reach each other one circle, as the list of its files."""
    found, settled = [], set()
    for start in sorted(graph):
        path, waiting = [start], [iter(sorted(graph[start]))]
        while waiting:
            step = next((name for name in waiting[-1] if name in graph and name not in settled), None)
            if step is None:
                settled.add(path.pop())
                waiting.pop()
            elif step in path:
                found.append([*path[path.index(step) :], step])
                settled.update(path[path.index(step) :])
            else:
                path.append(step)
                waiting.append(iter(sorted(graph[step])))
    return found


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in {".hpp", ".cpp"})


def main(top):
    root, count, faults, graph = top / "src" / "coppice", 0, [], {}
    for path in sources(root) + sources(top / "python") + sources(top / "r"):
        count += 1
        is_ours = path.is_relative_to(root)
        here = path.relative_to(root).parts[:-1] if is_ours else ()
        if is_ours and path.relative_to(root).as_posix() == PUBLIC:
            here = ("out",)
        if is_ours and (not here or here[0] not in LAYERS):
            faults.append(f"{path}: not in a layer ({', '.join(LAYERS)})")
            continue
        unit = path.relative_to(root.parent).with_suffix("").as_posix() if is_ours else None
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            if is_ours:
                graph.setdefault(unit, set()).update({match[1].rsplit(".", 1)[0]} - {unit})
                why = fault(here, root, match[1])
            else:
                package = path.relative_to(top).parts[0]
                why = f"{package} may not know app" if match[1].startswith("coppice/app/") else None
            if why:
                line = text.count("\n", 0, match.start(1)) + 1
                faults.append(f"{path}:{line}: includes {match[1]}: {why}")
    for folder in sorted(path for path in (root / "model").glob("*") if path.is_dir()):
        wanted = [folder / name.format(folder.name) for name in MODEL_FILES]
        faults += [f"{path}: every model has such a file" for path in wanted if not path.is_file()]
    faults += [f"{root}: files include each other: {' -> '.join(circle)}" for circle in circles(graph)]
    print("\n".join(faults + [f"layers: {count} files, {len(faults)} offenders"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
