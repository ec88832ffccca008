"""coppice report and coppice view, without a browser: files, errors, and that what a page says reproduces the run."""

import base64
import pathlib
import shlex
import subprocess

import numpy as np
import pytest
from conftest import BINARY, Coppice, blobs, write_table


def small_run(coppice, name="run.coppice", *more):
    points, labels = blobs(3, rows=24)
    write_table(coppice.folder / "points.csv", points, labels)
    coppice(
        "fit",
        "nrmm",
        "points.csv",
        "--truth",
        "truth",
        "--chains",
        2,
        "--warmup",
        20,
        "--draws",
        30,
        "--seed",
        5,
        "--standardize",
        "--set",
        "dof=7.5",
        "--alpha",
        "0.5",
        *more,
        "-q",
        "-o",
        name,
    )


def test_page_is_one_file_with_a_policy(coppice):
    small_run(coppice)
    coppice("report", "run.coppice", "-o", "page.html")
    page = (coppice.folder / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "default-src 'none'" in page
    assert page.count("<script") == 2 and "unsafe-" not in page
    assert coppice("report", "run.coppice", "-o", "-").stdout == page


def test_errors_are_one_line(coppice):
    assert "--output" in coppice("report", "none.coppice", code=2).stderr
    for command in (("report", "none.coppice", "-o", "page.html"), ("view", "none.coppice")):
        result = coppice(*command, code=66)
        assert result.stderr.count("\n") == 1 and "none.coppice" in result.stderr
    coppice.write("text.coppice", "no run")
    assert coppice("view", "text.coppice", code=65).stderr.count("\n") == 1
    small_run(coppice)
    coppice("report", "run.coppice", "-o", "no/such/folder/page.html", code=74)


def test_data_agree_with_the_other_commands(coppice):
    small_run(coppice)
    data = coppice.json("report", "run.coppice", "-o", "-")
    summary = coppice.json("summary", "run.coppice")
    assert data["head"]["verdict"] == summary["verdict"]
    groups = summary["consensus"][0]["groups"]
    nodes = data["tree"]["nodes"]
    ids = data["rows"]["ids"]
    assert sorted(ids) == sorted(sum((group["rows"] for group in groups), []))
    for group, node in zip(groups, data["levels"][0]["node_of"]):
        assert sorted(ids[nodes[node]["first"] : nodes[node]["end"]]) == sorted(group["rows"])
    # Clusters counted in the page are those of the trace.
    trace = coppice("export", "run.coppice", "--what", "trace").stdout.splitlines()
    column = trace[0].split(",").index("clusters")
    counted = np.bincount([int(float(line.split(",")[column])) for line in trace[1:]])
    assert dict(data["levels"][0]["posterior"]) == {k: int(n) for k, n in enumerate(counted) if n}
    assert sum(share for _, share in data["levels"][0]["prior"]) == pytest.approx(1, abs=1e-3)
    matrix = coppice("export", "run.coppice", "--what", "coclustering").stdout.splitlines()
    order = [matrix[0].split(",")[1:].index(name) for name in ids]
    expected = np.array([[float(cell) for cell in line.split(",")[1:]] for line in matrix[1:]])[np.ix_(order, order)]
    assert data["levels"][0]["coclustering"]["bins"] == 24
    stored = np.frombuffer(base64.b64decode(data["levels"][0]["coclustering"]["values"]), "<u2")
    assert np.abs(stored.reshape(24, 24) / 65535 - expected).max() < 1e-5


def test_what_it_says_reproduces_the_run(coppice, tmp_path):
    small_run(coppice)
    reproduce = coppice.json("report", "run.coppice", "-o", "-")["reproduce"]
    labels = coppice("export", "run.coppice", "--what", "labels").stdout
    again = Coppice(pathlib.Path(tmp_path) / "again")
    again.folder.mkdir()
    (again.folder / "points.csv").write_bytes((coppice.folder / "points.csv").read_bytes())
    command = shlex.split(reproduce["command"])
    assert command[0] == "coppice"
    again(*command[1:], "-q")
    assert again("export", "run.coppice", "--what", "labels").stdout == labels
    again.write("run.toml", reproduce["toml"])
    again.write("codebook.toml", reproduce["codebook"])
    again("fit", "--config", "run.toml", "--codebook", "codebook.toml", "--overwrite", "-q")
    assert again("export", "run.coppice", "--what", "labels").stdout == labels


def test_view_ends_when_it_is_told_to(coppice):
    small_run(coppice)
    with subprocess.Popen(
        [BINARY, "view", "run.coppice"], cwd=coppice.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        address = server.stdout.readline()
        assert address.startswith("http://127.0.0.1:")
        server.terminate()
        assert server.wait(timeout=10) == 0
