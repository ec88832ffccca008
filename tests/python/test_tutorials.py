"""Every Python block of the README and of docs/ is run, block after block, in a folder of its own. What a page shows as output
is compared with what is printed."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import ALL, BINARY, ROOT

sys.path.insert(0, str(ROOT / "tools"))

import doc_blocks  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page):
    return list(doc_blocks.blocks(page.read_text(encoding="utf-8"), "python"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_blocks_of_the_page(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    if "import scanpy" in page.read_text(encoding="utf-8"):
        pytest.importorskip("scanpy", reason="the page needs scanpy")
    (tmp_path / "page.py").write_text("\n".join(code for code, _ in blocks(page)), encoding="utf-8")
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
    for _, shown in blocks(page):
        missing = doc_blocks.first_missing(shown or "", result.stdout)
        assert missing is None, f"{page.name} shows\n{missing}\nbut this was printed:\n{result.stdout}"


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_every_model_has_a_tutorial(cls):
    assert blocks(ROOT / "docs" / f"tutorial-{cls._model}.md")
