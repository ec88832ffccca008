"""Greedy trees and trees of views from the command line against brute force: the cases of tests/reference, and where it is
there those of the folder of outside cases."""

import csv
import io
import json
import math
import os
import pathlib
import re

import numpy as np
import pytest
from conftest import ROOT

FOLDER = ROOT / "tests" / "reference"
OUTSIDE = pathlib.Path(os.environ.get("COPPICE_OUTSIDE_CASES", ROOT / ".." / "shared" / "specs" / "cases"))


def cases(beginning):
    """Those that are listed, whether or not they are there; of those from outside the ones that are."""
    listed = (FOLDER / "cases.txt").read_text(encoding="utf-8").split()
    files = [FOLDER / f"{name}.json" for name in listed if name.startswith(f"{beginning}_")]
    assert files, beginning
    return [pytest.param(file, id=file.stem) for file in files + sorted(OUTSIDE.glob(f"{beginning}_*.json"))]


def test_outside_cases_are_read_too():
    if not OUTSIDE.is_dir():
        pytest.skip(f"no folder {OUTSIDE}: only the cases of tests/reference were read")
    assert list(OUTSIDE.glob("*.json"))


FAMILIES = {
    "beta_binomial": lambda c: ("count", "binomial", {"trials": c["trials"], "a": c["a"], "b": c["b"]}),
    "beta_bernoulli": lambda c: ("binary", "bernoulli", {"a": c["a"], "b": c["b"]}),
    "gaussian": lambda c: (
        "real",
        "gaussian-diagonal",
        {"prior_mean": c["m0"], "mean_strength": c["k0"], "shape": c["a0"], "rate": c["b0"]},
    ),
    "categorical": lambda c: (
        "category",
        "categorical",
        {"levels": [str(i) for i in range(len(c["conc"]))], "concentration": c["conc"]},
    ),
    "gamma_poisson": lambda c: ("count", "poisson", {"shape": c["a"], "rate": c["b"]}),
}


def codebook(columns, names):
    text = ""
    for name, column in zip(names, columns):
        kind, family, settings = FAMILIES[column["family"]](column)
        text += f'[[column]]\nname = "{name}"\nkind = "{kind}"\nfamily = "{family}"\n'
        text += "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    return text


def table(rows, names):
    cells = ["row," + ",".join(names)]
    for i, row in enumerate(rows):
        cells.append(f"r{i}," + ",".join("" if cell is None else repr(cell) for cell in row))
    return "\n".join(cells) + "\n"


def close(value, expected):
    return math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-9)


def matrix(text):
    rows = list(csv.reader(io.StringIO(text)))
    return np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])


def newick_sets(text):
    """The sets of leaves below the inner nodes of a tree."""
    text = re.sub(r"\)[^,();]*", ")", re.sub(r":[-+0-9.eE]+", "", text.strip().rstrip(";")))
    found, stack, name = [], [set()], ""
    for letter in text:
        if letter in "(),":
            if name:
                stack[-1].add(name)
            name = ""
        if letter == "(":
            stack.append(set())
        elif letter == ")":
            done = stack.pop()
            found.append(frozenset(done))
            stack[-1] |= done
        elif letter not in "(),'":
            name += letter
    return set(found)


