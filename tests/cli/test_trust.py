"""The verdict and what is behind it: who is with whom, fit, several answers, rows that cannot be placed."""

import csv
import io

import numpy as np
import pytest
from conftest import blobs, write_table


def write_two_modes(path):
    """Ten rows, twelve yes/no columns: six follow rows 1 to 5, six the parity of the row. Two answers that are alike in
    the number of clusters, entropy and log joint."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["id"] + [f"a{j}" for j in range(6)] + [f"b{j}" for j in range(6)]) + "\n")
        for i in range(10):
            file.write(",".join([f"r{i + 1}"] + [str(int(i < 5))] * 6 + [str(i % 2)] * 6) + "\n")


@pytest.fixture(scope="module")
def two_modes(tmp_path_factory):
    from conftest import Coppice

    coppice = Coppice(tmp_path_factory.mktemp("modes"))
    write_two_modes(coppice.folder / "t.csv")
    # With uniform probabilities of the columns and a small concentration there are two clusters, and plain split-merge
    # moves cross between the two answers rarely.
    fit = ["fit", "nrmm", "t.csv", "--id", "id", "--set", "a=1", "--set", "b=1", "--alpha", "0.0001"]
    fit += ["--sampler", "split-merge", "--warmup", 500, "--draws", 1000, "--seed", 1]
    coppice(*fit, "-o", "t.coppice", "--progress", "none")
    return coppice


def test_chains_that_disagree_on_who_is_with_whom_are_not_trusted(two_modes):
    answer = two_modes.json("diagnose", "t.coppice")
    assert answer["trusted"] is False and answer["converged"] is False
    assert answer["verdict"].startswith("Do not trust it")
    worst = max(trace["rhat"] for trace in answer["partition_traces"] if trace["rhat"] is not None)
    assert worst > 1.1
    # What was recorded before sees nothing.
    assert max(trace["rhat"] for trace in answer["traces"] if trace["rhat"] is not None) < 1.01
    kinds = {trace["kind"] for trace in answer["partition_traces"]}
    assert kinds == {"distance", "pair"}
    disagreement = answer["disagreement"]
    assert set(disagreement["unstable"]) <= {f"r{i}" for i in range(1, 11)} and disagreement["unstable"]
    assert all(len(pair["chains"]) == 4 for pair in disagreement["pairs"])
    assert "t.coppice" in " ".join(answer["remedies"])  # the advice names the file
    assert two_modes("diagnose", "t.coppice", "--strict", code=1).stdout.startswith("Do not trust it")


def test_separate_answers_are_given_with_their_weights(two_modes):
    answer = two_modes.json("summary", "t.coppice")
    (found,) = answer["modes"]
    partitions = set()
    for mode in found["modes"]:
        labels = mode["labels"]
        halves = labels == [labels[0]] * 5 + [labels[5]] * 5 and labels[0] != labels[5]
        parity = labels == [labels[0], labels[1]] * 5 and labels[0] != labels[1]
        partitions.add("halves" if halves else "parity" if parity else "other")
    assert {"halves", "parity"} <= partitions
    assert sum(mode["weight"] for mode in found["modes"]) == pytest.approx(1.0)
    text = two_modes("summary", "t.coppice").stdout
    assert "separate answers: A: " in text and "differ in whether" in text
    assert "not probabilities" in text
    ball = answer["consensus"][0]["ball"]
    assert ball["upper"]["clusters"] <= ball["lower"]["clusters"]
    assert ball["horizontal"]["distance"] <= answer["consensus"][0]["ball_radius"] + 1e-9


def test_a_good_fit_is_trusted_fits_and_is_decided(coppice):
    points, labels = blobs(3, rows=150)
    write_table(coppice.folder / "b.csv", points, labels)
    coppice("fit", "nrmm", "b.csv", "--truth", "truth", "--draws", 2000, "-o", "b.coppice", "--progress", "none")
    answer = coppice.json("summary", "b.coppice")
    assert answer["trusted"] is True and answer["converged"] is True and answer["diffuse"] is False
    assert answer["disagreement"] is None and answer["modes"] == [] and answer["remedies"] == []
    assert answer["fit"]["fits"] is True
    assert {check["name"] for check in answer["fit"]["checks"]} == {"x", "y", "number of clusters"}
    assert all(0.0 <= check["tail_probability"] <= 1.0 for check in answer["fit"]["checks"])
    assert coppice("summary", "b.coppice").stdout.startswith("Trust it: 4 chains agree")


def test_a_model_that_cannot_make_the_data_does_not_fit(coppice):
    rng = np.random.default_rng(1)
    with open(coppice.folder / "n.csv", "w", encoding="utf-8") as file:
        file.write("n\n" + "".join(f"{5 + int(rng.integers(0, 2))}\n" for _ in range(400)))
    coppice.write("book.toml", '[[column]]\nname = "n"\nkind = "count"\nfamily = "poisson"\n')
    fit = ["fit", "nrmm", "n.csv", "--codebook", "book.toml", "--warmup", 50, "--draws", 100, "--progress", "none"]
    coppice(*fit, "-o", "n.coppice")
    fit = coppice.json("summary", "n.coppice")["fit"]
    assert fit["fits"] is False and "It does not fit" in fit["sentence"]
    assert "nearer the middle" in fit["checks"][0]["pattern"]


def test_costs_and_numbers_of_clusters(coppice):
    points, labels = blobs(4, rows=90, sd=1.6)
    write_table(coppice.folder / "c.csv", points, labels)
    coppice("fit", "nrmm", "c.csv", "--truth", "truth", "--warmup", 200, "--draws", 300, "-o", "c.coppice", "-q")

    def clusters(*flags):
        return coppice.json("summary", "c.coppice", "--assign-all", *flags)["consensus"][0]["clusters"]

    plain = clusters()
    assert clusters("--cost-ratio", 8) >= plain >= clusters("--cost-ratio", 0.125)
    assert clusters("--cost-ratio", 1) == plain
    for most in (1, 2):
        assert clusters("--clusters", most) <= most
        rows = csv.DictReader(
            io.StringIO(coppice("export", "c.coppice", "--what", "consensus", "--clusters", most).stdout)
        )
        assert len({row["cluster"] for row in rows} - {"-1"}) <= most
    assert "at most 2 clusters" in coppice("summary", "c.coppice", "--clusters", 2).stdout
    scored = coppice.json("score", "c.coppice", "--truth", "truth", "--clusters", 2)
    assert scored["scores"][0]["levels"][0]["clusters"] == 2


def test_rows_that_cannot_be_placed(coppice):
    # Four rows halfway between two groups: where joining is dear they stay alone, although hardly a draw leaves them so.
    rng = np.random.default_rng(2)
    groups = [center + 0.9 * rng.normal(size=14) for center in (-2.0, 2.0)]
    rows = np.concatenate([*groups, [0.0, 0.05, -0.05, 0.1]])
    sides = ["left" if value < 0 else "right" for value in rows]
    coppice.write("u.csv", "x,side\n" + "".join(f"{x},{side}\n" for x, side in zip(rows, sides, strict=True)))
    coppice("fit", "nrmm", "u.csv", "--truth", "side", "--warmup", 300, "--draws", 500, "-o", "u.coppice", "-q")
    dear = ("--cost-ratio", 3)
    hidden = coppice.json("summary", "u.coppice", *dear)["consensus"][0]
    shown = coppice.json("summary", "u.coppice", *dear, "--assign-all")["consensus"][0]
    assert shown["unassigned"] == []
    assert shown["clusters"] == hidden["clusters"] + len(hidden["unassigned"])
    assert hidden["unassigned"], "the table is made so that some rows cannot be placed"
    assert "unassigned: no cluster takes them" in coppice("summary", "u.coppice", *dear).stdout
    text = coppice("export", "u.coppice", "--what", "consensus", *dear).stdout
    rows = {row["row"]: row for row in csv.DictReader(io.StringIO(text))}
    assert {name for name, row in rows.items() if row["cluster"] == "-1"} == set(hidden["unassigned"])
    assert all(float(rows[name]["confidence"]) < 0.5 for name in hidden["unassigned"])
    text = coppice("export", "u.coppice", "--what", "consensus", *dear, "--assign-all").stdout
    assert "-1" not in {row["cluster"] for row in csv.DictReader(io.StringIO(text))}
    sentence = f"{hidden['clusters']} clusters and {len(hidden['unassigned'])} unassigned row"
    assert sentence in coppice("summary", "u.coppice", *dear).stdout
    scored, all_scored = (
        coppice.json("score", "u.coppice", *dear, *flags)["scores"][0]["levels"][0] for flags in ((), ("--assign-all",))
    )
    assert scored["clusters"] == hidden["clusters"] and scored["unassigned"] == len(hidden["unassigned"])
    assert all_scored["clusters"] == shown["clusters"] and all_scored["unassigned"] == 0
    assert scored["ari"] == all_scored["ari"]
    for flags, lines in ((), 1), (("--assign-all",), 0):
        assert coppice("score", "u.coppice", *dear, *flags).stdout.count("\nunassigned ") == lines


def test_levels_and_views_have_traces_of_their_own(coppice):
    points, _ = blobs(5, rows=40)
    write_table(coppice.folder / "l.csv", points)
    for model, where in (("nhcm", {"level 1", "level 2"}), ("crosscat", {"columns"})):
        coppice("fit", model, "l.csv", "--warmup", 20, "--draws", 60, "-o", f"{model}.coppice", "-q")
        traces = coppice.json("diagnose", f"{model}.coppice")["partition_traces"]
        found = {trace["where"] for trace in traces}
        if model == "nhcm":
            assert found == where
        else:
            assert any(place.startswith("view of ") for place in found)


def test_greedy_trees_have_no_chains_to_compare(coppice):
    points, _ = blobs(6, rows=20)
    write_table(coppice.folder / "g.csv", points)
    coppice("fit", "bhc", "g.csv", "-o", "g.coppice", "-q")
    answer = coppice.json("summary", "g.coppice")
    assert answer["fit"] is None and answer["modes"] == [] and answer["partition_traces"] == []
    assert "--clusters" in coppice("summary", "g.coppice", "--clusters", 2, code=78).stderr
    assert "--what consensus" in coppice("export", "g.coppice", "--what", "labels", "--clusters", 2, code=2).stderr
