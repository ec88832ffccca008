"""What is known before a fit about the number of clusters: --expect-clusters, and its prior beside its posterior."""

import json
import sqlite3

import pytest
from conftest import blobs

SHORT = ("--chains", 2, "--warmup", 30, "--draws", 60, "--seed", 3)


def write_blobs(coppice, rows=50):
    X, truth = blobs(1, rows=rows)
    lines = ["x,y,truth"] + [f"{a},{b},{t}" for (a, b), t in zip(X, truth)]
    coppice.write("data.csv", "\n".join(lines) + "\n")
    return "data.csv"


def effective(path):
    with sqlite3.connect(path) as database:
        (value,) = database.execute("SELECT value FROM meta WHERE key = 'effective'").fetchone()
    return json.loads(value)["parameters"]


def test_expected_clusters_give_the_prior_of_the_concentration(coppice):
    data = write_blobs(coppice)
    fit = ["fit", "nrmm", data, "--truth", "truth", *SHORT]
    said = coppice(*fit, "-o", "a.coppice", "--expect-clusters", "5,3.16227766017").stderr
    assert "alpha ~ Gamma(1.408, 1.077), under which 50 rows have 5 clusters on average, sd 3.16" in said
    made = effective(coppice.folder / "a.coppice")
    assert made["expect-clusters"] == [5, 3.16227766017]
    assert made["alpha-prior"] == pytest.approx([1.408, 1.077], abs=0.001)
    # Draws are those of that prior, however it was given.
    coppice(*fit, "-o", "b.coppice", "--alpha-prior", ",".join(map(repr, made["alpha-prior"])))
    labels = [coppice("export", f"{name}.coppice", "--what", "labels", "--to", "csv").stdout for name in "ab"]
    assert labels[0] == labels[1]
    # Without a standard deviation the prior is exponential.
    coppice(*fit, "-o", "c.coppice", "--expect-clusters", 5)
    assert effective(coppice.folder / "c.coppice")["alpha-prior"][0] == 1


def test_expected_clusters_from_a_configuration_are_kept_and_can_be_typed_again(coppice):
    data = write_blobs(coppice)
    coppice.write(
        "run.toml",
        f'model = "nrmm"\ndata = "{data}"\noutput = "a.coppice"\ntruth = ["truth"]\nchains = 2\nwarmup = 30\n'
        "draws = 60\nseed = 3\nexpect-clusters = [4, 2]\n",
    )
    coppice("fit", "--config", "run.toml")
    coppice("resume", "a.coppice", "--draws", "+10")
    coppice("report", "a.coppice", "-o", "a.html")
    page = (coppice.folder / "a.html").read_text(encoding="utf-8")
    assert "--expect-clusters 4,2" in page and "--alpha-prior" not in page.split("--expect-clusters 4,2")[1][:200]


@pytest.mark.parametrize(
    ("model", "settings", "concentration"),
    [("nhcm", ("--nesting", "nested"), "alpha-clusters"), ("crosscat", ("--learn", "alpha-columns"), "alpha-rows")],
)
def test_expected_clusters_of_models_that_learn_what_they_are_told(coppice, model, settings, concentration):
    data = write_blobs(coppice)
    coppice("fit", model, data, "--truth", "truth", *SHORT, "-o", "a.coppice", "--expect-clusters", "4", *settings)
    made = effective(coppice.folder / "a.coppice")
    assert concentration in made["learn"].split(",")
    assert made[f"{concentration}-prior"] == pytest.approx([1, 1.0675], abs=0.001)
    assert coppice.json("summary", "a.coppice")["model"] == model


def test_simulated_clusters_follow_what_is_expected(coppice):
    counts = []
    for seed in range(40):
        settings = ("--n", 100, "--seed", seed, "-o", "sim.csv", "--truth-out", "t.csv")
        coppice("simulate", "nrmm", "--expect-clusters", "20,5", *settings)
        lines = (coppice.folder / "t.csv").read_text().split()[1:]
        counts.append(len(set(line.split(",")[-1] for line in lines)))
    assert abs(sum(counts) / 40 - 20) < 4 * 5 / 40**0.5
