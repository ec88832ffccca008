#!/usr/bin/env python3
"""Fails where Markdown is wider than 120 characters or tracked text uses a word of tools/banned_words.txt.

usage: check_text.py [FILE...]   (without files: all that git tracks)
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORDS = "tools/banned_words.txt"
WIDTH = 120
TEXT = {
    ".cpp",
    ".hpp",
    ".py",
    ".pyi",
    ".md",
    ".ts",
    ".css",
    ".toml",
    ".yml",
    ".yaml",
    ".cmake",
    ".txt",
    ".in",
    ".sh",
    ".cff",
}
# Not our prose: what was written by programs, or quotes the words.
NOT_OURS = ("fuzz/corpus/", "tests/reference/", "web/package-lock.json", "LICENSE", WORDS)
# A line with one of these says that the word belongs there: a name of another program, a quotation.
ALLOWED = "words: ok"


def banned():
    rules = []
    for line in (ROOT / WORDS).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, instead = line.split(" -> ")
            rules.append((re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE), instead))
    return rules


def wide_lines(text):
    """Numbers of lines of prose that are too wide; tables, code and what cannot be broken are not prose."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif len(line) > WIDTH and not in_code and not line.startswith(("|", "    ")) and " " in line[:WIDTH].strip():
            yield number


def faults(name, rules):
    path = ROOT / name
    if (
        path.suffix not in TEXT
        and path.name not in {"dev", "README"}
        or name.startswith(NOT_OURS)
        or not path.is_file()
    ):
        return
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        for number in wide_lines(text):
            yield f"{name}:{number}: wider than {WIDTH}"
    for number, line in enumerate(text.splitlines(), 1):
        if ALLOWED in line:
            continue
        for pattern, instead in rules:
            if match := pattern.search(line):
                yield f"{name}:{number}: '{match[0]}': write {instead}"


def main(names):
    if not names:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        names = listed.stdout.splitlines()
    else:
        names = [str(pathlib.Path(name).resolve().relative_to(ROOT)) for name in names]
    rules = banned()
    found = [fault for name in names for fault in faults(name, rules)]
    print("\n".join([*found, f"text: {len(names)} files, {len(found)} offenders"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
