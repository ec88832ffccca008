"""What every estimator promises beyond scikit-learn's checks."""

import inspect
import json
import pickle
import warnings

import numpy as np
import pytest
from conftest import ALL, blobs, command_line, fitted, short
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import coppice


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_arguments_are_those_of_the_command_line(cls, tmp_path):
    models = {entry["name"]: entry for entry in json.loads(command_line(tmp_path, "models", "--json"))}
    parameters = inspect.signature(cls).parameters
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in parameters.values())
    for entry in models[cls._model]["parameters"]:
        default = parameters[entry["name"].replace("-", "_")].default
        if entry["default"] is None:
            assert default is None
        elif isinstance(default, bool):
            assert entry["default"] == str(default).lower()
        elif isinstance(default, tuple):
            assert default == tuple(json.loads(f"[{entry['default'].strip('[]')}]"))
        elif isinstance(default, (int, float)):
            assert default == float(entry["default"])
        else:
            assert default == entry["default"]
    if not models[cls._model]["runs_once"]:  # which have no chains
        assert parameters["chains"].default == 4
        # A run lasts until it can be trusted unless one of these is given.
        assert [parameters[name].default for name in ("warmup", "draws", "thin")] == [None, None, None]
    assert set(models) == {known._model for known in ALL}


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_docstrings_explain_every_argument(cls):
    for name in inspect.signature(cls).parameters:
        assert f"\n    {name} : " in cls.__doc__
    for name in ("fit", "predict", "predict_proba", "score_samples", "score", "resume", "save", "report"):
        assert getattr(cls, name).__doc__


def test_alias():
    assert coppice.DPMixture is coppice.NRMMixture
    assert coppice.__version__


def test_attributes_fit_together(model):
    X, truth = blobs()
    rows, run = len(X), model.run_
    assert max(adjusted_rand_score(truth, labels) for labels in model.level_labels_) > 0.9
    assert model.level_labels_.shape == (run.levels, rows)
    np.testing.assert_array_equal(model.level_labels_[0], model.labels_)
    for coarse, fine in zip(model.level_labels_, model.level_labels_[1:]):
        assert len({(a, b) for a, b in zip(coarse, fine)}) == len(set(fine))
    assert model.membership_.shape == (rows, model.n_clusters_ + 1)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0)
    assert model.linkage_.shape == (rows - 1, 4)
    assert ((0 <= model.confidence_) & (model.confidence_ <= 1)).all()
    assert run.labels(1).shape == (run.chains, run.draws, rows)
    assert (run.chains, run.draws) == (getattr(model, "chains", 1), getattr(model, "draws", 1))
    together = run.coclustering(1)
    np.testing.assert_allclose(np.diag(together), 1.0)
    draws = run.labels(1).reshape(-1, rows)
    if not run._head["greedy"]:
        assert together[0, 3] == pytest.approx(np.mean(draws[:, 0] == draws[:, 3]))
    assert set(run.traces()) == set(model.diagnostics_["traces"])
    assert model.diagnostics_["verdict"] == run.verdict
    assert run.data().shape == X.shape
    np.testing.assert_allclose(run.data(), X)


def test_predictions(model):
    X, _ = blobs()
    for level in range(1, model.run_.levels + 1):
        probabilities = model.predict_proba(X, level=level)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        assert probabilities.shape[1] == model.level_labels_[level - 1].max() + 2
    known = model.predict(X) >= 0
    assert np.mean(model.predict(X)[known] == model.labels_[known]) > 0.95
    assert model.predict(np.full((1, 2), 1e6))[0] == -1
    assert np.isfinite(model.score_samples(X)).all()
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())
    with pytest.raises(ValueError, match="level"):
        model.predict(X, level=99)


def test_the_seed_is_that_of_the_command_line(model, tmp_path):
    """Same data, same seed: the same draws here and there."""
    X, _ = blobs()
    np.save(tmp_path / "X.npy", X)
    names = [name for name in ("chains", "warmup", "draws") if hasattr(model, name)]
    flags = [part for name in names for part in (f"--{name}", getattr(model, name))]
    if model._model == "rbhmc":
        flags += ["--penalty", 0]
    command_line(tmp_path, "fit", model._model, "X.npy", *flags, "--seed", 1, "-o", "run.coppice")
    opened = coppice.open(tmp_path / "run.coppice")
    assert type(opened) is type(model)
    np.testing.assert_array_equal(opened.run_.labels(1), model.run_.labels(1))
    np.testing.assert_array_equal(opened.labels_, model.labels_)
    for name in [*names, "random_state"]:
        assert getattr(opened, name) == getattr(model, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file has names for its columns, the array has none
        np.testing.assert_array_equal(opened.predict_proba(X), model.predict_proba(X))


def test_a_saved_run_serves_the_command_line(model, tmp_path):
    model.save(tmp_path / "saved.coppice")
    summary = json.loads(command_line(tmp_path, "summary", "saved.coppice", "--json"))
    assert summary["model"] == model._model
    assert summary["trusted"] == model.run_.trusted
    again = coppice.open(tmp_path / "saved.coppice")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.predict(blobs()[0]), model.predict(blobs()[0]))
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "saved.coppice")


