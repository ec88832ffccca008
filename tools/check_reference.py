"""Fails if Doxygen found a mistake, or a type, enumeration or function of a public header without a description.
Members may go without: a name such as Column::name says what it is.

usage: check_reference.py WARNINGS_OF_DOXYGEN
"""

import pathlib
import re
import sys

MEMBER = re.compile(r"Member .* of (struct|class|union) \S+ is not documented")


def main(path):
    lines = [line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    bad = [line for line in lines if not MEMBER.search(line)]
    print("\n".join([*bad, f"reference: {len(lines) - len(bad)} undocumented members, {len(bad)} offenders"]))
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
