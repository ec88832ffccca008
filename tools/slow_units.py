"""The units of a build that took longest to compile, by the clock, from the log of ninja. On a quiet machine with ccache
off (CCACHE_DISABLE=1) and as many jobs as cores these are nearly seconds of a processor.

usage: slow_units.py BUILD_FOLDER [COUNT]
"""

import pathlib
import sys


def seconds_of_units(log):
    """Object -> seconds of its last compilation."""
    rows = (line.split("\t") for line in log.splitlines() if not line.startswith("#"))
    return {row[3]: (int(row[1]) - int(row[0])) / 1000 for row in rows if row[3].endswith((".o", ".gch"))}


def main(build, count=10):
    seconds = seconds_of_units((pathlib.Path(build) / ".ninja_log").read_text(encoding="utf-8"))
    for name in sorted(seconds, key=seconds.get, reverse=True)[: int(count)]:
        print(f"{seconds[name]:7.1f}  {name.replace('CMakeFiles/', '').replace('.dir', '')}")
    print(f"{sum(seconds.values()):7.1f}  all {len(seconds)} units")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