def test_coclustering_is_that_of_the_command_line(model, tmp_path):
    model.save(tmp_path / "run.coppice")
    table = command_line(tmp_path, "export", "run.coppice", "--what", "coclustering").splitlines()
    theirs = np.array([[float(cell) for cell in line.split(",")[1:]] for line in table[1:]])
    np.testing.assert_allclose(model.run_.coclustering(1), theirs, atol=1e-12)


def test_reports_are_pages(model, tmp_path):
    model.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>") and "Content-Security-Policy" in page


def test_views():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    X = np.column_stack([6.0 * one, -6.0 * one, 6.0 * other, -6.0 * other]) + rng.normal(size=(60, 4))
    model = fitted(coppice.CrossCat, X, warmup=200, draws=100)
    assert sorted(view["columns"] for view in model.views_) == [["x0", "x1"], ["x2", "x3"]]
    for view in model.views_:
        assert adjusted_rand_score(one if "x0" in view["columns"] else other, view["labels"]) == 1.0
    assert model.column_coclustering_.shape == (4, 4)
    assert model.column_coclustering_[0, 1] > 0.9 > 0.1 > model.column_coclustering_[0, 2]
    assert not hasattr(fitted(coppice.NRMMixture, X), "views_")


def test_a_tree_of_views():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    X = np.column_stack([6.0 * one, -6.0 * one, 6.0 * other, -6.0 * other]) + rng.normal(size=(60, 4))
    model = fitted(coppice.BHCC, X)
    assert sorted(view["columns"] for view in model.views_) == [["x0", "x1"], ["x2", "x3"]]
    for view in model.views_:
        assert adjusted_rand_score(one if "x0" in view["columns"] else other, view["labels"]) == 1.0
    assert model.column_coclustering_[0, 1] > 0.9 > 0.1 > model.column_coclustering_[0, 2]
    linkage = model.run_.column_linkage()
    assert linkage.shape == (3, 4) and sorted(map(tuple, linkage[:2, :2])) == [(0.0, 1.0), (2.0, 3.0)]
    assert model.linkage_.shape == (59, 4)
    with pytest.raises(ValueError, match="columns"):
        fitted(coppice.BHC, X).run_.column_linkage()


def test_pickles_carry_the_run(model):
    X, _ = blobs()
    copy = pickle.loads(pickle.dumps(model))
    assert copy.run_.path != model.run_.path
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_threads_do_not_matter():
    X, _ = blobs()
    one, many = (fitted(coppice.NRMMixture, X, n_jobs=jobs) for jobs in (1, -1))
    np.testing.assert_array_equal(one.run_.labels(), many.run_.labels())


def test_resume_draws_what_a_longer_fit_draws():
    X, _ = blobs()
    longer = fitted(coppice.NRMMixture, X, draws=90)
    resumed = fitted(coppice.NRMMixture, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        resumed.resume(draws=90)
    np.testing.assert_array_equal(resumed.run_.labels(), longer.run_.labels())


def test_resume_refuses_what_the_command_line_refuses():
    X, _ = blobs()
    sampled = fitted(coppice.NRMMixture, X)
    with pytest.raises(ValueError, match="already has 60 draws"):
        sampled.resume(draws=59)
    for cls in (coppice.BHC, coppice.BHCC):
        greedy = fitted(cls, X)
        with pytest.raises(ValueError, match="has one fit and no draws"):
            greedy.resume(draws=5)
        assert greedy.run_.complete and greedy.run_.draws == 1
        greedy.resume()  # nothing is left to do


def test_opened_settings_are_those_of_the_fit(tmp_path):
    X, _ = blobs()
    model = fitted(
        coppice.NRMMixture,
        X,
        process="ngg",
        alpha=2,
        sigma_prior=(2.0, 3.0),
        sampler="gibbs",
        family="gaussian-diagonal",
        standardize=True,
    )
    model.save(tmp_path / "run.coppice")
    opened = coppice.open(tmp_path / "run.coppice").get_params()
    for name in ("process", "alpha", "sigma_prior", "sampler", "family", "standardize", "chains", "draws"):
        assert opened[name] == model.get_params()[name], name


def test_an_output_file_is_kept_and_not_replaced(tmp_path):
    X, _ = blobs()
    path = tmp_path / "run.coppice"
    fitted(coppice.NRMMixture, X, output=path)
    assert path.exists()
    with pytest.raises(OSError, match="exists"):
        fitted(coppice.NRMMixture, X, output=path)
    assert fitted(coppice.NRMMixture, X, output=path, overwrite=True).run_.path == str(path)


def test_mistakes_are_value_errors_in_the_words_of_the_package():
    X, _ = blobs()
    for settings, words in [
        ({"process": "pitman"}, "process.*dp, ngg"),
        ({"alpha": -1.0}, "alpha"),
        ({"chains": 0}, "chains"),
        ({"family": "cauchy"}, "family cauchy: there is no such family"),
        ({"family_settings": {"nonsense": 1}}, "nonsense"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"pca": 9}, "9"),
    ]:
        with pytest.raises(ValueError, match=words) as caught:
            short(coppice.NRMMixture, **settings).fit(X)
        assert "--" not in str(caught.value)
    with pytest.raises(OSError, match="nowhere"):
        coppice.open("nowhere.coppice")


