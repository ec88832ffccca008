"""compare and merge: the same answers as those of the command line, for runs, estimators and files."""

import json
import subprocess

import numpy as np
import pytest
from conftest import BINARY, blobs, fitted

import coppice


@pytest.fixture(scope="module")
def three():
    """Three seeds; the runs are unequally long."""
    X, _ = blobs()
    return [
        fitted(coppice.NRMMixture, X, random_state=seed, draws=draws) for seed, draws in ((1, 60), (2, 80), (3, 70))
    ]


def on_the_command_line(*paths):
    answer = subprocess.run(
        [BINARY, "compare", *map(str, paths), "--json"], capture_output=True, text=True, timeout=900, check=False
    )
    assert answer.returncode in (0, 1), answer.stderr
    return answer.returncode == 0, json.loads(answer.stdout)


def test_compare_says_what_the_command_line_says(three, tmp_path):
    for number, model in enumerate(three[:2]):
        model.save(tmp_path / f"{number}.coppice")
    paths = [tmp_path / "0.coppice", tmp_path / "1.coppice"]
    same, expected = on_the_command_line(*paths)
    for a, b in (paths, three[:2], (three[0].run_, three[1].run_), (str(paths[0]), three[1])):
        answer = coppice.compare(a, b)
        assert answer["same"] == same
        assert list(answer["traces"]) == [trace["name"] for trace in expected["traces"]]
        for trace in expected["traces"]:
            found = answer["traces"][trace["name"]]
            assert found["first"] == trace["first"] and found["second"] == trace["second"]
            assert found["rhat"] == (trace["rhat"] if trace["rhat"] is not None else pytest.approx(np.nan, nan_ok=True))
        assert [{**level, "clusters": list(level["clusters"])} for level in answer["levels"]] == expected["levels"]
    assert coppice.compare(*paths)["verdict"] == expected["verdict"]


def test_a_run_agrees_with_itself(three):
    answer = coppice.compare(three[0], three[0])
    assert answer["levels"][0]["ari"] == 1.0
    assert answer["levels"][0]["coclustering_difference"] == 0.0


def test_merge_has_all_chains_as_long_as_the_shortest(three, tmp_path):
    merged = coppice.merge(three, tmp_path / "all.coppice")
    assert (merged.run_.chains, merged.run_.draws) == (6, 60)
    np.testing.assert_array_equal(
        merged.run_.labels(), np.concatenate([model.run_.labels()[:, :60] for model in three])
    )
    assert type(merged) is coppice.NRMMixture
    assert coppice.Run(tmp_path / "all.coppice").configuration["merged"] is True
    with pytest.raises(ValueError, match="merged run already"):
        coppice.merge([merged, three[0]], tmp_path / "again.coppice")


def test_what_does_not_belong_together_is_refused(three, tmp_path):
    X, _ = blobs(seed=5)
    other = fitted(coppice.NRMMixture, X, random_state=9)
    with pytest.raises(ValueError, match="not fitted to the same rows"):
        coppice.compare(three[0], other)
    with pytest.raises(ValueError, match="not fitted to the same rows"):
        coppice.merge([three[0], other], tmp_path / "x.coppice")
    with pytest.raises(ValueError, match="at least two"):
        coppice.merge(three[:1], tmp_path / "x.coppice")
    with pytest.raises(ValueError, match="same seed"):
        coppice.merge([three[0], three[1], three[1]], tmp_path / "x.coppice")
    with pytest.raises(TypeError, match="fitted estimator"):
        coppice.compare(three[0], coppice.NRMMixture())
    assert not (tmp_path / "x.coppice").exists()
