"""Coppice: Bayesian nonparametric hierarchical clustering.

Estimators follow scikit-learn's conventions; there is one for each model of the command line. `open` gives a fitted
estimator from a run file; `compare` asks whether two runs agree, and `merge` puts their chains into one run.
The functions `plot_...` draw with matplotlib; `tl.fit` clusters the cells of an AnnData object.
"""

from coppice import _processor_check  # noqa: F401, I001  (first: refuses processors that the rest cannot run on)
from coppice import tl
from coppice._before_fit import check, codebook
from coppice._crossvalidate import Crossvalidation, crossvalidate
from coppice._estimator import open_run as open  # noqa: A004  (the name users expect)
from coppice._estimators import *  # noqa: F403
from coppice._estimators import __all__ as _estimator_names
from coppice._native import __version__, families, models
from coppice._plots import plot_clusters, plot_coclustering, plot_profiles, plot_traces, plot_tree, plot_views
from coppice._run import Run
from coppice._several_runs import compare, merge
from coppice._tree import Node, Tree

__all__ = [
    *_estimator_names,
    "Crossvalidation",
    "Node",
    "Run",
    "Tree",
    "__version__",
    "check",
    "codebook",
    "compare",
    "crossvalidate",
    "families",
    "merge",
    "models",
    "open",
    "plot_clusters",
    "plot_coclustering",
    "plot_profiles",
    "plot_traces",
    "plot_tree",
    "plot_views",
    "tl",
]
