"""Every Python block of the README and of docs/ is run, block after block, in a folder of its own."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ALL, BINARY, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_blocks_of_the_page(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    if "import scanpy" in page.read_text(encoding="utf-8"):
        pytest.importorskip("scanpy", reason="the page needs scanpy")
    (tmp_path / "page.py").write_text("\n".join(blocks(page)), encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "agg", "PATH": f"{os.path.dirname(BINARY)}:{os.environ['PATH']}"}
    result = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_every_model_has_a_tutorial(cls):
    assert blocks(ROOT / "docs" / f"tutorial-{cls._model}.md")