class Case:
    """A reference case, fitted by the program."""

    def __init__(self, coppice, path, model):
        content = json.loads(path.read_text(encoding="utf-8"))
        self.coppice, self.input, self.expected = coppice, content["case"], content["result"]
        self.names = [f"c{j}" for j in range(len(self.input["columns"]))]
        coppice.write("book.toml", codebook(self.input["columns"], self.names))
        coppice.write("table.csv", table(self.input["X"], self.names))
        coppice.write("new.csv", table(self.input["new_rows"], self.names))
        self.flags = ["--codebook", "book.toml", "--id", "row", "--alpha-rows", self.input["alpha"]]
        if model == "bhcc":
            self.flags += ["--inner", "full", "--alpha-columns", self.expected["alpha_cols"]]
        self.model = model
        self.fit("run.coppice")

    def fit(self, name, *flags):
        self.coppice("fit", self.model, "table.csv", "-o", name, "--overwrite", *self.flags, *flags)
        return self.coppice.json("summary", name)

    def check_merges(self, summary, items):
        assert close(summary["lower_bound"], self.expected["log_lower_bound"])
        assert len(summary["merges"]) == len(self.expected["merges"])
        for merge, wanted in zip(summary["merges"], self.expected["merges"]):
            assert [merge["node"], merge["left"], merge["right"], merge["size"]] == [
                wanted["node"],
                wanted["left"],
                wanted["right"],
                len(wanted[items]),
            ]
            assert close(merge["log_odds"], wanted["logit_r"])

    def check_predictives(self):
        answers = self.coppice.json("predict", "run.coppice", "new.csv")
        for answer, wanted in zip(answers, self.expected["new_rows"], strict=True):
            assert close(answer["log_density"], wanted["log_p"]), wanted
            assert math.isclose(sum(answer["probabilities"]) + answer["new"], 1.0, rel_tol=1e-9)
        self.check_cells(
            self.coppice.json("impute", "run.coppice"), [(f"r{cell['row']}", cell) for cell in self.expected["missing"]]
        )
        if "conditional" in self.expected:
            rows = [
                next(i for i, x in enumerate(self.input["new_rows"]) if x == cell["x"])
                for cell in self.expected["conditional"]
            ]
            self.check_cells(
                self.coppice.json("impute", "run.coppice", "new.csv"),
                [(f"r{row}", cell) for row, cell in zip(rows, self.expected["conditional"])],
            )

    def check_cells(self, answers, expected):
        found = {(cell["row"], cell["column"]): cell for cell in answers}
        assert len(found) == len(expected)
        for row, wanted in expected:
            answer = found[(row, self.names[wanted["col"]])]
            if "mean" not in wanted:
                continue
            probabilities = np.exp(wanted["log_p"])
            if answer["probabilities"]:
                assert np.allclose(answer["probabilities"], probabilities, rtol=1e-9, atol=1e-12)
            else:
                assert close(answer["mean"], wanted["mean"])
                known = 1 + max(row[wanted["col"]] or 0 for row in self.input["X"])  # values that were seen
                assert int(answer["mode"]) == np.argmax(probabilities[:known])
                assert close(answer["probability"], max(probabilities[:known]))
                second = sum(x * x * p for x, p in zip(wanted["values"], probabilities))
                assert math.isclose(answer["sd"], math.sqrt(second - wanted["mean"] ** 2), rel_tol=1e-7)

    def check_new_columns(self):
        for new in self.expected["new_columns"]:
            self.coppice.write("column.toml", codebook([new["column"]], ["y"]))
            self.coppice.write("column.csv", table([[cell] for cell in new["y"]], ["y"]))
            (answer,) = self.coppice.json(
                "predict", "run.coppice", "column.csv", "--columns", "--codebook", "column.toml"
            )
            assert answer["column"] == "y" and close(answer["log_density"], new["log_p"])


@pytest.mark.parametrize("path", cases("bhc"))
def test_trees_over_rows(coppice, path):
    case = Case(coppice, path, "bhc")
    summary = coppice.json("summary", "run.coppice")
    case.check_merges(summary, "rows")
    together = matrix(coppice("export", "run.coppice", "--what", "coclustering").stdout)
    assert np.allclose(together, case.expected["tree_row_coassign"], rtol=1e-9, atol=1e-12)
    linkage = list(csv.DictReader(io.StringIO(coppice("export", "run.coppice", "--what", "linkage").stdout)))
    heights = [float(row["height"]) for row in linkage]
    assert heights == sorted(heights) and len(linkage) == len(case.expected["merges"])
    for row, wanted in zip(linkage, case.expected["merges"]):
        assert close(float(row["log_odds"]), wanted["logit_r"])
    for flags, groups in ((["--clusters", "cut"], "cut_0.5"), (["--clusters", "map"], "map_tree_partition")):
        case.fit("flat.coppice", *flags)
        labels = list(csv.reader(io.StringIO(coppice("export", "flat.coppice", "--what", "labels").stdout)))[1][3:]
        found = {}
        for row, label in enumerate(labels):
            found.setdefault(label, []).append(row)
        assert sorted(found.values()) == sorted(case.expected[groups])
    sets = newick_sets(coppice("tree", "run.coppice", "--format", "newick").stdout)
    assert sets == {frozenset(f"r{i}" for i in merge["rows"]) for merge in case.expected["merges"]}
    case.check_predictives()
    case.check_new_columns()


