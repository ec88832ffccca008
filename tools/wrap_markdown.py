#!/usr/bin/env python3
"""Wraps the paragraphs and list items of Markdown files that are wider than 120 characters, in place. Others stay as they
are, and so do code, tables, headings and lines with a hard break.

usage: wrap_markdown.py [FILE...]   (without files: all that git tracks)
"""

import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
WIDTH = 120
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])(\s+)")
APART = re.compile(r"^\s*(```|~~~|\||#{1,6} |<|---+\s*$|\[[^\]]+\]: )")
# A line that begins so would become a list item, a heading or a quotation.
MEANS_MORE = re.compile(r"^\s*([-*+>#]|\d+[.)])(\s|$)")


def wrapped(block):
    """The block of lines with new breaks, or as it is if that would change its meaning."""
    if max(map(len, block)) <= WIDTH or any(line.endswith(("  ", "\\")) for line in block):
        return block
    item = ITEM.match(block[0])
    first = item[0] if item else re.match(r"\s*", block[0])[0]
    words = " ".join([block[0][len(first) :].strip(), *(line.strip() for line in block[1:])])
    for width in range(WIDTH, WIDTH - 40, -1):
        lines = textwrap.wrap(
            words,
            width,
            initial_indent=first,
            subsequent_indent=" " * len(first),
            break_long_words=False,
            break_on_hyphens=False,
        )
        if not any(MEANS_MORE.match(line) for line in lines[1:]):
            return lines
    return block


def wrap(text):
    out, block, fence, in_list = [], [], False, False

    def flush():
        out.extend(wrapped(block) if block else [])
        block.clear()

    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            flush()
            fence = not fence
            out.append(line)
        elif fence or not line.strip() or APART.match(line) or (line.startswith("    ") and not block and not in_list):
            flush()
            out.append(line)
            if line.strip() and not line.startswith(" "):
                in_list = False
        else:
            if ITEM.match(line):
                flush()
                in_list = True
            elif not block and not line.startswith(" "):
                in_list = False
            block.append(line)
    flush()
    return "\n".join(out)


def main(names):
    if not names:
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
        names = listed.stdout.splitlines()
    for name in names:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = wrap(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"{name}: wrapped")


if __name__ == "__main__":
    main(sys.argv[1:])
