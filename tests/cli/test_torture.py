"""The short form of ./dev torture: attacks on run files and inputs are noticed, and nothing crashes."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "torture"))

import torture


def test_nothing_is_unnoticed_and_nothing_crashes():
    counts = torture.run_all(1, True, lambda _count, _seconds: None)
    assert not [(count.name, words) for count in counts for words in count.faults]
    assert all(count.tried > 0 for count in counts)