def test_verdicts_are_warnings():
    X, _ = blobs()
    with pytest.warns(ConvergenceWarning, match="not trust") as caught:
        model = short(coppice.NRMMixture, draws=10).fit(X)
    assert not model.run_.trusted
    assert [str(warning.message) for warning in caught] == [model.run_.verdict]
    assert "--" not in model.run_.verdict
    assert "resume(draws=" in model.run_.verdict or "more warmup" in model.run_.verdict
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning) as caught:
        not_exact = short(coppice.NRMMixture, sampler="tree-guided-published").fit(X)
    assert not_exact.run_.inexactness_note and not_exact.run_.inexactness_note in {
        str(warning.message) for warning in caught
    }


def test_a_time_limit_keeps_the_draws():
    X, _ = blobs()
    with pytest.warns(ConvergenceWarning) as caught:
        model = short(coppice.NRMMixture, warmup=0, draws=10_000_000, time_limit=2.0).fit(X)
    assert "time limit reached after" in str(caught[0].message)
    assert 0 < model.run_.draws < 10_000_000
    assert not model.run_.complete
    with pytest.raises(ValueError, match="raise time_limit"):
        short(coppice.NRMMixture, warmup=10_000_000, time_limit=0.2).fit(X)


@pytest.mark.parametrize("estimator", [coppice.BHC, coppice.BHCC, coppice.CrossCat])
def test_cells_of_new_rows_are_foretold_from_the_others(estimator):
    truth = np.arange(40) % 2
    X = np.random.default_rng(3).normal(size=(40, 4)) + 8.0 * truth[:, None]
    model = fitted(estimator, X)
    new = np.array([[8.0, 8.0, np.nan, 8.0], [0.0, np.nan, 0.0, np.nan]])
    cells = model.imputed_cells(new)
    assert [cell["row"] for cell in cells] == [0, 1, 1]
    assert [round(cell["mean"] / 8.0) for cell in cells] == [1, 0, 0]
    whole = model.impute(new)
    assert isinstance(whole, np.ndarray) and np.isnan(new).sum() == 3 and not np.isnan(whole).any()
    assert whole[0, 2] == cells[0]["mean"] and whole[1, 0] == 0.0


def test_expected_clusters_are_the_prior_of_the_concentration():
    X, _ = blobs()
    model = fitted(coppice.NRMMixture, X, expect_clusters=(5, 3))
    assert model.run_.configuration["parameters"] == {"expect-clusters": "[5, 3]"}
    assert fitted(coppice.NRMMixture, X, expect_clusters=5).run_.configuration["parameters"] == {
        "expect-clusters": "[5]"
    }
    with pytest.raises(ValueError, match="give one of them"):
        fitted(coppice.NRMMixture, X, expect_clusters=5, alpha=1.0)


def test_prior_and_posterior_of_the_number_of_clusters(model):
    levels = model.run_.cluster_counts()
    assert [entry["level"] for entry in levels] == list(range(1, model.run_.levels + 1))
    for entry in levels:
        for law in (entry["prior"], entry["posterior"]):
            assert law["q05"] <= law["mean"] <= law["q95"] or law["sd"] > 0
        assert 0 <= entry["total_variation"] <= 1


def test_what_was_learned_about_each_column():
    X, _ = blobs()
    noise = np.random.default_rng(1).normal(size=(len(X), 1))
    columns = fitted(coppice.NRMMixture, np.hstack([X, noise])).run_.column_separation()
    shares = {entry["column"]: entry["between"] for entry in columns}
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert columns[-1]["between"] < 0.3 < columns[0]["between"]
    assert columns[0]["within"] < columns[0]["overall"]
