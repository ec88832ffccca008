"""Densities are those of the numbers as they were given, whatever a model does inside."""

import csv
import datetime as dt
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


def test_dates_come_back_as_dates(coppice):
    rng = np.random.default_rng(4)
    lines = ["joined,at,amount"]
    for row in range(80):
        late = row % 2
        day = dt.date(2022 if late else 2019, 3, 1) + dt.timedelta(days=int(rng.integers(60)))
        at = dt.datetime(2022, 3, 1, 18 if late else 8) + dt.timedelta(minutes=int(rng.integers(90)))
        shown = f"{day:%d.%m.%Y}" if row else ""
        lines.append(f"{shown},{at.isoformat() if row != 1 else ''},{rng.normal(6.0 * late, 1.0):.2f}")
    coppice.write("dates.csv", "\n".join(lines) + "\n")
    coppice("fit", "crosscat", "dates.csv", "--warmup", 100, "--draws", 200, "--chains", 2, "-q", "-o", "d.coppice")

    cells = list(csv.DictReader(io.StringIO(coppice("impute", "d.coppice").stdout)))
    assert [(cell["row"], cell["column"]) for cell in cells] == [("1", "joined"), ("2", "at")]
    for cell in cells:
        low, median, high = (dt.datetime.fromisoformat(cell[name]) for name in ("low", "median", "high"))
        assert low <= median <= high
        assert float(cell["sd"]) > 0.0
    assert dt.date(2019, 3, 1) <= dt.date.fromisoformat(cells[0]["median"]) <= dt.date(2019, 4, 30)
    assert cells[1]["median"].startswith("2022-03-01T18:") or cells[1]["median"].startswith("2022-03-01T19:")
    assert [cell["median"] for cell in coppice.json("impute", "d.coppice")] == [cell["median"] for cell in cells]

    rows = list(csv.DictReader(io.StringIO(coppice("impute", "d.coppice", "--completed").stdout)))
    written = [line.split(",") for line in lines[1:]]
    assert [row["at"] for row in rows if row["row"] != "2"] == [cells[1] for cells in written if cells[1]]
    days = [dt.datetime.strptime(cells[0], "%d.%m.%Y").date().isoformat() for cells in written if cells[0]]
    assert [row["joined"] for row in rows if row["row"] != "1"] == days
    assert rows[0]["joined"] == cells[0]["mean"]

    drawn = list(csv.DictReader(io.StringIO(coppice("sample", "d.coppice", "--n", 20).stdout)))
    assert {dt.date.fromisoformat(row["joined"]).year for row in drawn} <= set(range(2015, 2027))
    assert all(dt.datetime.fromisoformat(row["at"]).year in (2021, 2022) for row in drawn)
    profile = coppice("profile", "d.coppice").stdout
    assert " later: 20" in profile and " earlier: 20" in profile
    assert "2019-" in coppice("ask", "predict", "d.coppice", "joined", "--given", "amount=0").stdout
