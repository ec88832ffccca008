"""Every bash block of the README and of docs/ is run, in order, in a folder of its own. What a page shows as the output of a
block is compared with what the block prints."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_site  # noqa: E402
import doc_blocks  # noqa: E402

BINARY = pathlib.Path(os.environ.get("COPPICE_BIN", ROOT / "build" / "release" / "coppice"))
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "site")]
LINKING = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "packaging/README.md"))]


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    found = doc_blocks.blocks(page.read_text(encoding="utf-8"), "bash")
    # The two commands of the project itself install packages and run these very tests.
    return [(block, shown) for block, shown in found if "./dev " not in block]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_commands_of_the_page(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {**os.environ, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"}
    for block, shown in blocks(page):
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=tmp_path,
            env=environment,
            text=True,
            capture_output=True,
            timeout=900,
            check=False,
        )
        assert result.returncode == 0, f"{page.name}:\n{block}\n{result.stdout}\n{result.stderr}"
        if shown is not None:
            missing = doc_blocks.first_missing(shown, result.stdout)
            assert missing is None, f"{page.name} shows\n{missing}\nbut this was printed:\n{result.stdout}"


@pytest.mark.parametrize("printed", ["rows 40, 97 %, v001", "rows 41, 99 %, v001"])
def test_shown_numbers_may_differ_a_little(printed):
    assert doc_blocks.first_missing("rows 40,  97 %, v001\n", f"before\n{printed}\nafter\n") is None


@pytest.mark.parametrize(
    "printed", ["rows 50, 97 %, v001", "rows 40, 97 %, v002", "row 40, 97 %, v001", "rows 40, 97 %, v001 and more", ""]
)
def test_shown_lines_that_were_not_printed_are_found(printed):
    assert doc_blocks.first_missing("rows 40, 97 %, v001\n", printed) == "rows 40, 97 %, v001"


def test_shown_lines_come_in_order():
    assert doc_blocks.first_missing("one\ntwo\n", "two\none\n") == "two"


def anchors(page):
    """Those that GitHub and the site give to headings: letters, digits, dashes."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = (
        re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ (.*)$", text, flags=re.M)
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKING, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name} links to {target}#{anchor}, which is not a heading there"


def test_navigation_of_the_site_has_every_page():
    text = (ROOT / "docs" / "site" / "navigation.md").read_text(encoding="utf-8")
    entries = re.findall(r"^([a-z][\w/-]*)$", text, flags=re.M)
    pages = [str(page.relative_to(ROOT / "docs").with_suffix("")) for page in PAGES[1:]]
    assert sorted(set(pages) - set(entries)) == []
    assert len(entries) == len(set(entries))


GOOD_SITE = {
    "index.html": '<a href="other.html#there">x</a><img src="dot.png"><a href="https://example.org/">reader\'s choice</a>',
    "other.html": '<h1 id="there">Other</h1><link rel="stylesheet" href="style.css"><a href="#there">up</a>',
    "style.css": "body { background: url(dot.png) }",
    "dot.png": "",
}


@pytest.mark.parametrize(
    "name, text, fault",
    [
        ("other.html", '<h1 id="there">Other</h1>', None),
        ("other.html", '<h1 id="elsewhere">Other</h1>', "no such anchor"),
        ("index.html", '<a href="missing.html">x</a>', "which is not there"),
        ("index.html", '<a href="../outside.html">x</a>', "which is not there"),
        ("index.html", '<script src="https://cdn.example.org/a.js"></script>', "from a network"),
        ("index.html", '<link rel="stylesheet" href="//fonts.example.org/css">', "from a network"),
        ("index.html", "<style>@import 'https://fonts.example.org/css';</style>", "from a network"),
        ("style.css", "@font-face { src: url(https://fonts.example.org/a.woff2) }", "from a network"),
    ],
)
def test_check_of_the_site_finds_faults(tmp_path, name, text, fault):
    for file, content in {**GOOD_SITE, name: text}.items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    found = list(check_site.faults(tmp_path))
    assert (found == []) if fault is None else any(fault in line for line in found)


def test_every_family_and_model_is_documented():
    families = subprocess.run([BINARY, "families", "--json"], capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")
    for name in re.findall(r'^    "name": "([^"]+)"', families, flags=re.M):
        assert f"## {name}" in page
    models = subprocess.run([BINARY, "models", "--json"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r'^    "name": "([^"]+)"', models, flags=re.M):
        assert (ROOT / "docs" / f"{name}.md").exists()
