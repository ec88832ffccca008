"""Clusters of sub-clusters through the front door."""

import csv
import io

import numpy as np
from conftest import write_table


def two_pairs(rows=160, seed=3):
    """Two far clusters, each of two sub-clusters; labels of the clusters."""
    rng = np.random.default_rng(seed)
    centers = np.array([(-12.0, 0.0), (-12.0, 3.0), (12.0, 0.0), (12.0, 3.0)])
    part = np.arange(rows) % 4
    return centers[part] + 0.35 * rng.normal(size=(rows, 2)), part // 2


def test_both_levels_are_in_every_answer(coppice):
    points, labels = two_pairs()
    write_table(coppice.folder / "pairs.csv", points, labels)
    coppice(
        "fit",
        "nhcm",
        "pairs.csv",
        "--truth",
        "truth",
        "--set",
        "scale=0.5",
        "--learn",
        "spread",
        "--warmup",
        200,
        "--draws",
        300,
        "-o",
        "pairs.coppice",
        "-q",
    )
    summary = coppice.json("summary", "pairs.coppice")
    assert {"clusters_1", "clusters_2", "spread"} <= {trace["name"] for trace in summary["traces"]}
    scores = coppice.json("score", "pairs.coppice", "--truth", "truth")
    by_level = {entry["level"]: entry["ari"] for entry in scores["scores"][0]["levels"]}
    assert by_level[1] > 0.95 > by_level[2] > 0.3, by_level
    coppice("export", "pairs.coppice", "--what", "labels", "--to", "npy", "-o", "labels.npy")
    drawn = np.load(coppice.folder / "labels.npy")
    assert drawn.shape == (4, 300, 2, 160)
    lines = list(csv.reader(io.StringIO(coppice("export", "pairs.coppice", "--what", "labels").stdout)))[1:]
    assert lines[5][:3] == ["0", "2", "2"] and np.array_equal(drawn[0, 2, 1], np.array(lines[5][3:], dtype=int))
    tree = coppice("tree", "pairs.coppice").stdout
    assert "level" in tree and " 2 " in tree
    write_table(coppice.folder / "new.csv", np.array([(-12.0, 0.1), (12.0, 2.9), (0.0, 60.0)]))
    rows = list(csv.DictReader(io.StringIO(coppice("predict", "pairs.coppice", "new.csv").stdout)))
    assert len(rows) == 3


def test_the_published_sampler_says_that_it_is_not_exact(coppice):
    points, labels = two_pairs(40)
    write_table(coppice.folder / "pairs.csv", points, labels)
    coppice(
        "fit",
        "nhcm",
        "pairs.csv",
        "--drop",
        "truth",
        "--sampler",
        "published",
        "--warmup",
        20,
        "--draws",
        30,
        "-o",
        "p.coppice",
        "-q",
    )
    assert "Not exact" in coppice("summary", "p.coppice").stdout
    refused = coppice(
        "fit", "nhcm", "pairs.csv", "--sampler", "published", "--nesting", "nested", "-o", "q.coppice", code=78
    )
    assert "--nesting" in refused.stderr


def test_what_it_cannot_model_is_said_in_one_line(coppice):
    coppice.write("gap.csv", "x,y\n1,2\n3,\n4,5\n")
    assert "complete rows" in coppice("fit", "nhcm", "gap.csv", "-o", "r.coppice", code=78).stderr
    coppice.write("words.csv", "x,color\n1,red\n2,blue\n3,red\n")
    assert "category column 'color'" in coppice("fit", "nhcm", "words.csv", "-o", "r.coppice", code=78).stderr
    coppice.write("fine.csv", "x,y\n1,2\n3,3\n4,5\n")
    assert (
        "only with the family gaussian"
        in coppice("fit", "nhcm", "fine.csv", "--family", "gaussian-diagonal", "-o", "r.coppice", code=78).stderr
    )


def test_bananas(coppice):
    coppice("simulate", "bananas", "--n", 400, "--seed", 2, "-o", "bananas.csv", "--truth-out", "arcs.csv")
    points = np.loadtxt(coppice.folder / "bananas.csv", delimiter=",", skiprows=1)
    arcs = np.loadtxt(coppice.folder / "arcs.csv", delimiter=",", skiprows=1)
    assert points.shape == (400, 3) and arcs[:, 1].sum() == 200
    centers = np.array([[0.0, 0.0], [-3.75, -3.75]])[arcs[:, 1].astype(int)]
    distances = np.hypot(*(points[:, 1:] - centers).T)
    # Noise of 0.3 in both directions around a radius of 5.
    assert abs(distances.mean() - 5.0) < 0.05 and abs(distances.std() - 0.3) < 0.05
    assert "--radius" in coppice("simulate", "nrmm", "--radius", 2, code=2).stderr


def test_the_prior_mean_may_be_called_mean(coppice):
    points, _ = two_pairs(40)
    write_table(coppice.folder / "pairs.csv", points + 3.0)
    labels = {}
    for name, flags in {
        "default": ["--hyper", "fixed"],
        "called": ["--set", 'prior_mean="mean"'],
        "other": ["--set", "prior_mean=0"],
    }.items():
        coppice(
            "fit", "nhcm", "pairs.csv", "-o", f"{name}.coppice", "--chains", 2, "--warmup", 20, "--draws", 30, *flags
        )
        labels[name] = coppice("export", f"{name}.coppice", "--what", "labels").stdout
    assert labels["called"] == labels["default"] != labels["other"]
    refused = coppice("fit", "nhcm", "pairs.csv", "-o", "e.coppice", "--set", 'prior_mean="median"', code=78)
    assert "prior_mean" in refused.stderr
