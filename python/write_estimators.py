"""Writes coppice/_estimators.py: one scikit-learn estimator for each model of the registry.

Usage: write_estimators.py FOLDER_OF_NATIVE_MODULE OUTPUT. Signatures, defaults and docstrings come from the parameter
tables, so a model that is added to the registry gets its estimator automatically.
"""

import re
import sys
import textwrap

CLASS_NAMES = {"nrmm": "NRMMixture", "crosscat": "CrossCat"}
ALIASES = {"nrmm": "DPMixture"}

# Parameters of all estimators besides those of their model: name, documented type, annotation, default, help.
SHARED = [
    (
        "family",
        "str",
        "str",
        "auto",
        "family of all columns (see coppice.families()); 'auto' chooses by the kind of each column",
    ),
    (
        "hyper",
        "str",
        "str",
        "learned",
        "hyper-parameters of families that are not given: 'learned' with the clusters where the model can, or 'fixed' "
        "by the scales of the columns",
    ),
    (
        "family_settings",
        "dict or None",
        "dict[str, Any] | None",
        None,
        "hyper-parameters of the families by name: numbers, strings, vectors or matrices",
    ),
    (
        "codebook",
        "dict, path or None",
        "dict[str, dict[str, Any]] | str | os.PathLike[str] | None",
        None,
        "what columns mean: a codebook file, or for each column a dict with 'kind' (real, count, binary, category), "
        "and optionally 'levels', 'family' and the family's settings; columns that are not named are inferred",
    ),
    ("standardize", "bool", "bool", False, "scale real columns to mean 0 and standard deviation 1"),
    ("pca", "int", "int", 0, "replace the numeric columns by this many principal components; 0 keeps them"),
    (
        "select",
        "{'vi', 'binder', 'rcdll', 'cdll', 'rcdll_c'}",
        "str",
        "vi",
        "which partition or hierarchy is reported: least expected loss (vi, binder), or the draw with the highest trace",
    ),
    (
        "output",
        "path or None",
        "str | os.PathLike[str] | None",
        None,
        "run file to write, which the command line reads too; None keeps the run in a temporary file",
    ),
    ("overwrite", "bool", "bool", False, "replace the run file if it exists"),
    (
        "time_limit",
        "float or None",
        "float | None",
        None,
        "stop cleanly after this many seconds; `resume` continues; None: 60 for a fit until trusted, else no limit",
    ),
    (
        "random_state",
        "int, RandomState instance or None",
        "int | np.random.RandomState | None",
        None,
        "seed: the same seed gives the same draws for any number of threads, and the same as `coppice fit --seed`; "
        "None uses a new one in every fit",
    ),
    ("n_jobs", "int or None", "int | None", -1, "threads; -1 or None: all cores"),
    ("verbose", "int", "int", 1, "0: silent; 1: progress in terminals and notebooks"),
]

ATTRIBUTES = """\
labels_ : ndarray of shape (n_samples,)
    Cluster of each row at the coarsest level, from 0.
level_labels_ : ndarray of shape (n_levels, n_samples)
    Clusters at each level, coarsest first; the levels are nested.
n_clusters_ : int
    Number of clusters in `labels_`.
membership_ : ndarray of shape (n_samples, n_clusters_ + 1)
    Probability that each row belongs to each cluster; the last column is a cluster of its own. Rows sum to one.
confidence_ : ndarray of shape (n_samples,)
    Mean probability that a row is in one cluster with the other rows of its cluster.
tree_ : coppice.Tree
    The hierarchy, with the support of its nodes.
linkage_ : ndarray of shape (n_samples - 1, 4)
    Average-linkage tree of the draws, in SciPy's form. Height: the fraction of draws in which two rows are apart.
diagnostics_ : dict
    Verdict, R-hat and effective numbers of draws of every trace, acceptance rates.
run_ : coppice.Run
    The run itself: draws, traces, configuration.
n_features_in_ : int
    Number of columns seen during fit.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the columns, if all are strings."""

