"""A classifier of several labels through the front door: fits, updates and what they refuse."""

import csv
import io
import shlex

import numpy as np
from labeled_documents import SMALL, documents, write, write_svmlight


def test_fit_predict_score_profile(coppice):
    write(coppice.folder / "train.csv", *documents(120, 1), gap=(3, 1))
    write(coppice.folder / "test.csv", *documents(80, 2))
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    scores = coppice.json("score", "r.coppice", "test.csv")
    assert scores["labels"] == 4 and scores["rows"] == 80
    assert scores["micro_f1"] > 0.8 and scores["log_loss"] < 0.5 and scores["ranking_loss"] < 0.2
    rows = list(csv.DictReader(io.StringIO(coppice("predict", "r.coppice", "test.csv").stdout)))
    assert len(rows) == 80 and {"labels", "p_label_0", "score_label_3", "log_density"} <= rows[0].keys()
    assert len(coppice.json("profile", "r.coppice")["clusters"]) >= 2
    assert "label_0" in coppice("profile", "r.coppice").stdout
    summary = coppice.json("summary", "r.coppice")
    assert summary["model"] == "bnmc" and summary["labels"] == 4 and summary["exact"] is False
    for question in (["impute"], ["tree"], ["export", "--what", "coclustering"]):
        answer = coppice(question[0], "r.coppice", *question[1:], code=78).stderr
        assert "classifier" in answer and len(answer.splitlines()) == 1
    assert "classifier" in coppice("compare", "r.coppice", "r.coppice", code=78).stderr


def test_sparse_files_and_label_files_say_the_same(coppice):
    words, labels = documents(90, 3)
    write(coppice.folder / "dense.csv", words, labels)
    write_svmlight(coppice.folder / "sparse.svm", words, labels)
    with open(coppice.folder / "words.csv", "w", encoding="utf-8") as file:
        file.write("w0,w1,w2,w3,w4,w5\n" + "".join(",".join(map(str, row)) + "\n" for row in words))
    with open(coppice.folder / "labels.csv", "w", encoding="utf-8") as file:
        file.write("a,b,c,d\n" + "".join(",".join(map(str, row)) + "\n" for row in labels))
    coppice("fit", "bnmc", "dense.csv", "--labels", "label_0,label_1,label_2,label_3", *SMALL, "-o", "d.coppice", "-q")
    coppice("fit", "bnmc", "sparse.svm", *SMALL, "-o", "s.coppice", "-q")
    coppice("fit", "bnmc", "words.csv", "--labels-file", "labels.csv", *SMALL, "-o", "f.coppice", "-q")
    dense = coppice.json("score", "d.coppice", "dense.csv")
    assert coppice.json("score", "s.coppice", "sparse.svm") == dense
    assert coppice.json("score", "f.coppice", "words.csv", "--labels-file", "labels.csv") == dense


def test_rare_words_may_come_more_often(coppice):
    words, labels = documents(80, 9)
    words[:, 5] = np.minimum(words[:, 5], 1)
    write(coppice.folder / "train.csv", words, labels)
    words[0, 5] = 4
    write(coppice.folder / "test.csv", words, labels)
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    assert coppice.json("score", "r.coppice", "test.csv")["micro_f1"] > 0.7


def test_a_stopped_fit_goes_on_to_the_same_answers(coppice):
    write(coppice.folder / "train.csv", *documents(150, 4))
    arguments = ("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-q")
    coppice(*arguments, "-o", "whole.coppice")
    coppice(*arguments, "-o", "parts.coppice", "--time-limit", "0.001", code=75)
    coppice("resume", "parts.coppice", "-q")
    assert (
        coppice("predict", "parts.coppice", "train.csv").stdout
        == coppice("predict", "whole.coppice", "train.csv").stdout
    )


