"""What is known before a fit about the number of clusters: --expect-clusters, and its prior beside its posterior."""

import json
import sqlite3

import numpy as np
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
        counts.append(len({line.split(",")[-1] for line in lines}))
    assert abs(sum(counts) / 40 - 20) < 4 * 5 / 40**0.5


def test_summary_shows_prior_beside_posterior(coppice):
    data = write_blobs(coppice)
    coppice("fit", "nrmm", data, "--truth", "truth", *SHORT, "-o", "a.coppice", "--expect-clusters", "5,3")
    (counts,) = coppice.json("summary", "a.coppice")["cluster_counts"]
    assert counts["prior"]["mean"] == pytest.approx(5) and counts["prior"]["sd"] == pytest.approx(3)
    assert counts["prior"]["exact"] and not counts["prior_dominates"]
    assert counts["posterior"]["mean"] == pytest.approx(coppice.json("summary", "a.coppice")["clusters"][0])
    shown = coppice("summary", "a.coppice").stdout
    assert "prior          5.0     3.0       1 to 11" in shown and "The prior decides" not in shown


def test_summary_warns_where_the_prior_decides(coppice):
    rng = np.random.default_rng(1)
    lines = ["x"] + [str(bit) for bit in rng.integers(0, 2, 30)]  # one bit a row says nothing about clusters
    coppice.write("bits.csv", "\n".join(lines) + "\n")
    fit = ("fit", "nrmm", "bits.csv", "--fix-hyper", "--chains", 2, "--warmup", 100, "--draws", 1000)
    coppice(*fit, "-o", "a.coppice", "--expect-clusters", "5,3")
    shown = coppice("summary", "a.coppice").stdout
    assert len([line for line in shown.splitlines() if line.startswith("The prior decides")]) == 1
    assert coppice.json("summary", "a.coppice")["cluster_counts"][0]["prior_dominates"]
    coppice("report", "a.coppice", "-o", "a.html")
    assert "The prior decides" in (coppice.folder / "a.html").read_text(encoding="utf-8")


def test_summary_says_what_was_learned_about_each_column(coppice):
    rng = np.random.default_rng(2)
    lines = ["far,noise,kind"]
    for i in range(60):
        kind = "ab"[i % 2] if rng.random() < 0.9 else "ab"[1 - i % 2]
        lines.append(f"{1000 * (i % 2) + 20 * rng.normal():.3f},{rng.normal():.4f},{kind}")
    coppice.write("data.csv", "\n".join(lines) + "\n")
    coppice("fit", "nrmm", "data.csv", "-o", "a.coppice", *SHORT)
    columns = coppice.json("summary", "a.coppice")["column_separation"]
    assert [column["column"] for column in columns] == ["far", "kind", "noise"]
    far, kind, noise = columns
    assert far["between"] > 0.95 and 0.3 < kind["between"] < 0.95 and noise["between"] < 0.2
    assert far["overall"] > 400 and far["within"] < 150 and far["measure"] == "sd"
    assert kind["measure"] == "difference" and 0.4 < kind["overall"] < 0.6 and far["learned"]
    shown = coppice("summary", "a.coppice").stdout.split("What the model learned about each column:")[1]
    assert [line.split()[0] for line in shown.splitlines()[2:5]] == ["far", "kind", "noise"]
    coppice("report", "a.coppice", "-o", "a.html")
    assert '"separation"' in (coppice.folder / "a.html").read_text(encoding="utf-8")
