"""The estimator of several labels, beyond scikit-learn's checks."""

import io
import json
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from conftest import command_line
from sklearn.base import is_classifier
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.multioutput import ClassifierChain
from sklearn.utils import get_tags

import coppice

SMALL = {"truncation": 8, "restarts": 1, "min_positives": 3, "topics": 4, "random_state": 1, "verbose": 0}
FLAGS = ("--truncation", 8, "--restarts", 1, "--min-positives", 3, "--topics", 4, "--seed", 1, "-q")
WORDS = [f"w{j}" for j in range(6)]
LABELS = ["a", "b", "c", "d"]


def documents(rows, seed):
    """Counts of words of two topics, and labels: two of each topic, one of both."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 2, rows)
    rates = np.array([[4, 4, 4, 0.4, 0.4, 0.4], [0.4, 0.4, 0.4, 4, 4, 4]])
    chances = np.array([[0.95, 0.9, 0.05, 0.5], [0.05, 0.05, 0.95, 0.5]])
    return rng.poisson(rates[topic]).astype(float), (rng.uniform(size=(rows, 4)) < chances[topic]).astype(int)


@pytest.fixture(scope="module")
def data():
    return documents(120, 1)


@pytest.fixture(scope="module")
def model(data):
    return coppice.BNMC(**SMALL).fit(*data)


def write_csv(path, X, Y):
    frame = pd.concat([pd.DataFrame(X.astype(int), columns=WORDS), pd.DataFrame(Y, columns=LABELS)], axis=1)
    frame.to_csv(path, index=False)


def test_what_it_is(model):
    tags = get_tags(model)
    assert is_classifier(model) and tags.classifier_tags.multi_label and tags.input_tags.sparse
    assert not hasattr(model, "tree_") and not hasattr(model, "views_")


def test_answers_fit_together(model, data):
    X, Y = data
    fresh, truth = documents(200, 2)
    chosen, probabilities = model.predict(fresh), model.predict_proba(fresh)
    assert chosen.shape == probabilities.shape == (200, 4) and set(np.unique(chosen)) <= {0, 1}
    assert f1_score(truth, chosen, average="micro") > 0.8
    np.testing.assert_array_equal(model.decision_function(fresh) > 0, chosen == 1)
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    assert model.membership_.shape == (120, 8)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_clusters(X), model.membership_)
    assert set(model.labels_) <= {pattern["cluster"] for pattern in model.patterns_}
    assert model.n_clusters_ == len(model.patterns_) >= 2
    assert sum(pattern["weight"] for pattern in model.patterns_) == pytest.approx(1.0, abs=0.05)
    strange = np.array([[40.0, 0, 0, 0, 0, 40.0]])
    assert model.score_samples(strange)[0] < model.score_samples(X).min()
    assert model.score(fresh, truth) == pytest.approx(np.mean((chosen == truth).all(axis=1)))
    np.testing.assert_array_equal(model.run_.known_labels(), Y)


def test_measures_are_those_of_other_packages(model):
    fresh, truth = documents(200, 2)
    scores = model.label_scores(fresh, truth)
    chosen, probabilities = model.predict(fresh), model.predict_proba(fresh)
    assert scores["micro_f1"] == pytest.approx(f1_score(truth, chosen, average="micro"))
    assert scores["macro_f1"] == pytest.approx(f1_score(truth, chosen, average="macro"))
    assert scores["log_loss"] == pytest.approx(log_loss(truth.ravel(), probabilities.ravel()))
    hidden = truth.astype(float)
    hidden[:, 0] = np.nan
    assert model.label_scores(fresh, hidden)["log_loss"] == pytest.approx(
        log_loss(truth[:, 1:].ravel(), probabilities[:, 1:].ravel())
    )


def test_the_fit_is_that_of_the_command_line(model, data, tmp_path):
    write_csv(tmp_path / "train.csv", *data)
    command_line(tmp_path, "fit", "bnmc", "train.csv", "--labels", ",".join(LABELS), *FLAGS, "-o", "run.coppice")
    opened = coppice.open(tmp_path / "run.coppice")
    assert type(opened) is coppice.BNMC and list(opened.classes_) == LABELS
    assert (opened.truncation, opened.restarts, opened.random_state) == (8, 1, 1)
    fresh, truth = documents(50, 3)
    table = pd.DataFrame(fresh, columns=WORDS)
    np.testing.assert_array_equal(opened.predict_proba(table), model.predict_proba(fresh))
    write_csv(tmp_path / "test.csv", fresh, truth)
    lines = pd.read_csv(io.StringIO(command_line(tmp_path, "predict", "run.coppice", "test.csv")))
    np.testing.assert_allclose(lines[[f"p_{name}" for name in LABELS]], opened.predict_proba(table), rtol=1e-12)
    # And back: what is saved here is scored there.
    named = coppice.BNMC(**SMALL).fit(pd.DataFrame(data[0], columns=WORDS), pd.DataFrame(data[1], columns=LABELS))
    named.save(tmp_path / "saved.coppice")
    theirs = json.loads(command_line(tmp_path, "score", "saved.coppice", "test.csv", "--json"))
    assert theirs["micro_f1"] == pytest.approx(named.label_scores(table, truth)["micro_f1"])
    held_out = json.loads(command_line(tmp_path, "score", "saved.coppice", "--json"))
    assert held_out["log_loss"] == pytest.approx(log_loss(data[1].ravel(), named.held_out_proba_.ravel()))


def test_rows_held_out_are_predicted_worse_than_rows_seen(model, data):
    X, Y = data
    assert model.held_out_proba_.shape == Y.shape
    assert log_loss(Y.ravel(), model.held_out_proba_.ravel()) > log_loss(Y.ravel(), model.predict_proba(X).ravel())
    plain = coppice.BNMC(**SMALL, calibration=0, combine="linear").fit(X, Y)
    assert not hasattr(plain, "held_out_proba_")


def test_rows_held_out_were_not_seen():
    """Labels that are independent of the features can be remembered, but not predicted."""
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(300, 20)), rng.uniform(size=(300, 3)) < 0.5
    model = coppice.BNMC(random_state=1, verbose=0, truncation=5, combine="linear").fit(X, Y)
    for c in range(3):
        positives = Y[:, c].sum()
        error = np.sqrt((1.0 / positives + 1.0 / (300 - positives)) / 12.0)
        assert abs(roc_auc_score(Y[:, c], model.held_out_proba_[:, c]) - 0.5) < 4.0 * error
        assert roc_auc_score(Y[:, c], model.predict_proba(X)[:, c]) > 0.5 + 4.0 * error


@pytest.mark.parametrize(
    "form", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array], ids=lambda form: form.__name__
)
def test_sparse_is_dense(model, data, form):
    X, Y = data
    sparse = coppice.BNMC(**SMALL).fit(form(X), form(Y))
    np.testing.assert_array_equal(sparse.predict_proba(form(X)), model.predict_proba(X))


def test_frames_name_the_labels(model, data):
    X, Y = data
    table, labels = pd.DataFrame(X, columns=WORDS), pd.DataFrame(Y, columns=LABELS)
    for x, y in (
        (table, labels),
        (pl.from_pandas(table), pl.from_pandas(labels)),
        (pa.Table.from_pandas(table), pa.Table.from_pandas(labels)),
        (table, labels.astype(bool)),
    ):
        named = coppice.BNMC(**SMALL).fit(x, y)
        assert list(named.classes_) == LABELS == named.run_.label_names
        np.testing.assert_array_equal(named.predict_proba(x), model.predict_proba(X))
    assert list(named.to_pandas().columns) == [f"p_{name}" for name in LABELS] + ["cluster", "log_density"]
    assert named.to_polars().shape == (120, 7)


def test_missing_labels(data, tmp_path):
    X, Y = data
    gaps = Y.astype(float)
    gaps[np.random.default_rng(5).uniform(size=Y.shape) < 0.3] = np.nan
    gaps[:20] = np.nan
    model = coppice.BNMC(**SMALL).fit(X, gaps)
    np.testing.assert_array_equal(model.run_.known_labels(), gaps)
    fresh, truth = documents(200, 2)
    assert f1_score(truth, model.predict(fresh), average="micro") > 0.75
    # An empty cell of a file says the same.
    frame = pd.concat(
        [pd.DataFrame(X.astype(int), columns=WORDS), pd.DataFrame(gaps, columns=LABELS).astype("Int64")], axis=1
    )
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    command_line(tmp_path, "fit", "bnmc", "gaps.csv", "--labels", ",".join(LABELS), *FLAGS, "-o", "run.coppice")
    opened = coppice.open(tmp_path / "run.coppice")
    np.testing.assert_array_equal(opened.predict_proba(pd.DataFrame(fresh, columns=WORDS)), model.predict_proba(fresh))
    nullable = coppice.BNMC(**SMALL).fit(X, frame[LABELS])
    np.testing.assert_array_equal(nullable.predict_proba(fresh), model.predict_proba(fresh))


def test_partial_fit_is_an_update(data, tmp_path):
    X, Y = data
    more, known = documents(100, 4)
    fresh, truth = documents(200, 2)
    grown = coppice.BNMC(**SMALL).partial_fit(X, Y).partial_fit(more, known)
    assert grown.run_.rows == 220 and len(set(grown.run_.row_ids)) == 220
    assert f1_score(truth, grown.predict(fresh), average="micro") > 0.8
    with pytest.raises(AttributeError, match="held-out rows"):
        _ = grown.held_out_proba_
    write_csv(tmp_path / "train.csv", X, Y)
    write_csv(tmp_path / "more.csv", more, known)
    command_line(tmp_path, "fit", "bnmc", "train.csv", "--labels", ",".join(LABELS), *FLAGS, "-o", "run.coppice")
    command_line(tmp_path, "update", "run.coppice", "more.csv", "-q")
    opened = coppice.open(tmp_path / "run.coppice")
    np.testing.assert_array_equal(opened.predict_proba(pd.DataFrame(fresh, columns=WORDS)), grown.predict_proba(fresh))
    # Rows with unknown labels, and labels that are new.
    unlabeled = coppice.BNMC(**SMALL).fit(X, Y).partial_fit(more, np.full((100, 4), np.nan))
    assert unlabeled.run_.rows == 220 and np.isnan(unlabeled.run_.known_labels()[120:]).all()
    named = coppice.BNMC(**SMALL).fit(X, pd.DataFrame(Y[:, :3], columns=LABELS[:3]))
    named.partial_fit(more, pd.DataFrame(known, columns=LABELS))
    assert list(named.classes_) == LABELS and named.predict_proba(fresh).shape == (200, 4)
    # A matrix without names has the labels of the run; a frame may have them in another order.
    named.partial_fit(more, np.full((100, 4), np.nan))
    assert named.run_.label_names == LABELS and named.run_.rows == 320
    frame = pd.DataFrame(truth, columns=LABELS)
    assert named.label_scores(fresh, frame[LABELS[::-1]]) == named.label_scores(fresh, truth)
    with pytest.raises(ValueError, match="3 columns where 4"):
        named.partial_fit(more, known[:, :3])
    with pytest.raises(ValueError, match="no column for these labels: .'d'"):
        named.label_scores(fresh, frame[LABELS[:3]])


def test_partial_fit_of_a_file_replaces_it(data, tmp_path):
    X, Y = data
    model = coppice.BNMC(**SMALL, output=tmp_path / "run.coppice").fit(X, Y).partial_fit(*documents(50, 4))
    assert model.run_.rows == 170 and model.run_.path == str(tmp_path / "run.coppice")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.coppice"]


def test_classes_of_a_vector():
    rng = np.random.default_rng(0)
    y = rng.choice(["ant", "bee", "cat"], 150)
    X = np.array([{"ant": -3.0, "bee": 0.0, "cat": 3.0}[name] for name in y])[:, None] + 0.5 * rng.normal(size=(150, 2))
    model = coppice.BNMC(**SMALL).fit(X, y)
    assert list(model.classes_) == ["ant", "bee", "cat"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.95
    numbers = np.unique(y, return_inverse=True)[1].astype(float)
    numbers[::3] = np.nan  # rows of unknown class
    half = coppice.BNMC(**SMALL).fit(X, numbers)
    assert np.mean(half.predict(X) == np.unique(y, return_inverse=True)[1]) > 0.95


def test_mistakes(data):
    X, Y = data
    for y, words in (
        (Y + 1, "0, 1 or NaN"),
        (None, "requires y"),
        (Y[:5], "inconsistent"),
        (np.where(Y, np.inf, 0.0), "infinity"),
    ):
        with pytest.raises(ValueError, match=words):
            coppice.BNMC(**SMALL).fit(X, y)
    with pytest.raises(ValueError, match="calibration") as caught:
        coppice.BNMC(**{**SMALL, "calibration": 1}).fit(X, Y)
    assert "--" not in str(caught.value)
    with pytest.raises(ValueError, match="vector of classes"):
        coppice.BNMC(**SMALL).fit(X, Y).partial_fit(X, Y[:, 0])


def test_pickles_and_reports(model, data, tmp_path):
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(data[0]), model.predict_proba(data[0]))
    model.report(tmp_path / "report.html")
    assert "Content-Security-Policy" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_stopped_fit_goes_on_to_the_same(data):
    X, Y = data
    with pytest.warns(UserWarning, match="before the fit was finished") as caught:
        stopped = coppice.BNMC(**SMALL, time_limit=1e-3).fit(X, Y)
    assert {entry.filename for entry in caught} == {__file__} and "resume()" in stopped.run_.verdict
    assert not stopped.run_.complete and not stopped.run_.trusted
    stopped.time_limit = None
    stopped.resume()
    np.testing.assert_array_equal(stopped.predict_proba(X), coppice.BNMC(**SMALL).fit(X, Y).predict_proba(X))


def test_ctrl_c_keeps_what_was_learned(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, signal, threading, time, warnings
        import numpy as np, coppice
        rng = np.random.default_rng(0)
        X, Y = rng.poisson(2.0, size=(4000, 60)), rng.uniform(size=(4000, 30)) < 0.3
        threading.Thread(target=lambda: (time.sleep(3), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = coppice.BNMC(truncation=50, restarts=1000, tolerance=1e-12, random_state=1, verbose=0).fit(X, Y)
        assert not model.run_.complete and any("resume() continues" in str(entry.message) for entry in caught)
        print(model.predict_proba(X[:5]).shape)
        """),
        encoding="utf-8",
    )
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0 and result.stdout.strip() == "(5, 30)", result.stderr


