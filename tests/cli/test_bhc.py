"""Greedy trees from the command line: fit, answers, exports, a stop and what comes after it."""

import csv
import io
import json
import math

import numpy as np
import pytest
from conftest import blobs, write_table

HAND = "x,y\n1,1\n1,1\n0,0\n"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def hand(coppice):
    coppice.write("hand.csv", HAND)
    coppice("fit", "bhc", "hand.csv", "-o", "hand.coppice", "--set", "a=1", "--set", "b=1")
    return coppice


def test_hand_example(hand):
    summary = hand.json("summary", "hand.coppice")
    assert summary["model"] == "bhc"
    assert math.isclose(summary["lower_bound"], math.log(33 / 3456), rel_tol=1e-12)
    first, second = summary["merges"]
    assert (first["node"], first["left"], first["right"], first["size"]) == (3, 0, 1, 2)
    assert math.isclose(first["log_odds"], math.log(16 / 9), rel_tol=1e-12)
    assert (second["node"], second["left"], second["right"], second["size"]) == (4, 3, 2, 3)
    assert math.isclose(second["log_odds"], math.log(8 / 25), rel_tol=1e-12)
    assert summary["clusters"] == [2.0]
    assert summary["exact"] is False and summary["complete"] is True
    assert math.isclose(summary["expected_clusters"], 67 / 33, rel_tol=1e-12)


def test_exports_of_the_hand_example(hand):
    linkage = rows_of(hand("export", "hand.coppice", "--what", "linkage").stdout)
    heights = [float(row["height"]) for row in linkage]
    assert heights == sorted(heights)
    assert math.isclose(heights[0], -math.log(16 / 25), rel_tol=1e-12)
    assert math.isclose(float(linkage[1]["log_odds"]), math.log(8 / 25), rel_tol=1e-12)
    together = rows_of(hand("export", "hand.coppice", "--what", "coclustering").stdout)
    assert math.isclose(float(together[0]["3"]), 8 / 33, rel_tol=1e-12)
    predicted = rows_of(hand("predict", "hand.coppice", "hand.csv").stdout)
    assert math.isclose(float(predicted[0]["log_density"]), -1.0614089548221028, rel_tol=1e-9)
    newick = hand("tree", "hand.coppice", "--format", "newick").stdout
    assert newick.count("(") == 2 and newick.endswith(";\n")


def test_blobs_and_their_linkage(coppice):
    points, labels = blobs(3, rows=120)
    write_table(coppice.folder / "blobs.csv", points, labels)
    coppice("fit", "bhc", "blobs.csv", "--truth", "truth", "-o", "blobs.coppice")
    score = coppice.json("score", "blobs.coppice", "--truth", "truth")
    assert score["scores"][0]["levels"][0]["ari"] == 1.0
    coppice("export", "blobs.coppice", "--what", "linkage", "--to", "npy", "-o", "Z.npy")
    linkage = np.load(coppice.folder / "Z.npy")
    assert linkage.shape == (119, 4)
    assert (np.diff(linkage[:, 2]) >= 0).all() and (linkage[:, 2] >= 0).all()
    assert sorted(linkage[:, :2].astype(int).ravel()) == list(range(238)), "every node but the root has one parent"
    tree = coppice.json("tree", "blobs.coppice")
    assert len(tree["merges"]) == 119 and "log_odds" in tree["merges"][0]
    profile = coppice.json("profile", "blobs.coppice")
    assert len(profile["clusters"]) == 3
    coppice("fit", "bhc", "blobs.csv", "--truth", "truth", "--randomized", "-o", "random.coppice")
    assert coppice.json("score", "random.coppice", "--truth", "truth")["scores"][0]["levels"][0]["ari"] > 0.9


def test_missing_cells_are_imputed_from_the_tree(coppice):
    coppice.write("holes.csv", "kind,size,yes\na,1.5,1\na,,1\nb,9.5,0\nb,9.1,\n,1.4,1\nb,9.3,0\na,1.6,1\n")
    coppice("fit", "bhc", "holes.csv", "-o", "holes.coppice")
    cells = {(cell["row"], cell["column"]): cell for cell in coppice.json("impute", "holes.coppice")}
    assert len(cells) == 3
    assert cells["5", "kind"]["mode"] == "a"
    assert cells["4", "yes"]["mode"] == "0"
    assert 1.0 < cells["2", "size"]["mean"] < 5.0
    assert cells["2", "size"]["low"] < cells["2", "size"]["mean"] < cells["2", "size"]["high"]


def test_a_stopped_fit_keeps_its_forest_and_goes_on(coppice):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(3000, 20))
    np.savetxt(
        coppice.folder / "big.csv", points, delimiter=",", header=",".join(f"v{j}" for j in range(20)), comments=""
    )
    flags = ["--set", "within_fraction=0.5"]
    coppice("fit", "bhc", "big.csv", "-o", "stopped.coppice", *flags, "--time-limit", "0.05s", code=75)
    summary = coppice.json("summary", "stopped.coppice")
    assert summary["complete"] is False and summary["trusted"] is False and summary["trees"] > 1
    assert "not finished" in coppice("summary", "stopped.coppice").stderr
    coppice("export", "stopped.coppice", "--what", "linkage", code=78)
    labels = rows_of(coppice("export", "stopped.coppice", "--what", "labels").stdout)
    assert len(labels) == 1
    coppice("resume", "stopped.coppice")
    coppice("fit", "bhc", "big.csv", "-o", "whole.coppice", *flags)
    stopped, whole = (coppice.json("summary", name) for name in ("stopped.coppice", "whole.coppice"))
    assert stopped["merges"] == whole["merges"]
    assert stopped["lower_bound"] == whole["lower_bound"]


