"""What a classifier predicts for new rows, and how it is scored."""

import csv
import io

import numpy as np
from labeled_documents import SMALL, documents, write, write_svmlight


def test_scores_of_rows_held_out_and_from_stdin(coppice):
    words, labels = documents(120, 1)
    write(coppice.folder / "train.csv", words, labels)
    write(coppice.folder / "test.csv", *documents(80, 2))
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    test = (coppice.folder / "test.csv").read_text(encoding="utf-8")
    assert coppice.json("score", "r.coppice", "-", stdin=test) == coppice.json("score", "r.coppice", "test.csv")
    held_out = coppice.json("score", "r.coppice")
    assert held_out["rows"] == 120 and held_out["labels"] == 4
    seen = coppice.json("score", "r.coppice", "train.csv")
    assert 0.7 < held_out["micro_f1"] <= seen["micro_f1"] + 0.02 and held_out["log_loss"] > seen["log_loss"]
    assert "predicted by a fit without it" in coppice("score", "r.coppice").stderr
    coppice(
        "fit",
        "bnmc",
        "train.csv",
        "--labels",
        "label_*",
        *SMALL,
        "--calibration",
        0,
        "--combine",
        "linear",
        "-o",
        "u.coppice",
        "-q",
    )
    assert "TEST.csv" in coppice("score", "u.coppice", code=2).stderr
    assert "both come from stdin" in coppice("score", "r.coppice", "-", "--labels-file", "-", stdin=test, code=2).stderr


def test_thresholds_that_look_at_each_row(coppice):
    write(coppice.folder / "train.csv", *documents(120, 16))
    write(coppice.folder / "test.csv", *documents(80, 17))

    def predicted(*flags):
        coppice(
            "fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, *flags, "-o", "r.coppice", "--overwrite", "-q"
        )
        rows = coppice.json("predict", "r.coppice", "test.csv")
        assert coppice.json("score", "r.coppice", "test.csv")["micro_f1"] > 0.5
        return [row["labels"] for row in rows], rows

    micro, rows = predicted("--threshold", "micro", "--combine", "mixture")
    best = [max(row["by_label"], key=lambda label: row["by_label"][label]["score"]) for row in rows]
    at_least_one, _ = predicted("--threshold", "at-least-one", "--combine", "mixture")
    assert at_least_one == [labels or [label] for labels, label in zip(micro, best)]
    two, rows = predicted("--threshold", "top-k", "--top", 2)
    assert all(len(labels) == 2 for labels in two)
    for row in rows:
        ranked = sorted(row["by_label"], key=lambda label: -row["by_label"][label]["score"])
        assert set(row["labels"]) == set(ranked[:2])
    expected, _ = predicted("--threshold", "top-k")
    assert {len(labels) for labels in expected} <= {1, 2, 3}
    report = coppice.json("report", "r.coppice", "-o", "-")["labels"]
    assert report["thresholds"] == [None] * 4 and "as many as are expected" in report["rule"]
    refused = coppice("fit", "bnmc", "train.csv", "--labels", "label_*", "--top", 2, "-o", "r.coppice", code=78)
    assert "--threshold top-k" in refused.stderr


def test_one_label_is_not_one_labels(coppice):
    write(coppice.folder / "train.csv", *documents(40, 18))
    note = coppice(
        "fit",
        "bnmc",
        "train.csv",
        "--labels",
        "label_0",
        "--drop",
        "label_1",
        "--drop",
        "label_2",
        "--drop",
        "label_3",
        *SMALL,
        "-o",
        "r.coppice",
    ).stderr
    assert "; 1 label;" in note


def test_known_labels_are_taken_as_given_if_asked(coppice):
    words, labels = documents(150, 19)
    write(coppice.folder / "train.csv", words, labels)
    write_svmlight(coppice.folder / "train.svm", words, labels)
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    # A row that could be of either topic: its one known label tells which.
    head = "w0,w1,w2,w3,w4,w5,label_0,label_1,label_2,label_3\n"
    coppice.write("new.csv", head + "1,0,0,1,0,0,1,,0,\n1,0,0,1,0,0,0,,1,\n1,0,0,1,0,0,,,,\n")
    coppice.write("bare.csv", "w0,w1,w2,w3,w4,w5\n" + "1,0,0,1,0,0\n" * 3)
    coppice.write("labels.csv", "label_2,label_0\n0,1\n1,0\n,\n")
    assert coppice("predict", "r.coppice", "new.csv").stdout == coppice("predict", "r.coppice", "bare.csv").stdout
    answer = coppice("predict", "r.coppice", "new.csv", "--given-labels")
    assert "4 labels of 12 in 3 rows are taken as given" in answer.stderr
    first, second, third = csv.DictReader(io.StringIO(answer.stdout))
    assert (first["p_label_0"], first["p_label_2"], second["p_label_0"], second["p_label_2"]) == ("1", "0", "0", "1")
    assert float(first["p_label_1"]) > float(third["p_label_1"]) > float(second["p_label_1"])
    assert "label_0" in first["labels"] and "label_2" in second["labels"]
    alone = list(csv.DictReader(io.StringIO(coppice("predict", "r.coppice", "bare.csv").stdout)))
    assert third == alone[2]
    apart = coppice("predict", "r.coppice", "bare.csv", "--given-labels", "--labels-file", "labels.csv")
    assert apart.stdout == answer.stdout
    rows = coppice.json("predict", "r.coppice", "new.csv", "--given-labels")
    assert [entry["known"] for entry in rows[0]["by_label"].values()] == [True, False, True, False]
    # Labels of a sparse file are those that are there; of the others nothing is known.
    coppice("fit", "bnmc", "train.svm", *SMALL, "-o", "s.coppice", "-q")
    coppice.write("new.svm", "0 1:1 4:1\n2 1:1 4:1\n")
    first, second = coppice.json("predict", "s.coppice", "new.svm", "--given-labels")
    assert first["by_label"]["0"]["probability"] == 1 and not first["by_label"]["2"]["known"]
    assert first["by_label"]["1"]["probability"] > second["by_label"]["1"]["probability"]
    assert "--labels-file" in coppice("predict", "r.coppice", "bare.csv", "--given-labels", code=78).stderr
    assert "--given-labels" in coppice("predict", "r.coppice", "bare.csv", "--labels-file", "labels.csv", code=2).stderr


