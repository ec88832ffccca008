"""VERSION is the one place of the version; what must repeat it agrees, and the rest reads it."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("COPPICE_BIN", ROOT / "build" / "release" / "coppice"))
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()


def test_version_has_the_form_of_a_release():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def test_program_citation_and_r_package_agree():
    said = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["coppice", VERSION]
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nVersion: {VERSION}\n" in (ROOT / "r" / "coppice" / "DESCRIPTION").read_text(encoding="utf-8")


def test_changelog_speaks_of_it():
    headings = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)
    assert headings[0] == "Unreleased"
    # Before the release the changes stand under Unreleased, after it under the version.
    assert len(headings) == 1 or headings[1] == VERSION


READERS = ["CMakeLists.txt", "pyproject.toml", "web/package.json", "tools/coppice.pc.in", "tools/version.hpp.in"]


def test_no_other_file_repeats_it():
    """Those that read VERSION: CMake, the wheel, the package files."""
    packaging = [path for path in (ROOT / "packaging").rglob("*") if path.is_file()]
    assert packaging
    for path in [*(ROOT / name for name in READERS), *packaging]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(rf'(?i)\bversion"?\s*[:= ]\s*"?{re.escape(VERSION)}\b', text), path.name
        assert f"coppice ({VERSION}" not in text and f"coppice-{VERSION}" not in text, path.name