def test_mistakes_are_one_line(coppice):
    write(coppice.folder / "train.csv", *documents(30, 5))
    coppice.write("words.csv", "x,color\n1,red\n2,blue\n3,red\n")
    coppice.write("three.csv", "x,l\n1,0\n2,1\n3,2\n")
    assert "--labels" in coppice("fit", "bnmc", "train.csv", "-o", "r.coppice", code=78).stderr
    assert (
        "learn labels" in coppice("fit", "nrmm", "train.csv", "--labels", "label_0", "-o", "r.coppice", code=78).stderr
    )
    assert (
        "--labels label_9"
        in coppice("fit", "bnmc", "train.csv", "--labels", "label_9", "-o", "r.coppice", code=78).stderr
    )
    assert "'l'" in coppice("fit", "bnmc", "three.csv", "--labels", "l", "-o", "r.coppice", code=65).stderr
    assert (
        "--combine"
        in coppice(
            "fit", "bnmc", "train.csv", "--labels", "label_*", "--combine", "logit", "-o", "r.coppice", code=78
        ).stderr
    )


def test_classifiers_are_compared_on_the_same_rows(coppice):
    write(coppice.folder / "train.csv", *documents(120, 8))
    answer = coppice.json(
        "crossvalidate",
        "train.csv",
        "--labels",
        "label_*",
        "--models",
        "bnmc:truncation=5,ovr,chain,rates",
        "--folds",
        3,
    )
    by_model = {entry["model"]: entry for entry in answer["models"]}
    assert answer["folds"] == 3 and len(by_model) == 4
    rates = by_model.pop("rates")
    for entry in by_model.values():
        assert entry["micro_f1"]["mean"] > rates["micro_f1"]["mean"]
        assert entry["log_loss"]["mean"] < rates["log_loss"]["mean"]
    assert (
        "separately"
        in coppice("crossvalidate", "train.csv", "--labels", "label_*", "--models", "bnmc,nrmm", code=78).stderr
    )


def test_updates_take_in_rows_labels_and_columns(coppice):
    words, labels = documents(200, 6)
    write(coppice.folder / "test.csv", *documents(150, 7))
    with open(coppice.folder / "old.csv", "w", encoding="utf-8") as file:
        file.write("w0,w1,w2,w3,w4,label_0,label_1,label_2\n")
        file.writelines(
            ",".join(map(str, [*row[:5], *known[:3]])) + "\n" for row, known in zip(words[:100], labels[:100])
        )
    write(coppice.folder / "new.csv", words[100:], labels[100:])
    coppice("fit", "bnmc", "old.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    before = coppice("predict", "r.coppice", "test.csv").stdout
    coppice("update", "r.coppice", "new.csv", "-o", "grown.coppice", "--batch", 50, "-q")
    assert coppice("predict", "r.coppice", "test.csv").stdout == before
    summary = coppice.json("summary", "grown.coppice")
    assert (summary["rows"], summary["columns"], summary["labels"]) == (200, 6, 4)
    score = coppice.json("score", "grown.coppice", "test.csv")
    assert score["labels"] == 4 and score["micro_f1"] > 0.75
    coppice("update", "r.coppice", "new.csv", "-q")
    assert coppice.json("score", "r.coppice", "test.csv")["micro_f1"] > 0.75
    coppice.write("bad.csv", "w0,w1,w2,w3,w4,label_0,label_1,label_2\n1,1,1,1,-3,0,1,0\n2,1,1,1,1,1,1,0\n")
    assert "'w4'" in coppice("update", "r.coppice", "bad.csv", code=65).stderr
    assert "--labels" in coppice("update", "r.coppice", "test.csv", "--labels", "absent", code=78).stderr


def test_labels_of_a_file_of_their_own_are_asked_for(coppice):
    words, labels = documents(60, 4)
    write(coppice.folder / "all.csv", words, labels)
    lines = (coppice.folder / "all.csv").read_text().splitlines()
    coppice.write("words.csv", "\n".join(",".join(line.split(",")[:6]) for line in lines) + "\n")
    coppice.write("labels.csv", "\n".join(",".join(line.split(",")[6:]) for line in lines) + "\n")
    coppice("fit", "bnmc", "words.csv", "--labels-file", "labels.csv", *SMALL, "-o", "r.coppice", "-q")
    assert "--labels-file" in coppice("score", "r.coppice", "words.csv", code=78).stderr
    assert coppice.json("score", "r.coppice", "words.csv", "--labels-file", "labels.csv")["micro_f1"] > 0.7


def test_unknown_labels_cannot_be_scored(coppice):
    words, labels = documents(40, 5)
    write(coppice.folder / "train.csv", words, labels)
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    lines = (coppice.folder / "train.csv").read_text().splitlines()
    coppice.write(
        "none.csv", lines[0] + "\n" + "\n".join(",".join(line.split(",")[:6]) + ",,,," for line in lines[1:]) + "\n"
    )
    assert "known" in coppice("score", "r.coppice", "none.csv", code=65).stderr


def test_flags_of_mixtures_are_refused(coppice):
    write(coppice.folder / "train.csv", *documents(20, 6))
    for flags in (("--family", "poisson"), ("--set", "shape=2")):
        refused = coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *flags, "-o", "r.coppice", code=78)
        assert "--features" in refused.stderr
    refused = coppice("crossvalidate", "train.csv", "--labels", "label_*", "--models", "ovr", "--folds", 50, code=2)
    assert "20 rows" in refused.stderr