def test_ctrl_c_while_rows_come_in_leaves_the_run_as_it_was(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, pathlib, signal, threading, time
        import numpy as np, coppice
        rng = np.random.default_rng(0)
        X, Y = rng.poisson(2.0, size=(60000, 40)), rng.uniform(size=(60000, 3)) < 0.3
        output = pathlib.Path({str(tmp_path)!r}) / "run.coppice"
        model = coppice.BNMC(truncation=30, restarts=1, random_state=1, verbose=0, output=output).fit(X[:300], Y[:300])
        update = coppice._native.update
        def interrupted(**arguments):
            threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
            return update(**arguments)
        coppice._native.update = interrupted
        try:
            model.partial_fit(X, Y)
        except KeyboardInterrupt:
            print("interrupted", model.run_.complete, len(model.run_.row_ids), len(coppice.Run(output).row_ids),
                  [path.name for path in sorted(output.parent.glob("run.*"))])
        """),
        encoding="utf-8",
    )
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0 and result.stdout.strip() == "interrupted True 300 300 ['run.coppice']", (
        result.stdout + result.stderr
    )


def test_it_is_a_part_of_other_estimators(data):
    """A chain of scikit-learn's over one label each."""
    X, Y = data
    chain = ClassifierChain(coppice.BNMC(**SMALL)).fit(X, Y[:, :2])
    assert chain.predict(X).shape == (120, 2)


def test_new_rows_get_names_that_no_row_has(data):
    X, Y = data
    columns = [f"w{j}" for j in range(X.shape[1])]
    model = coppice.BNMC(**SMALL).fit(pd.DataFrame(X, columns=columns, index=range(40, 160)), Y)
    model.partial_fit(pd.DataFrame(X[:10], columns=columns, index=range(155, 165)), Y[:10])
    assert len(model.run_.row_ids) == len(set(model.run_.row_ids)) == 130


def test_a_label_that_was_renamed_is_warned_of(data):
    X, Y = data
    model = coppice.BNMC(**SMALL).fit(X, pd.DataFrame(Y[:, :2], columns=["u", "v"]))
    with pytest.warns(UserWarning, match="'U'.*are new and.*'u'.*are not there"):
        model.partial_fit(X[:20], pd.DataFrame(Y[:20, :2], columns=["U", "v"]))


def test_thresholds_that_look_at_each_row(data):
    fresh, truth = documents(100, 2)
    top = coppice.BNMC(**SMALL, threshold="top-k", top=2).fit(*data)
    chosen, margin = top.predict(fresh), top.decision_function(fresh)
    assert (chosen.sum(axis=1) == 2).all() and np.isnan(top.thresholds_).all()
    np.testing.assert_array_equal(margin > 0, chosen == 1)
    np.testing.assert_array_equal(np.argsort(margin, axis=1), np.argsort(top.predict_proba(fresh), axis=1))
    one = coppice.BNMC(**SMALL, threshold="at-least-one", combine="mixture").fit(*data)
    chosen = one.predict(fresh)
    assert (chosen.sum(axis=1) >= 1).all() and np.isfinite(one.thresholds_).all()
    np.testing.assert_array_equal(one.decision_function(fresh) > 0, chosen == 1)
    everything = coppice.BNMC(**SMALL, threshold="top-k", top=4).fit(*data)
    assert (everything.decision_function(fresh) > 0).all()
    with pytest.raises(ValueError, match="top-k"):
        coppice.BNMC(**SMALL, top=2).fit(*data)


def test_known_labels_are_taken_as_given(model):
    row = np.array([[1.0, 0, 0, 1, 0, 0]] * 3)
    given = np.array([[1, np.nan, 0, np.nan], [0, np.nan, 1, np.nan], [np.nan] * 4])
    probabilities = model.predict_proba(row, given=given)
    np.testing.assert_array_equal(probabilities[:2, [0, 2]], given[:2, [0, 2]])
    np.testing.assert_array_equal(model.predict(row, given=given)[:2, [0, 2]], given[:2, [0, 2]])
    np.testing.assert_array_equal(probabilities[2], model.predict_proba(row)[2])
    assert probabilities[0, 1] > probabilities[2, 1] > probabilities[1, 1]
    part = model.predict_proba(row, given=pd.DataFrame(given[:, [2, 0]], columns=["y2", "y0"]))
    np.testing.assert_array_equal(part, probabilities)
    with pytest.raises(ValueError, match="not learned"):
        model.predict(row, given=pd.DataFrame({"other": [1, 0, 1]}))
    with pytest.raises(ValueError, match="inconsistent"):
        model.predict(row, given=given[:2])


def test_cluster_posterior(model, data):
    fresh, truth = documents(100, 2)
    other = coppice.BNMC(**SMALL, cluster_posterior="variational").fit(*data)
    assert f1_score(truth, other.predict(fresh), average="micro") > 0.8
    assert not np.allclose(other.predict_clusters(fresh), model.predict_clusters(fresh), atol=1e-6)
    np.testing.assert_array_equal(other.score_samples(fresh), model.score_samples(fresh))
