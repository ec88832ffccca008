"""What Doxygen reads of a header: the comment at its top describes the file, and a comment behind a member, an
enumerator or a function describes that one. Prints the header with those comments in Doxygen's form.

usage: doxygen_filter.py FILE
"""

import re
import sys

BEHIND = re.compile(r"^(\s+\S.*[;,{})\w])\s+// (?!NOLINT)(.*)$")


def lines_of(text):
    lines = text.splitlines()
    top = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    if top:
        yield "/// @file"
    for i, line in enumerate(lines):
        if i < top:
            yield "///" + line[2:]
        elif line.strip().startswith("///"):
            yield line
        else:
            yield BEHIND.sub(r"\1  ///< \2", line)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as source:
        print("\n".join(lines_of(source.read())))
