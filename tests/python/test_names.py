"""Numbers and names of clusters: those of the command line, kept in the run."""

import pickle

import numpy as np
import pytest
from conftest import fitted

import coppice


@pytest.fixture
def model():
    rng = np.random.default_rng(1)
    points = np.repeat([[-5.0, 0.0], [5.0, 0.0], [0.0, 6.0]], 12, axis=0) + rng.normal(scale=0.4, size=(36, 2))
    return fitted(coppice.NRMMixture, points)


def test_every_cluster_has_a_name(model):
    names = model.run_.cluster_names()
    assert len(names) == model.n_clusters_ and len(set(names)) == len(names)
    assert [profile["name"] for profile in model.run_.profiles()] == names
    table = model.to_pandas()
    assert list(table["name"]) == [names[label] for label in model.labels_]


def test_names_are_kept_in_the_run(model):
    labels = model.labels_.copy()
    model.run_.rename(1, "Gentoo")
    assert model.run_.cluster_names()[1] == "Gentoo"
    assert model.run_.profiles()[1]["described_as"] != "Gentoo"
    assert (model.run_.consensus()["labels"] == labels).all()
    assert pickle.loads(pickle.dumps(model.run_)).cluster_names()[1] == "Gentoo"
    with pytest.raises(ValueError, match="there is no cluster 9"):
        model.run_.rename(9, "x")
    model.run_.rename(1, "")
    assert "Gentoo" not in model.run_.cluster_names()
