"""What is behind the verdict, and other partitions of the same draws."""

import json
import warnings

import numpy as np
import pytest
from conftest import blobs, command_line
from sklearn.exceptions import ConvergenceWarning

import coppice


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return coppice.NRMMixture(chains=2, warmup=50, draws=100, random_state=1).fit(blobs()[0])


def test_trust_is_that_of_the_command_line(model, tmp_path):
    model.save(tmp_path / "run.coppice")
    theirs = json.loads(command_line(tmp_path, "diagnose", "run.coppice", "--json"))
    ours = model.run_.trust()
    for name in ("converged", "diffuse", "fit", "undecided_pairs", "modes", "disagreement", "partition_traces"):
        assert ours[name] == theirs[name], name
    assert model.diagnostics_["fit"] == theirs["fit"]
    assert len(ours["remedies"]) == len(theirs["remedies"])
    assert not any("coppice resume" in remedy or "--" in remedy for remedy in ours["remedies"])


def test_other_costs_and_fewer_clusters(model):
    plain = model.run_.consensus()
    assert model.run_.consensus(clusters=1)["clusters"] == 1
    dear = model.run_.consensus(cost_ratio=20.0)
    assert dear["clusters"] >= plain["clusters"] >= model.run_.consensus(cost_ratio=0.05)["clusters"]
    for row in dear["unassigned"]:
        assert np.sum(dear["labels"] == dear["labels"][row]) == 1 and dear["confidence"][row] < 0.5
    with pytest.raises(ValueError):
        model.run_.consensus(cost_ratio=0.0)
    with pytest.raises(ValueError):
        model.run_.consensus(clusters=0)
