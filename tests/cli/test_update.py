"""coppice update: new rows into a finished run."""

import numpy as np
from conftest import blobs, write_table


def split_blobs(folder):
    points, labels = blobs(3, rows=120)
    order = np.random.default_rng(1).permutation(len(points))
    points, labels = points[order], labels[order]
    write_table(folder / "old.csv", points[:60], labels[:60])
    write_table(folder / "new.csv", points[60:], labels[60:])
    write_table(folder / "all.csv", points, labels)


def fit_old(coppice):
    split_blobs(coppice.folder)
    coppice("fit", "nrmm", "old.csv", "--truth", "truth", "-o", "run.coppice", "--warmup", 200, "--draws", 300)


def test_update_replaces_the_run_and_finds_the_clusters(coppice):
    fit_old(coppice)
    result = coppice("update", "run.coppice", "new.csv")
    assert "now has 120 rows" in result.stderr
    summary = coppice.json("summary", "run.coppice")
    assert summary["rows"] == 120
    assert summary["draws"] == 300
    score = coppice.json("score", "run.coppice", "--truth", "truth")
    assert score["scores"][0]["levels"][0]["ari"] > 0.95
    assert not (coppice.folder / "run.coppice.part").exists()
    # The new rows are rows like any others: answers name them.
    header = coppice("export", "run.coppice", "--what", "labels").stdout.splitlines()[0]
    assert header.split(",")[-1] == "120"
    # Another update on top of it, from stdin, without known labels.
    rows = (coppice.folder / "new.csv").read_text(encoding="utf-8")
    coppice("update", "run.coppice", "-", stdin=rows)
    assert coppice.json("summary", "run.coppice")["rows"] == 180


def test_update_tells_the_story_of_a_fresh_fit(coppice):
    fit_old(coppice)
    coppice("update", "run.coppice", "new.csv", "--truth", "truth", "-o", "updated.coppice", "--draws", 500)
    assert coppice.json("summary", "run.coppice")["rows"] == 60, "with -o the run stays as it is"
    coppice("fit", "nrmm", "all.csv", "--truth", "truth", "-o", "fresh.coppice", "--draws", 500)
    assert "The two runs agree" in coppice("compare", "fresh.coppice", "updated.coppice").stdout
    fresh, updated = (coppice.json("summary", name)["clusters"] for name in ("fresh.coppice", "updated.coppice"))
    assert abs(np.ravel(fresh)[0] - np.ravel(updated)[0]) < 0.3
    names = [coppice("export", name, "--what", "consensus").stdout for name in ("fresh.coppice", "updated.coppice")]
    assert len(names[0].splitlines()) == len(names[1].splitlines())


def test_update_refuses_what_it_cannot_do(coppice):
    fit_old(coppice)
    coppice.write("bad.csv", "x,y\n1,two\n")
    result = coppice("update", "run.coppice", "bad.csv", code=65)
    assert "bad.csv:2" in result.stderr and "two" in result.stderr
    result = coppice("update", "run.coppice", "absent.csv", code=66)
    coppice("update", "run.coppice", "new.csv", "--truth", "other", code=78)
    coppice("update", "run.coppice", "new.csv", "--time-limit", "soon", code=2)
    coppice.write("run.coppice.part", "left over")
    result = coppice("update", "run.coppice", "new.csv", code=74)
    assert "unfinished update" in result.stderr
    (coppice.folder / "run.coppice.part").unlink()
    coppice(
        "fit",
        "rbhmc",
        "old.csv",
        "--truth",
        "truth",
        "--penalty",
        0,
        "-o",
        "tree.coppice",
        "--warmup",
        10,
        "--draws",
        10,
    )
    result = coppice("update", "tree.coppice", "new.csv", code=78)
    assert "cannot add rows" in result.stderr
    assert coppice.json("summary", "run.coppice")["rows"] == 60


def test_streaming_ngg_with_everything_learned(coppice):
    fit_old(coppice)
    coppice(
        "fit",
        "nrmm",
        "old.csv",
        "--truth",
        "truth",
        "--process",
        "ngg",
        "-o",
        "ngg.coppice",
        "--warmup",
        100,
        "--draws",
        100,
    )
    coppice("update", "ngg.coppice", "new.csv", "--batch", 10)
    names = coppice("export", "ngg.coppice", "--what", "trace").stdout.splitlines()[0].split(",")
    place = names.index("alpha")
    assert (
        names[place : place + 3] == ["alpha", "sigma", "log_u"] and len(names) > place + 3
    )  # those of the learned prior