def test_new_rows_need_only_the_columns_that_were_learned_from(coppice):
    words, labels = documents(80, 20)
    lines = ["name,note,w0,w1,w2,w3,w4,w5,label_0,label_1,label_2,label_3"]
    lines += [",".join(map(str, [f"r{i}", i, *row, *known])) for i, (row, known) in enumerate(zip(words, labels))]
    coppice.write("train.csv", "\n".join(lines) + "\n")
    coppice(
        "fit",
        "bnmc",
        "train.csv",
        "--id",
        "name",
        "--drop",
        "note",
        "--labels",
        "label_*",
        *SMALL,
        "-o",
        "r.coppice",
        "-q",
    )
    write(coppice.folder / "test.csv", words, labels)
    assert coppice.json("score", "r.coppice", "test.csv") == coppice.json("score", "r.coppice", "train.csv")
    refused = coppice("update", "r.coppice", "test.csv", code=78).stderr
    assert "'name'" in refused and "--id" not in refused


def test_clusters_of_new_rows_as_in_a_local_update(coppice):
    write(coppice.folder / "train.csv", *documents(120, 21))
    write(coppice.folder / "test.csv", *documents(80, 22))
    answers = []
    for how in ("predictive", "variational"):
        coppice(
            "fit",
            "bnmc",
            "train.csv",
            "--labels",
            "label_*",
            *SMALL,
            "--cluster-posterior",
            how,
            "-o",
            f"{how}.coppice",
            "-q",
        )
        assert coppice.json("score", f"{how}.coppice", "test.csv")["micro_f1"] > 0.7
        answers.append(coppice.json("predict", f"{how}.coppice", "test.csv"))
    assert answers[0] != answers[1]
    assert [row["log_density"] for row in answers[0]] == [row["log_density"] for row in answers[1]]


def test_row_names_tell_two_files_apart(coppice):
    """Names of rows decide which labels belong to which row, and are none of the labels."""
    words, labels = documents(90, 21)
    names = [f"r{i}" for i in range(90)]

    def put(path, heads, cells, order):
        with open(coppice.folder / path, "w", encoding="utf-8") as file:
            file.write(",".join(["name", *heads]) + "\n")
            file.writelines(",".join([names[i], *map(str, cells[i])]) + "\n" for i in order)

    put("words.csv", [f"w{j}" for j in range(6)], words, range(90))
    put("labels.csv", [f"label_{c}" for c in range(4)], labels, range(89, -1, -1))
    put(
        "both.csv",
        [f"w{j}" for j in range(6)] + [f"label_{c}" for c in range(4)],
        np.hstack([words, labels]),
        range(90),
    )
    coppice(
        "fit", "bnmc", "words.csv", "--id", "name", "--labels-file", "labels.csv", *SMALL, "-o", "apart.coppice", "-q"
    )
    coppice("fit", "bnmc", "both.csv", "--id", "name", "--labels", "label_*", *SMALL, "-o", "both.coppice", "-q")
    assert (
        coppice("predict", "apart.coppice", "words.csv").stdout == coppice("predict", "both.coppice", "both.csv").stdout
    )
    # The labels of a run that has them from another file may stand in the table as well.
    given = coppice.json("predict", "apart.coppice", "both.csv", "--given-labels")
    assert all(row["by_label"]["label_0"]["known"] for row in given) and given[0]["row"] == "r0"
    assert given == coppice.json(
        "predict", "apart.coppice", "words.csv", "--given-labels", "--labels-file", "labels.csv"
    )


def test_given_labels_that_nobody_learned_are_told(coppice):
    words, labels = documents(60, 22)
    write(coppice.folder / "train.csv", words, labels)
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    (coppice.folder / "labels.csv").write_text("label_0,typo\n" + "1,0\n" * 60, encoding="utf-8")
    told = coppice("predict", "r.coppice", "train.csv", "--given-labels", "--labels-file", "labels.csv").stderr
    assert "the run has no label 'typo'" in told and "60 labels of 240" in told


def test_an_absence_that_is_given_is_known(coppice):
    """Also where the fit took absent labels for unknown ones."""
    words, labels = documents(80, 23)
    write(coppice.folder / "train.csv", words, labels)
    coppice(
        "fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "--unobserved", "missing", "-o", "r.coppice", "-q"
    )
    for row, known in zip(coppice.json("predict", "r.coppice", "train.csv", "--given-labels"), labels):
        assert [row["by_label"][f"label_{c}"]["probability"] for c in range(4)] == known.tolist()


def test_labels_that_are_the_same_everywhere_have_a_likely_rate(coppice):
    """Of 80 x 4 cells none, or all: half a case is added on each side."""
    words, _ = documents(80, 24)
    for value, rate in ((0, 0.5 / 321), (1, 320.5 / 321)):
        write(coppice.folder / "train.csv", words, np.full((80, 4), value))
        told = coppice(
            "fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", f"{value}.coppice", "--progress", "none"
        ).stderr
        assert ("warning: no row is known to have any label" in told) == (value == 0)
        for row in coppice.json("predict", f"{value}.coppice", "train.csv"):
            assert all(abs(label["probability"] - rate) < 1e-9 for label in row["by_label"].values())
