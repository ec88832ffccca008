"""scikit-learn's own checks, all of them, over all estimators, with no expected failures."""

import pytest
from conftest import ALL, short
from sklearn.utils.estimator_checks import parametrize_with_checks


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([short(cls) for cls in ALL])
def test_check(estimator, check):
    check(estimator)
