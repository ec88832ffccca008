"""Cluster numbers and names: the same everywhere, names kept in the run file, clusters against known labels."""

import csv
import io
import json
import sqlite3

import pytest
from conftest import blobs, write_table

SHORT = ("--chains", 2, "--warmup", 20, "--draws", 30, "-q")


def fit(coppice, model, run):
    points, labels = blobs(3, rows=30)
    write_table(coppice.folder / "points.csv", points, labels)
    coppice("fit", model, "points.csv", "--truth", "truth", *SHORT, "-o", run)
    return coppice


@pytest.fixture
def flat(coppice):
    return fit(coppice, "nrmm", "run.coppice")


@pytest.fixture
def nested(coppice):
    return fit(coppice, "nhcm", "tree.coppice")


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def called(run, name):
    """The rows of the cluster of that name."""
    rows = table(run("export", "run.coppice", "--what", "partition").stdout)
    return {row["row"] for row in rows if row["name"] == name}


def test_the_partition_is_what_export_offers_first(flat):
    help_text = flat("export", "--help").stdout
    offered = help_text.split("Contents and formats:")[1].split("\n")[1]
    assert offered.split()[0] == "partition"
    rows = table(flat("export", "run.coppice", "--what", "partition").stdout)
    assert list(rows[0]) == ["row", "cluster", "name", "confidence"]
    consensus = table(flat("export", "run.coppice", "--what", "consensus").stdout)
    assert [(row["row"], row["cluster"], row["confidence"]) for row in rows] == [
        (row["row"], row["cluster"], row["confidence"]) for row in consensus
    ]
    written = json.loads(flat("export", "run.coppice", "--what", "partition", "--to", "json").stdout)
    assert written["labels"] == [int(row["cluster"]) for row in rows]
    assert [written["names"][int(row["cluster"])] for row in rows] == [row["name"] for row in rows]


def test_numbers_and_names_are_the_same_everywhere(flat):
    rows = table(flat("export", "run.coppice", "--what", "partition").stdout)
    of_partition = {int(row["cluster"]): row["name"] for row in rows}
    groups = flat.json("summary", "run.coppice")["consensus"][0]["groups"]
    assert {group["cluster"]: group["name"] for group in groups} == of_partition
    assert {p["cluster"]: p["name"] for p in flat.json("profile", "run.coppice")["clusters"]} == of_partition
    report = flat.json("report", "run.coppice", "-o", "-")
    nodes = {node["number"]: node for node in report["tree"]["nodes"] if node["number"]}
    assert {int(number): node["name"] for number, node in nodes.items()} == of_partition
    members = {}
    for row in rows:
        members.setdefault(row["cluster"], set()).add(row["row"])
    for number, node in nodes.items():
        assert set(report["rows"]["ids"][node["first"] : node["end"]]) == members[number]


def test_joins_are_called_by_their_clusters(flat):
    points, labels = blobs(5, rows=60)
    write_table(flat.folder / "more.csv", points, labels)
    flat("fit", "nrmm", "more.csv", "--truth", "truth", *SHORT, "-o", "more.coppice")
    nodes = flat.json("report", "more.coppice", "-o", "-")["tree"]["nodes"]
    for node in nodes[1:]:
        if node["level"] == 0:
            below = sorted(int(nodes[child]["number"]) for child in node["children"] if nodes[child]["number"])
            assert node["name"].startswith("clusters ")
            assert set(map(str, below)) <= set(node["name"].removeprefix("clusters ").replace(" and", ",").split(", "))