def division_flags(rules, levels, name, priority):
    return [
        "--randomized",
        "--threshold",
        rules["B"],
        "--subset",
        rules["m"],
        f"--{name}",
        rules.get(levels) or 0,
        f"--{priority}",
        ",".join(map(str, rules["prio"])),
    ]


def check_division(summary, expected, items):
    """Merges of a divided tree, by the sets of their items; blocks are leaves."""
    assert close(summary["lower_bound"], expected["log_lower_bound"])
    members = {item: {item} for item in range(items)}
    found = {}
    for merge in summary["merges"]:
        if "left" not in merge:
            members[merge["node"]] = set(merge.get("rows", merge.get("columns")))
            continue
        members[merge["node"]] = members[merge["left"]] | members[merge["right"]]
        found[",".join(map(str, sorted(members[merge["node"]])))] = merge["log_odds"]
    assert found.keys() == expected["logit_r"].keys()
    for key, log_odds in found.items():
        assert close(log_odds, expected["logit_r"][key]), key


@pytest.mark.parametrize("path", cases("bhc"))
def test_divided_trees_over_rows(coppice, path):
    case = Case(coppice, path, "bhc")
    if "rbhc" not in case.expected:
        pytest.skip("this case has no division")
    summary = case.fit("divided.coppice", *division_flags(case.input["rbhc"], "K", "row-filter-levels", "row-priority"))
    check_division(summary, case.expected["rbhc"], len(case.input["X"]))
    many = case.fit("all.coppice", "--randomized", "--threshold", 50)
    case.check_merges(many, "rows")


@pytest.mark.parametrize("path", cases("bhcc"))
def test_trees_of_views(coppice, path):
    case = Case(coppice, path, "bhcc")
    summary = coppice.json("summary", "run.coppice")
    case.check_merges(summary, "cols")
    together = matrix(coppice("export", "run.coppice", "--what", "columns").stdout)
    assert np.allclose(together, case.expected["tree_col_coassign"], rtol=1e-9, atol=1e-12)
    for flags, groups in (([], "views_cut_0.5"), (["--clusters", "map"], "views_map")):
        views = case.fit("flat.coppice", *flags)["views"]
        found = sorted(sorted(case.names.index(name) for name in view["columns"]) for view in views)
        assert found == sorted(case.expected[groups])
    wanted = {tuple(merge["cols"]): merge for merge in case.expected["merges"]}
    for number, view in enumerate(coppice.json("views", "run.coppice")["views"], start=1):
        columns = tuple(sorted(case.names.index(name) for name in view["columns"]))
        if columns in wanted:
            groups = {}
            for row, label in enumerate(view["labels"]):
                groups.setdefault(label, []).append(row)
            assert sorted(groups.values()) == wanted[columns]["row_cut_0.5"]
            sets = newick_sets(coppice("tree", "run.coppice", "--view", number, "--format", "newick").stdout)
            topology = re.sub(r"(\d+)", r"r\1", wanted[columns]["row_topology"])
            assert sets == newick_sets(topology)
    sets = newick_sets(coppice("tree", "run.coppice", "--columns", "--format", "newick").stdout)
    assert sets == {frozenset(case.names[j] for j in merge["cols"]) for merge in case.expected["merges"]}
    case.check_predictives()
    case.check_new_columns()


@pytest.mark.parametrize("path", cases("bhcc"))
def test_divided_trees_of_views(coppice, path):
    case = Case(coppice, path, "bhcc")
    if "rbhcc" not in case.expected:
        pytest.skip("this case has no division")
    rules, expected = case.input["rbhcc"], case.expected["rbhcc"]
    flags = division_flags(rules, "L", "filter-levels", "column-priority") + ["--filter", rules["filter"]]
    check_division(case.fit("divided.coppice", *flags, "--consolidate", "off"), expected, len(case.names))
    whole = case.fit("whole.coppice", *flags)
    assert close(whole["lower_bound"], expected["consolidated"]["log_lower_bound"])
    found = sorted(sorted(case.names.index(name) for name in view["columns"]) for view in whole["views"])
    assert found == expected["consolidated"]["views"]
