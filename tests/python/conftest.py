"""Shared data of the package's tests, which run against the installed wheel."""

import contextlib
import fcntl
import inspect
import os
import pathlib
import signal
import subprocess
import tempfile
import warnings

import numpy as np
import pytest
from sklearn.base import is_clusterer
from sklearn.exceptions import ConvergenceWarning

import coppice

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("COPPICE_BIN", str(ROOT / "build" / "release" / "coppice"))
SHORT = {"chains": 2, "warmup": 60, "draws": 60, "verbose": 0}
ALL = list(
    dict.fromkeys(value for value in vars(coppice).values() if isinstance(value, type) and hasattr(value, "_model"))
)
# Two processes that import arviz at once, for the first time in a day, take each other's stamp of the day away.
with open(pathlib.Path(tempfile.gettempdir()) / f"coppice-tests-{os.getuid()}.lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    with contextlib.suppress(ImportError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz  # noqa: F401
# Tests that a shell started in the background ignore Ctrl-C, and so would all programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
CLASSES = [cls for cls in ALL if is_clusterer(cls())]  # the others learn labels: fit(X, Y)


def short(cls, **settings):
    """An estimator that is quick to fit."""
    known = inspect.signature(cls).parameters  # greedy models have no chains
    settings = {name: value for name, value in {**SHORT, "random_state": 1}.items() if name in known} | settings
    if cls is coppice.RBHMC:
        settings.setdefault("penalty", 0.0)  # choosing one takes longer than the fit
    return cls(**settings)


def fitted(cls, X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # short runs are not to be trusted, and say so
        return short(cls, **settings).fit(X)


def blobs(rows=60, seed=0):
    """Three standardized blobs and their labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(rows) % 3
    points = np.array([[-4.0, -4.0], [4.0, 0.0], [0.0, 5.0]])[truth] + 0.7 * rng.normal(size=(rows, 2))
    return (points - points.mean(axis=0)) / points.std(axis=0), truth


def command_line(folder, *arguments):
    return subprocess.run(
        [BINARY, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=900, check=True
    ).stdout


@pytest.fixture(scope="session", params=CLASSES, ids=lambda cls: cls.__name__)
def model(request):
    """A fitted estimator of every kind."""
    return fitted(request.param, blobs()[0])
