"""What users see of a hierarchy: one nested tree behind every answer, and a label on what is not exact."""

import io
import json
import re
import subprocess

import numpy as np
import pytest
from conftest import BINARY, Coppice

SHORT = ("--chains", 2, "--warmup", 60, "--draws", 80)


def nested_blobs(path, rows=40):
    """Two far groups of two near ones each."""
    rng = np.random.default_rng(3)
    centers = {"a": (-8, -2), "b": (-8, 2), "c": (8, -2), "d": (8, 2)}
    with open(path, "w", encoding="utf-8") as file:
        file.write("id,x,y,side,blob\n")
        for i in range(rows):
            blob = "abcd"[i % 4]
            x, y = np.array(centers[blob]) + 0.4 * rng.normal(size=2)
            file.write(f"{blob}{i // 4},{x:.6f},{y:.6f},{'left' if blob in 'ab' else 'right'},{blob}\n")


def fit_tree(coppice, *flags, chains=1, warmup=10, draws=10, output="t.coppice"):
    table = ("data.csv", "--id", "id", "--truth", "side", "--truth", "blob")
    length = ("--chains", chains, "--warmup", warmup, "--draws", draws)
    return coppice("fit", "rbhmc", *table, *flags, *length, "--overwrite", "-o", output)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A run that is only read."""
    coppice = Coppice(tmp_path_factory.mktemp("tree"))
    nested_blobs(coppice.folder / "data.csv")
    fit_tree(coppice, "--levels", 3, "--gamma", 0.1, chains=2, warmup=60, draws=80)
    return coppice


def draws_of(coppice, run):
    """draws x levels x rows."""
    text = coppice("export", run, "--what", "labels").stdout
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, dtype=int)
    return table[:, 3:].reshape(-1, table[:, 2].max(), table.shape[1] - 3)


def test_tree_json_is_a_tree_whose_support_can_be_counted(tree):
    draws = draws_of(tree, "t.coppice")
    names = tree("export", "t.coppice", "--what", "labels").stdout.splitlines()[0].split(",")[3:]
    for flags in ([], ["--full"], ["--select", "binder"], ["--select", "rcdll"], ["--select", "rcdll_c", "--full"]):
        answer = tree.json("tree", "t.coppice", *flags)
        assert answer["exact"] is True and answer["levels"] == 3
        nodes = {node["id"]: node for node in answer["nodes"]}
        children = {}
        for node in answer["nodes"]:
            children.setdefault(node["parent"], []).append(node)
        assert len(children[None]) == 1 and children[None][0]["size"] == 40
        for node in answer["nodes"]:
            below = children.get(node["id"], [])
            assert node["size"] == len(node["rows"]) and node["name"]
            if "--full" not in flags:
                assert len(below) != 1
            if below:
                assert sorted(sum((child["rows"] for child in below), [])) == sorted(node["rows"])
            if node["parent"] is None:
                continue
            assert nodes[node["parent"]]["level"] < node["level"] <= node["last_level"] <= 3
            rows = np.isin(names, node["rows"])
            labels = draws[:, node["level"] - 1, :]
            first = labels[:, np.argmax(rows)]
            exact = ((labels == first[:, None]) == rows).all(1).mean()
            assert abs(node["support"] - exact) < 1e-9
            assert node["support"] <= node["support_any_level"] + 1e-12 and node["overlap"] >= node["support"] - 1e-12
            assert set(node["centroid"]) == {"x", "y"}


def test_tree_text_fits_and_names_every_leaf(tree):
    text = tree("tree", "t.coppice").stdout
    assert text.startswith("Reported hierarchy (least expected variation of information")
    drawn = text[text.index("all rows") :].split("\n\n")[0].splitlines()
    assert re.search(r"0\S* +40$", drawn[0])
    assert all(len(line) <= 100 for line in drawn)
    shown = tree.json("tree", "t.coppice")["nodes"]
    parents = {node["parent"] for node in shown}
    leaves = [node for node in shown if node["id"] not in parents]
    assert len(drawn) == len(shown) + len(leaves)
    for leaf in leaves:
        assert any(leaf["rows"][0] in line for line in drawn)
    narrow = tree("tree", "t.coppice", "--width", 60, "--lines", 8).stdout
    assert "all rows" in narrow and len(narrow[narrow.index("all rows") :].split("\n\n")[0].splitlines()) <= 8
    assert "the same rows" in tree("tree", "t.coppice", "--full").stdout or len(leaves) > 1
    assert tree("tree", "t.coppice", "--level", 2).stdout.startswith("Height")


def test_tree_in_other_formats(tree):
    newick = tree("tree", "t.coppice", "--format", "newick").stdout
    assert newick.startswith("(") and newick.endswith(";\n") and newick.count("(") == newick.count(")")
    assert sorted(re.findall(r"[a-d]\d+", newick)) == sorted(f"{b}{i}" for b in "abcd" for i in range(10))
    assert tree("tree", "t.coppice", "--format", "dot").stdout.startswith("digraph")
    linkage = tree("tree", "t.coppice", "--format", "linkage").stdout
    assert linkage == tree("export", "t.coppice", "--what", "linkage").stdout
    # The height of two rows alone is how rarely they meet, averaged over the levels.
    draws = draws_of(tree, "t.coppice")
    heights = np.loadtxt(io.StringIO(linkage), delimiter=",", skiprows=1)
    left, right = heights[0, :2].astype(int)
    assert abs(heights[0, 2] - (draws[:, :, left] != draws[:, :, right]).mean()) < 1e-6


def test_every_answer_comes_from_one_nested_tree(tree):
    table = tree("export", "t.coppice", "--what", "consensus").stdout.splitlines()
    assert table[0] == "row,cluster_1,confidence_1,cluster_2,confidence_2,cluster_3,confidence_3"
    labels = np.array([line.split(",")[1::2] for line in table[1:]], dtype=int)
    for level in (1, 2):
        for cluster in range(labels[:, level].max() + 1):
            assert len(set(labels[labels[:, level] == cluster, level - 1])) == 1
    summary = tree.json("summary", "t.coppice")
    for key in ("model", "rows", "columns", "chains", "draws", "verdict", "clusters"):
        assert key in summary
    draws = draws_of(tree, "t.coppice")
    assert np.allclose(summary["clusters"], (draws.max(2) + 1).mean(0))
    assert [entry["clusters"] for entry in summary["consensus"]] == [int(x) for x in labels.max(0) + 1]
    assert summary["hierarchy"]["nodes"] == tree.json("tree", "t.coppice")["nodes"]
    assert len(summary["pairwise_uncertainty"]) == 3
    for level in (1, 2, 3):
        profile = tree.json("profile", "t.coppice", "--level", level)
        assert [c["size"] for c in profile["clusters"]] == list(np.bincount(labels[:, level - 1]))
        matrix = tree("export", "t.coppice", "--what", "coclustering", "--level", level).stdout.splitlines()[1:]
        matrix = np.array([line.split(",")[1:] for line in matrix], dtype=float)
        at_level = draws[:, level - 1, :]
        assert np.allclose(matrix, (at_level[:, :, None] == at_level[:, None, :]).mean(0))
    assert "--level 4: the model rbhmc has levels 1 to 3" in tree("profile", "t.coppice", "--level", 4, code=2).stderr
    text = tree("summary", "t.coppice").stdout
    assert "Reported hierarchy" in text and "AOD" in text and "Not exact" not in text


def test_scores_and_distances(tree):
    answer = tree.json("score", "t.coppice")
    assert [entry["truth"] for entry in answer["scores"]] == ["side", "blob"]
    assert [level["level"] for level in answer["scores"][0]["levels"]] == [1, 2, 3]
    labels = np.array(
        [line.split(",")[1::2] for line in tree("export", "t.coppice", "--what", "consensus").stdout.splitlines()[1:]],
        dtype=int,
    )
    truth = np.arange(40) % 4
    for entry in answer["scores"][1]["levels"]:
        found = labels[:, entry["level"] - 1]
        best = 0.0
        for blob in range(4):
            mine = truth == blob
            best += mine.mean() * max(
                2 * (mine & (found == k)).sum() / (mine.sum() + (found == k).sum()) for k in set(found)
            )
        assert abs(entry["f_measure"] - best) < 1e-9
    points = np.loadtxt(tree.folder / "data.csv", delimiter=",", skiprows=1, usecols=(1, 2))
    inner = []
    for level in range(3):
        for cluster in set(labels[:, level]):
            inside = points[labels[:, level] == cluster]
            pairs = ((inside[:, None] - inside[None]) ** 2).sum(2)[np.triu_indices(len(inside), 1)]
            inner.append(pairs.mean() if len(pairs) else 0.0)
    quality = answer["quality"]
    assert abs(quality["selected"]["aid"] - np.mean(inner)) < 1e-6 * np.mean(inner)
    assert quality["draws"]["draws"] == 160 and 0 <= quality["draws"]["single_path_share"] <= 1
    text = tree("score", "t.coppice").stdout
    assert "against side" in text and "AID" in text


def test_tables_keep_their_columns_apart_when_numbers_are_large(coppice):
    nested_blobs(coppice.folder / "data.csv")
    lines = (coppice.folder / "data.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines[1:]]
    text = [",".join([row[0], f"{1e7 * float(row[1]):.0f}", f"{1e7 * float(row[2]):.0f}", row[4]]) for row in rows]
    coppice.write("large.csv", "\n".join(["id,x,y,blob", *text]) + "\n")
    coppice("fit", "nhcm", "large.csv", "--id", "id", "--truth", "blob", "-o", "t.coppice", *SHORT)
    scores = coppice("score", "t.coppice").stdout
    assert len(re.findall(r"^this hierarchy(?:  +[0-9.e+]+){6}$", scores, flags=re.M)) == 1
    assert len(re.findall(r"^mean of draws(?:  +[0-9.e+]+){6}$", scores, flags=re.M)) == 1
    blocks = coppice("diagnose", "t.coppice").stdout.split("\n\n")
    tables = [block for block in blocks if block.startswith(("trace ", "move "))]
    assert len(tables) == 2
    for block in tables:
        assert len({len(line) for line in block.strip("\n").splitlines()}) == 1


def test_rows_that_are_certain_are_not_called_ambiguous(coppice):
    nested_blobs(coppice.folder / "data.csv")
    coppice("fit", "nhcm", "data.csv", "--id", "id", "--truth", "side", "--truth", "blob", "-o", "t.coppice", *SHORT)
    for level in (1, 2):
        text = coppice("profile", "t.coppice", "--level", level).stdout
        ambiguous = [
            row
            for row in coppice.json("profile", "t.coppice", "--level", level)["ambiguous"]
            if row["rival_probability"] >= 0.01
        ]
        assert len(re.findall(r"^  .*: cluster \d+ \(\d+ %\), ", text, flags=re.M)) == len(ambiguous)
        assert ("Rows that could belong elsewhere" in text) == bool(ambiguous)
        assert ", on its own (0 %)" not in text


def test_predictions_are_paths(tree):
    header, *lines = tree("predict", "t.coppice", "data.csv").stdout.splitlines()
    assert header == ",".join(
        ["row"]
        + [f"{name}_{level}" for level in (1, 2, 3) for name in ("cluster", "probability", "new")]
        + ["log_density"]
    )
    labels = [
        line.split(",")[1::2] for line in tree("export", "t.coppice", "--what", "consensus").stdout.splitlines()[1:]
    ]
    paths = {tuple(path) for path in labels}
    known = {path[:depth] for path in paths for depth in (1, 2, 3)}
    placed = 0
    for line, own in zip(lines, labels):
        clusters = tuple(line.split(",")[1:10:3])
        existing = tuple(c for c in clusters if c != "-1")
        assert clusters[len(existing) :] == ("-1",) * (3 - len(existing)) and (not existing or existing in known)
        placed += clusters[0] == own[0]
    assert placed > 30
    answer = tree.json("predict", "t.coppice", "data.csv")[0]
    for level in answer["path"]:
        assert abs(sum(level["probabilities"]) + level["new"] - 1) < 1e-9


@pytest.mark.parametrize("regularizer", ["own", "paper"])
def test_what_is_not_exact_says_so_everywhere(coppice, regularizer):
    nested_blobs(coppice.folder / "data.csv", 12)
    fit = fit_tree(coppice, "--penalty", 0.5, "--regularizer", regularizer, chains=2)
    assert "Not exact" in fit.stderr
    for command in ("summary", "diagnose", "tree", "score", "profile"):
        assert "Not exact" in coppice(command, "t.coppice").stdout
        answer = coppice.json(command, "t.coppice")
        assert answer["exact"] is False and "Not exact" in answer["inexactness_note"]
    for command in ("summary", "diagnose"):
        lines = coppice(command, "t.coppice").stdout.splitlines()
        assert lines[0].startswith("Not exact") and lines[1].startswith("Do not trust")
    for command in (
        ["tree", "t.coppice", "--format", "newick"],
        ["tree", "t.coppice", "--format", "linkage"],
        ["predict", "t.coppice", "data.csv"],
        ["impute", "t.coppice"],
        ["export", "t.coppice", "--what", "labels"],
    ):
        assert "Not exact" in coppice(*command).stderr


def test_exact_settings_carry_no_caveat(coppice):
    nested_blobs(coppice.folder / "data.csv", 12)
    for flags in (
        ["--penalty", 0.5],
        ["--penalty", 0.5, "--regularizer", "centered"],
        ["--penalty", 0, "--regularizer", "own"],
        ["--penalty", "auto"],
    ):
        fit = fit_tree(coppice, *flags, chains=2)
        assert "Not exact" not in fit.stderr
        assert coppice.json("summary", "t.coppice")["exact"] is True


def test_rewards_of_splits_have_powers_by_level(coppice):
    nested_blobs(coppice.folder / "data.csv", 12)
    base = ["fit", "rbhmc", "data.csv", "--id", "id", "--truth", "blob", "--truth", "side", "--levels", 2]
    base += ["--penalty", 1, "--chains", 1, "--warmup", 10, "--draws", 10]
    shown = {}
    for name, flags in (
        ("halved", ["--regularizer", "evidence"]),
        ("given", ["--regularizer", "evidence", "--level-powers", "1,0.5"]),
        ("equal", ["--regularizer", "evidence", "--level-powers", "1"]),
        ("gates", ["--regularizer", "infomax", "--level-powers", "1,0.5"]),
    ):
        fit = coppice(*base, *flags, "-o", f"{name}.coppice")
        assert "Not exact" not in fit.stderr
        shown[name] = coppice("export", f"{name}.coppice", "--what", "trace").stdout
    assert shown["halved"] == shown["given"] != shown["equal"]
    assert "log_bayes_factors" in shown["halved"] and "log_gates" in shown["gates"]
    for flags, complaint in (
        (["--level-powers", "1,0.5"], "--level-powers needs --regularizer infomax or evidence"),
        (["--regularizer", "evidence", "--level-powers", "1,1,1"], "--level-powers has 3 numbers for 2 levels"),
        (
            ["--regularizer", "evidence", "--margin", 2],
            "--margin does not apply to --regularizer evidence, which has no discriminants",
        ),
    ):
        assert complaint in coppice(*base, *flags, "-o", "x.coppice", code=78).stderr


def test_the_published_procedure_is_labeled_even_without_a_penalty(coppice):
    nested_blobs(coppice.folder / "data.csv", 12)
    fit = fit_tree(coppice, "--regularizer", "paper", "--penalty", 0)
    assert "Not exact" in fit.stderr


def test_settings_that_do_nothing_without_a_penalty_are_named(coppice):
    nested_blobs(coppice.folder / "data.csv", 12)

    def note(*flags):
        fit = fit_tree(coppice, *flags, warmup=5, draws=5)
        return re.findall("does not depend on (.*)", fit.stderr)

    assert note("--penalty", 0) == []
    assert note("--penalty", 0, "--margin", 2, "--intercept") == ["--margin, --intercept"]
    assert note("--penalty", 0, "--discriminant-sd", 2, "--regularizer", "own") == ["--regularizer, --discriminant-sd"]
    assert note("--penalty", 0, "--margin", 2, "--regularizer", "paper") == ["--margin"]
    assert note("--penalty", 0.1, "--margin", 2) == []


def test_a_flag_may_stand_alone(coppice):
    nested_blobs(coppice.folder / "data.csv", 12)
    for flags, learned in (["--learn-concentrations"], True), (["--learn-concentrations", "false"], False), ([], False):
        fit_tree(coppice, "--penalty", 0, *flags, warmup=5, draws=5)
        trace = coppice("export", "t.coppice", "--what", "trace").stdout.splitlines()
        column = trace[0].split(",").index("alpha")
        assert (len({line.split(",")[column] for line in trace[1:]}) > 1) == learned


def test_the_penalty_is_chosen_and_told(coppice):
    nested_blobs(coppice.folder / "data.csv", 40)
    flags = ["--id", "id", "--truth", "blob", "--truth", "side", "--chains", 1, "--warmup", 10, "--draws", 10]
    labels = []
    for name, threads in (("one", 1), ("two", 2)):
        fit = coppice("fit", "rbhmc", "data.csv", *flags, "--threads", threads, "-o", f"{name}.coppice")
        assert "choosing --penalty from the data" in fit.stderr and "penalty auto: " in fit.stderr
        labels.append(coppice("export", f"{name}.coppice", "--what", "labels").stdout)
    assert labels[0] == labels[1]
    refused = coppice("fit", "rbhmc", "data.csv", *flags, "--regularizer", "own", "-o", "x.coppice", code=78)
    assert (
        refused.stderr
        == "coppice: --penalty auto chooses among exact regularizers: give --regularizer own a --penalty\n"
    )
    # What cannot be written is said before the search, not after it.
    again = coppice("fit", "rbhmc", "data.csv", *flags, "-o", "one.coppice", code=74)
    assert "the file exists" in again.stderr and "choosing" not in again.stderr


def test_one_level_is_flat_and_still_labeled(coppice):
    nested_blobs(coppice.folder / "data.csv", 12)
    fit_tree(coppice, "--levels", 1, "--penalty", 0.5, "--regularizer", "own", chains=2, draws=20)
    summary = coppice.json("summary", "t.coppice")
    assert summary["exact"] is False and len(summary["clusters"]) == 1 and summary["clusters"][0] >= 1
    assert "Nine draws in ten" in coppice("summary", "t.coppice").stdout
    assert "merges" in coppice.json("tree", "t.coppice")
    assert coppice.json("summary", "t.coppice", "--select", "rcdll")["consensus"][0]["clusters"] >= 1


def test_runs_of_unequal_length_are_merged_and_compared(coppice):
    nested_blobs(coppice.folder / "data.csv", 16)
    for seed, draws in ((1, 30), (2, 45)):
        fit_tree(coppice, "--seed", seed, output=f"{seed}.coppice", warmup=20, draws=draws)
    coppice("merge", "1.coppice", "2.coppice", "-o", "both.coppice")
    assert coppice.json("summary", "both.coppice")["chains"] == 2
    assert len(coppice("predict", "both.coppice", "data.csv").stdout.splitlines()) == 17
    # Whether chains this short mix is another question: the exit code may be 0 or 1.
    compared = subprocess.run(
        [BINARY, "compare", "1.coppice", "1.coppice", "--json"],
        cwd=coppice.folder,
        check=False,
        capture_output=True,
        text=True,
    )
    answer = json.loads(compared.stdout)
    assert [level["vi"] for level in answer["levels"]] == [0, 0, 0] and answer["exact"] is True


def test_flat_models_select_partitions_as_before(coppice):
    nested_blobs(coppice.folder / "data.csv")
    coppice("fit", "nrmm", "data.csv", "--id", "id", "--truth", "blob", "--truth", "side", "-o", "f.coppice", *SHORT)
    assert (
        coppice("summary", "f.coppice", "--select", "binder").stdout
        == coppice("summary", "f.coppice", "--loss", "binder").stdout
    )
    assert "has no trace 'rcdll'" in coppice("summary", "f.coppice", "--select", "rcdll", code=78).stderr
    coppice("summary", "f.coppice", "--select", "vi", "--loss", "binder", code=2)
    assert "exact" not in coppice.json("summary", "f.coppice")
    assert set(json.loads(coppice("tree", "f.coppice", "--format", "json").stdout)) == {"leaves", "merges", "order"}