def test_names_compare_with_all_rows(coppice):
    """Below the cluster that is high in x, the one with the lower x of the two is still high."""
    lines = ["x,y"]
    for k in range(90):
        x = [0, 40, 50][k % 3] + (k // 3) * 0.01
        lines.append(f"{x},{(k * 7 % 10) * 0.1}")
    coppice.write("x.csv", "\n".join(lines) + "\n")
    coppice("fit", "nrmm", "x.csv", *SHORT, "-o", "x.coppice")
    rows = table(coppice("export", "x.coppice", "--what", "partition").stdout)
    names = {row["cluster"]: row["name"] for row in rows}
    assert len(names) == 3
    assert names[rows[0]["cluster"]].startswith("x lower")
    for other in (1, 2):
        assert "x higher" in names[rows[other]["cluster"]], names
    assert "like the others" not in names.values()


def test_rename_is_seen_by_all_and_kept(flat):
    flat("rename", "run.coppice", 1, "Gentoo")
    names = {row["cluster"]: row["name"] for row in table(flat("export", "run.coppice", "--what", "partition").stdout)}
    assert names["1"] == "Gentoo" and "Gentoo" not in (names["0"], names["2"])
    group = flat.json("summary", "run.coppice")["consensus"][0]["groups"][1]
    assert group["name"] == "Gentoo" and group["described_as"] != "Gentoo"
    assert "Gentoo: " + group["described_as"] in flat("summary", "run.coppice").stdout
    assert "Cluster 1, Gentoo" in flat("profile", "run.coppice").stdout
    assert "1 Gentoo" in flat("score", "run.coppice").stdout
    # More draws may change the numbers, not whose name it is.
    members = called(flat, "Gentoo")
    flat("resume", "run.coppice", "--draws", "+20", "-q")
    after = called(flat, "Gentoo")
    assert len(members & after) > len(members | after) / 2
    listed = flat.json("rename", "run.coppice")["clusters"]
    assert [entry["given"] for entry in listed].count(True) == 1
    flat("rename", "run.coppice", 1, "--remove")
    assert not any(entry["given"] for entry in flat.json("rename", "run.coppice")["clusters"])


def test_names_survive_update_and_merge(flat):
    flat("rename", "run.coppice", 0, "first")
    flat("fit", "nrmm", "points.csv", "--truth", "truth", "--seed", 2, *SHORT, "-o", "second.coppice")
    flat("merge", "run.coppice", "second.coppice", "-o", "both.coppice")
    assert [entry["name"] for entry in flat.json("rename", "both.coppice")["clusters"]].count("first") == 1


def test_names_come_from_a_file(nested):
    rows = table(nested("export", "tree.coppice", "--what", "partition").stdout)
    below = next(row["cluster_2"] for row in rows if row["cluster_1"] != "0")
    nested.write("names.csv", f'level,cluster,name\n1,0,"Large, and round"\n2,{below},Small\n')
    nested("rename", "tree.coppice", "--from", "names.csv")
    rows = table(nested("export", "tree.coppice", "--what", "partition").stdout)
    assert list(rows[0]) == ["row", "cluster_1", "name_1", "confidence_1", "cluster_2", "name_2", "confidence_2"]
    assert {row["name_1"] for row in rows if row["cluster_1"] == "0"} == {"Large, and round"}
    assert {row["name_2"] for row in rows if row["cluster_2"] == below} == {"Small"}
    nodes = nested.json("report", "tree.coppice", "-o", "-")["tree"]["nodes"]
    named = {tuple(address): node["name"] for node in nodes for address in node["addresses"]}
    assert "Large, and round" in named.values()
    assert "1.0 Large, and round" in nested("tree", "tree.coppice").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((7, "x"), "there is no cluster 7"),
        (("one", "x"), "not the number of a cluster"),
        (("2.0", "x"), "level"),
        ((0,), "either a name"),
        ((0, "two\nlines"), "one line"),
        ((0, "x" * 201), "201 bytes"),
        ((1, "taken"), "would both be called 'taken'"),
    ],
)
def test_bad_names_change_nothing(flat, words, says):
    flat("rename", "run.coppice", 0, "taken")
    before = flat.json("rename", "run.coppice")
    result = flat("rename", "run.coppice", *words, code=2)
    assert says in result.stderr and result.stderr.count("\n") == 1
    assert flat.json("rename", "run.coppice") == before


def test_run_files_without_names_are_read_and_damaged_names_are_not(flat):
    with sqlite3.connect(flat.folder / "run.coppice") as database:
        assert database.execute("SELECT count(*) FROM meta WHERE key = 'names'").fetchone() == (0,)
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
    flat("rename", "run.coppice", 0, "x")
    with sqlite3.connect(flat.folder / "run.coppice") as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
        database.execute("UPDATE meta SET value = '[]' WHERE key = 'names'")
    assert "checksum" in flat("summary", "run.coppice", code=65).stderr


def test_score_has_the_cross_table(flat):
    rows = table(flat("export", "run.coppice", "--what", "partition").stdout)
    truth = [line.rsplit(",", 1)[1] for line in (flat.folder / "points.csv").read_text().splitlines()[1:]]
    level = flat.json("score", "run.coppice")["scores"][0]["levels"][0]
    counts = {}
    for row, known in zip(rows, truth):
        counts[int(row["cluster"]), known] = counts.get((int(row["cluster"]), known), 0) + 1
    crossed = level["table"]
    assert {
        (g, name): n for g, line in enumerate(crossed["counts"]) for name, n in zip(crossed["classes"], line) if n
    } == counts
    assert crossed["unknown"] == [0] * len(crossed["counts"])
    assert flat.json("report", "run.coppice", "-o", "-")["known"][0]["tables"][0] == crossed
    text = flat("score", "run.coppice").stdout
    assert "rows by cluster and truth" in text
