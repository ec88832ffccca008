"""Densities are those of the numbers as they were given, whatever a model does inside."""

import csv
import io
import math

import numpy as np
import pytest


def log_densities(coppice, scale):
    """Of a classifier's rows, with its two real features in other units."""
    rng = np.random.default_rng(3)
    group = np.arange(60) % 2
    features = rng.normal(6.0 * group[:, None] - 3.0, 1.0, (60, 2)) * scale
    lines = [f"{x:.12g},{y:.12g},{g}" for (x, y), g in zip(features, group)]
    name = coppice.write(f"scaled{scale}.csv", "x,y,label_a\n" + "\n".join(lines) + "\n")
    options = ("--labels", "label_a", "--truncation", 4, "--restarts", 1, "--min-positives", 3)
    coppice("fit", "bnmc", name, *options, "-q", "-o", "r.coppice", "--overwrite")
    rows = csv.DictReader(io.StringIO(coppice("predict", "r.coppice", name).stdout))
    return np.array([float(row["log_density"]) for row in rows])


def test_densities_of_a_classifier_follow_the_units(coppice):
    plain, thousands = log_densities(coppice, 1), log_densities(coppice, 1000)
    assert thousands - plain == pytest.approx(np.full(60, -2 * math.log(1000)), abs=1e-6)