GREEDY_LINKAGE = (
    "Average-linkage tree of the draws, in SciPy's form. Height: the fraction of draws in which two rows are apart.",
    "The tree, in SciPy's form. Height: -log of the probability that all rows below are one cluster.",
)
CLASSIFIER_ATTRIBUTES = """\
classes_ : ndarray of shape (n_labels,)
    Names of the labels: columns of a frame, numbers of the columns of an array, or the classes of a vector.
thresholds_ : ndarray of shape (n_labels,)
    The smallest score at which each label is predicted.
held_out_proba_ : ndarray of shape (n_samples, n_labels)
    Out-of-fold probability of each label of the training rows.
patterns_ : list of dict
    Clusters, largest first: number (`cluster`), fraction of the rows (`weight`), expected value of all `labels` and
    `features`, and `log_ratios` of the features over all rows.
membership_ : ndarray of shape (n_samples, n_possible_clusters)
    The probability of each cluster for the training rows, given their features.
labels_ : ndarray of shape (n_samples,)
    The most probable cluster of each row.
n_clusters_ : int
    Number of clusters that have rows.
diagnostics_ : dict
    Verdict and traces of the fit.
run_ : coppice.Run
    The run itself: what was learned, configuration.
n_features_in_ : int
    Number of columns seen during fit.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the columns, if all are strings."""

EXAMPLE = """\
>>> X = np.vstack([np.random.default_rng(0).normal(c, 0.3, size=(20, 2)) for c in (-3.0, 3.0)])
>>> model = {name}(random_state=1, verbose=0).fit(X)
>>> labels = model.labels_"""

CLASSIFIER_EXAMPLE = """\
>>> X = np.random.default_rng(0).poisson(2.0, size=(60, 4))
>>> Y = np.column_stack([X[:, 0] > 2, X[:, 1] + X[:, 2] > 4])
>>> model = {name}(random_state=1, verbose=0).fit(X, Y)
>>> probabilities = model.predict_proba(X)"""

# Of mixtures and partitions; a classifier has neither.
CLUSTERER_ONLY = ("family", "hyper", "family_settings", "select")

VIEWS = """
views_ : list of dict
    Views of the columns, largest first: names of `columns`, `cohesion` (mean probability that two of them share
    the view), and
    `labels`, `confidence` and number of `clusters` of the rows there.
column_coclustering_ : ndarray of shape (n_columns, n_columns)
    The fraction of draws in which two columns are in one view."""


def python_words(text):
    """Settings as keyword arguments where help texts name flags."""
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda found: f"`{found[1].replace('-', '_')}`", text)


def number(text):
    value = float(text)
    return int(value) if value.is_integer() and "." not in text and "e" not in text else value


def described(parameter):
    """Python name, type for people, annotation, default and help of an entry of a parameter table."""
    kind, fallback, choices = parameter["type"], parameter["default"], parameter["choices"]
    words = "{" + ", ".join(map(repr, choices)) + "}"
    if kind == "real":
        kinds = "float" if not choices else f"float or {words}"
        annotation = "float" if not choices else "float | str"
        default = None if not fallback else fallback if fallback in choices else float(fallback)
    elif kind == "integer":
        kinds, annotation, default = "int", "int", int(fallback) if fallback else None
    elif kind == "flag":
        kinds, annotation, default = "bool", "bool", fallback == "true"
    elif kind == "choice":
        kinds, annotation, default = words, "str", fallback or None
    elif kind == "numbers":
        kinds, annotation = "tuple of float", "Sequence[float]"
        default = tuple(map(number, re.findall(r"[-+.\de]+", fallback))) if fallback else None
    else:
        kinds, annotation = "str or list of str", "str | Sequence[str]"
        default = fallback or None
    if default is None:
        kinds, annotation = f"{kinds} or None", f"{annotation} | None"
    return parameter["name"].replace("-", "_"), kinds, annotation, default, python_words(parameter["help"])