@pytest.mark.parametrize(
    "flags, code, words",
    [
        (["--chains", "2"], 78, "greedy"),
        (["--draws", "10"], 78, "greedy"),
        (["--subset", "5"], 78, "--randomized"),
        (["--randomized", "--subset", "30"], 78, "--threshold"),
        (["--alpha-rows", "0"], 2, "alpha-rows"),
        (["--cut", "1.5"], 2, "cut"),
    ],
)
def test_mistakes_are_told_in_one_line(coppice, flags, code, words):
    coppice.write("hand.csv", HAND)
    result = coppice("fit", "bhc", "hand.csv", "-o", "no.coppice", *flags, code=code)
    assert words in result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("coppice")]) <= 1
    assert not (coppice.folder / "no.coppice").exists()


def test_draws_cannot_be_added_and_runs_not_merged(hand):
    assert "no draws" in hand("resume", "hand.coppice", "--draws", "+5", code=78).stderr
    hand("fit", "bhc", "hand.csv", "-o", "other.coppice", "--seed", "2", "--set", "a=1", "--set", "b=1")
    assert "greedy" in hand("merge", "hand.coppice", "other.coppice", "-o", "both.coppice", code=78).stderr


def test_concentration_by_the_bound(coppice):
    points, labels = blobs(3, rows=60)
    write_table(coppice.folder / "blobs.csv", points, labels)
    result = coppice("fit", "bhc", "blobs.csv", "--truth", "truth", "--alpha-rows", "auto", "-o", "auto.coppice")
    assert "--alpha-rows" in result.stderr
    bounds = {}
    for alpha in ("0.1", "0.3", "1", "3", "10"):
        coppice("fit", "bhc", "blobs.csv", "--truth", "truth", "--alpha-rows", alpha, "-o", f"a{alpha}.coppice")
        bounds[alpha] = coppice.json("summary", f"a{alpha}.coppice")["lower_bound"]
    assert coppice.json("summary", "auto.coppice")["lower_bound"] >= max(bounds.values()) - 0.5


def test_simulated_rows_come_from_the_prior(coppice):
    coppice("simulate", "bhc", "--n", "40", "--seed", "3", "-o", "sim.csv", "--truth-out", "truth.csv")
    assert len(rows_of((coppice.folder / "sim.csv").read_text())) == 40
    assert json.loads(coppice("models", "--json").stdout)


@pytest.mark.parametrize("model", ["bhc", "nrmm"])
def test_joint_families_know_rows_with_gaps_and_draw_from_their_clusters(coppice, model):
    rng = np.random.default_rng(4)
    centers = np.array([[0.0, 0.0], [20.0, 20.0]])
    points = np.repeat(centers, 40, axis=0) + rng.normal(size=(80, 2))
    coppice.write("data.csv", "x,y\n" + "\n".join(f"{x:.4f},{y:.4f}" for x, y in points) + "\n")
    length = [] if model == "bhc" else ["--chains", 2, "--warmup", 50, "--draws", 50]
    coppice("fit", model, "data.csv", "--family", "gaussian", *length, "-o", "r.coppice", "-q")
    coppice.write("new.csv", "x,y\n0.2,\n,20.1\n")
    rows = rows_of(coppice("predict", "r.coppice", "new.csv").stdout)
    assert all(float(row["new"]) < 0.2 for row in rows), rows
    assert rows[0]["cluster"] != rows[1]["cluster"]
    drawn = rows_of(coppice("sample", "r.coppice", "--n", 400).stdout)
    values = np.array([[float(row["x"]), float(row["y"])] for row in drawn])
    distances = np.linalg.norm(values[:, None] - centers, axis=2)
    near = distances.min(axis=1) < 5
    # All but the rows of new clusters, of which there is one in 80 or so.
    assert near.mean() > 0.9
    share = (distances.argmin(axis=1)[near] == 0).mean()
    assert abs(share - 0.5) < 4.5 * 0.5 / math.sqrt(near.sum())


def test_cells_of_new_rows_are_predicted_wherever_they_stand(coppice):
    rng = np.random.default_rng(5)
    coppice.write(
        "data.csv",
        "b,x,y\n" + "\n".join(f"{i % 2},{x:.3f},{y:.3f}" for i, (x, y) in enumerate(rng.normal(size=(40, 2)))) + "\n",
    )
    coppice("fit", "nrmm", "data.csv", "--chains", 1, "--warmup", 20, "--draws", 20, "-o", "r.coppice", "-q")
    coppice.write("joined.csv", "b,x,y\n1,,0.5\n")
    assert len(rows_of(coppice("impute", "r.coppice", "joined.csv").stdout)) == 1
    coppice.write("apart.csv", "b,x,y\n,0.1,0.5\n")
    assert len(rows_of(coppice("impute", "r.coppice", "apart.csv").stdout)) == 1
