"""scikit-learn's own checks, all of them, over all estimators, with no expected failures."""

import pytest
from conftest import ALL, short
from sklearn.utils.estimator_checks import parametrize_with_checks

import coppice

# Without a penalty, siblings of the nested mixture may share a component: what its first level then is on three blobs
# depends on where a short chain happens to be.
SETTINGS = {coppice.RBHMC: {"penalty": 10.0}}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([short(cls, **SETTINGS.get(cls, {})) for cls in ALL])
def test_check(estimator, check):
    check(estimator)