def parameter_text(name, kinds, default, help_text):
    sentence = help_text[0].upper() + help_text[1:] + ("" if help_text.endswith(".") else ".")
    lines = textwrap.wrap(
        sentence, 104, initial_indent="        ", subsequent_indent="        ", break_on_hyphens=False
    )
    return "\n".join([f"    {name} : {kinds}, default={default!r}", *lines])


def class_text(model, run_parameters):
    name = CLASS_NAMES.get(model["name"], model["name"].upper())
    parameters = [described(entry) for entry in model["parameters"]]
    earlier = [(alias, entry["name"]) for entry in model["parameters"] for alias in entry["aliases"]]
    parameters += [
        (
            alias.replace("-", "_"),
            "any or None",
            "Any",
            None,
            f"Earlier form of `{name.replace('-', '_')}`, for one more release.",
        )
        for alias, name in earlier
    ]
    # A model that is fitted once has no chains.
    parameters += [described(entry) for entry in run_parameters if entry["name"] != "seed" and not model["runs_once"]]
    learns = model["learns_labels"]
    parameters += [entry for entry in SHARED if not (learns and entry[0] in CLUSTERER_ONLY)]
    attributes = ATTRIBUTES.replace(*GREEDY_LINKAGE) if model["greedy"] else ATTRIBUTES
    attributes = CLASSIFIER_ATTRIBUTES if learns else attributes
    example = (CLASSIFIER_EXAMPLE if learns else EXAMPLE).format(name=name)
    base = "LabelClassifier" if learns else "WeightedClusterer" if model["weights"] else "Clusterer"
    if not learns and model["incremental"]:
        base = "StreamingClusterer"
    family = "" if learns else f'    _only_family = "{model["family"]}"\n'
    attributes += VIEWS if model["views"] else ""
    summary = model["summary"][0].upper() + model["summary"][1:]
    keywords = "".join(f"        {key}: {annotation} = {default!r},\n" for key, _, annotation, default, _ in parameters)
    assignments = "".join(f"        self.{key} = {key}\n" for key, *_ in parameters)
    explained = "\n".join(parameter_text(key, kinds, default, text) for key, kinds, _, default, text in parameters)
    text = f'''

class {name}({base}):
    """{summary}.

    The model `{model["name"]}` of the command line, with the same settings and defaults.

    Parameters
    ----------
{explained}

    Attributes
    ----------
{textwrap.indent(attributes, "    ")}

    See Also
    --------
    coppice.open : A fitted estimator from a run file.

    Examples
    --------
    >>> import numpy as np
    >>> from coppice import {name}
{textwrap.indent(example, "    ")}
    """

    _model = "{model["name"]}"
    _parameters = {tuple([entry["name"] for entry in model["parameters"]] + [alias for alias, _ in earlier])!r}
{family}
    def __init__(
        self,
        *,
{keywords}    ) -> None:
{assignments}'''
    if model["name"] in ALIASES:
        text += f"\n\n{ALIASES[model['name']]} = {name}\n"
    return name, text


def module_text(native):
    names, classes = [], []
    for model in native.models():
        name, text = class_text(model, native.run_parameters())
        classes.append(text)
        names += [name] + ([ALIASES[model["name"]]] if model["name"] in ALIASES else [])
    by_model = ", ".join(f'"{m["name"]}": {CLASS_NAMES.get(m["name"], m["name"].upper())}' for m in native.models())
    return f'''"""The estimators, one for each model. This file is written by python/write_estimators.py."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from coppice._classifier import LabelClassifier
from coppice._clusterer import Clusterer, StreamingClusterer, WeightedClusterer
from coppice._estimator import Estimator

__all__ = {names!r}
{"".join(classes)}

BY_MODEL: dict[str, type[Estimator]] = {{{by_model}}}
'''


def main(folder, output):
    sys.path.insert(0, folder)
    import _native  # pylint: disable=import-outside-toplevel,import-error

    with open(output, "w", encoding="utf-8") as file:
        file.write(module_text(_native))


if __name__ == "__main__":
    main(*sys.argv[1:])