def test_rows_without_labels_are_taken_in(coppice):
    words, labels = documents(300, 11)
    write(coppice.folder / "old.csv", words[:60], labels[:60])
    lines = ["w0,w1,w2,w3,w4,w5"] + [",".join(map(str, row)) for row in words[60:]]
    coppice.write("new.csv", "\n".join(lines) + "\n")
    write(coppice.folder / "test.csv", *documents(100, 12))
    coppice("fit", "bnmc", "old.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    coppice("update", "r.coppice", "new.csv", "--unlabeled", "-o", "grown.coppice", "-q")
    assert coppice.json("summary", "grown.coppice")["rows"] == 300
    assert coppice.json("score", "grown.coppice", "test.csv")["micro_f1"] > 0.75
    # Labels that stand there are not looked at.
    write(coppice.folder / "wrong.csv", words[60:], 1 - labels[60:])
    coppice("update", "r.coppice", "wrong.csv", "--unlabeled", "-o", "same.coppice", "-q")
    assert (
        coppice("predict", "same.coppice", "test.csv").stdout == coppice("predict", "grown.coppice", "test.csv").stdout
    )
    assert (
        "--labels" in coppice("update", "r.coppice", "wrong.csv", "--unlabeled", "--labels", "label_0", code=2).stderr
    )
    assert "--unlabeled" in coppice("update", "r.coppice", "new.csv", code=78).stderr


def test_a_new_column_of_another_kind_means_a_new_fit(coppice):
    words, labels = documents(160, 13)
    write(coppice.folder / "old.csv", words[:80], labels[:80])
    length = np.round(np.random.default_rng(0).normal(size=160), 3)
    header = [f"w{j}" for j in range(6)] + ["length"] + [f"label_{c}" for c in range(4)]
    with open(coppice.folder / "new.csv", "w", encoding="utf-8") as file:
        file.write(",".join(header) + "\n")
        file.writelines(",".join(map(str, [*words[i], length[i], *labels[i]])) + "\n" for i in range(80, 160))
    with open(coppice.folder / "all.csv", "w", encoding="utf-8") as file:
        file.write(",".join(header) + "\n")
        file.writelines(
            ",".join(map(str, [*words[i], "" if i < 80 else length[i], *labels[i]])) + "\n" for i in range(160)
        )
    coppice("fit", "bnmc", "old.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    note = coppice("update", "r.coppice", "new.csv", "-o", "grown.coppice").stderr
    assert "'length'" in note and "learned again" in note
    coppice("fit", "bnmc", "all.csv", "--labels", "label_*", *SMALL, "-o", "whole.coppice", "-q")
    assert (
        coppice("predict", "grown.coppice", "all.csv").stdout == coppice("predict", "whole.coppice", "all.csv").stdout
    )


def test_clusters_have_one_number_everywhere(coppice):
    write(coppice.folder / "train.csv", *documents(120, 14))
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    rows = coppice.json("predict", "r.coppice", "train.csv")
    known = {entry["cluster"] for entry in coppice.json("profile", "r.coppice")["clusters"]}
    assert {row["cluster"] for row in rows} <= known


def test_what_the_report_says_reproduces_the_fit(coppice):
    write(coppice.folder / "train.csv", *documents(80, 15))
    coppice("fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "-o", "r.coppice", "-q")
    data = coppice.json("report", "r.coppice", "-o", "-")
    assert data["labels"]["names"] == [f"label_{c}" for c in range(4)] and data["labels"]["held_out"]
    scores = coppice.json("score", "r.coppice")
    assert data["labels"]["scores"]["micro_f1"] == scores["micro_f1"]
    predictions = coppice("predict", "r.coppice", "train.csv").stdout
    (coppice.folder / "r.coppice").unlink()
    coppice(*shlex.split(data["reproduce"]["command"])[1:], "-q")
    assert coppice("predict", "r.coppice", "train.csv").stdout == predictions
    coppice.write("run.toml", data["reproduce"]["toml"])
    coppice("fit", "--config", "run.toml", "--overwrite", "-q")
    assert coppice("predict", "r.coppice", "train.csv").stdout == predictions


def test_labels_that_tell_nothing_apart_are_warned_of(coppice):
    words, labels = documents(150, 23)
    write(coppice.folder / "train.csv", words, labels)
    write(coppice.folder / "test.csv", *documents(100, 24))
    note = coppice(
        "fit", "bnmc", "train.csv", "--labels", "label_*", *SMALL, "--unobserved", "missing", "-o", "r.coppice"
    ).stderr
    assert "warning: no label is known to be absent" in note
    scores = coppice.json("score", "r.coppice", "test.csv")
    assert scores["log_loss"] < 1.5 and scores["ranking_loss"] < 0.25
    lines = (coppice.folder / "train.csv").read_text().splitlines()
    coppice.write(
        "none.csv", lines[0] + "\n" + "\n".join(",".join(line.split(",")[:6]) + ",,,," for line in lines[1:]) + "\n"
    )
    note = coppice("fit", "bnmc", "none.csv", "--labels", "label_*", *SMALL, "-o", "n.coppice").stderr
    assert "warning: no label of any row is known" in note and "1/4" in note
    for row in coppice.json("predict", "n.coppice", "test.csv"):
        assert all(abs(entry["probability"] - 0.25) < 1e-9 for entry in row["by_label"].values())


def test_where_numbers_are_zero_means_nothing(coppice):
    """Linear classifiers with diagonal covariances see numbers from their means on, as those with full ones do."""
    rng = np.random.default_rng(25)
    x = rng.normal(size=(300, 2))
    y = (x @ [2.0, -1.0] + 0.3 * rng.normal(size=300) > 0).astype(int)
    for shift in (0, 2015):
        np.savetxt(
            coppice.folder / f"{shift}.csv",
            np.column_stack([x + shift, y]),
            delimiter=",",
            header="a,b,label",
            comments="",
            fmt=["%.6f", "%.6f", "%d"],
        )
        coppice(
            "fit",
            "bnmc",
            f"{shift}.csv",
            "--labels",
            "label",
            *SMALL,
            "--covariance",
            "diagonal",
            "-o",
            f"{shift}.coppice",
            "-q",
        )
    near, far = (coppice.json("score", f"{shift}.coppice", f"{shift}.csv")["log_loss"] for shift in (0, 2015))
    assert near < 0.2 and abs(near - far) < 1e-3
