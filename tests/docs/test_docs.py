"""Every bash block of the README and of docs/ is run, in order, in a folder of its own."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("COPPICE_BIN", ROOT / "build" / "release" / "coppice"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page):
    found = re.findall(r"^```bash\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    # The two commands of the project itself install packages and run these very tests.
    return [block for block in found if "./dev " not in block]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_commands_of_the_page(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {**os.environ, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"}
    for block in blocks(page):
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_family_and_model_is_documented():
    families = subprocess.run([BINARY, "families", "--json"], capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")
    for name in re.findall(r'^    "name": "([^"]+)"', families, flags=re.M):
        assert f"## {name}" in page
    models = subprocess.run([BINARY, "models", "--json"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r'^    "name": "([^"]+)"', models, flags=re.M):
        assert (ROOT / "docs" / f"{name}.md").exists()
