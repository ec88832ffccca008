"""A run: draws, traces, configuration and the answers that need them. Its file is the command line's run file."""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
import shutil
import tempfile
import weakref
from typing import Any

import numpy as np

from coppice import _native


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


class Run:
    """A run file opened for questions.

    Parameters
    ----------
    path : path
        Run file, as written by an estimator or by the command line.

    Attributes
    ----------
    path : str
        The file.
    model : str
        Name of the model.
    rows, levels, chains, draws : int
        Size of the run; `draws` is the number that every chain has.
    complete : bool
        Whether it has as many draws as requested.
    trusted : bool
        Whether the chains agree and are long enough.
    verdict : str
        The same in a sentence.
    inexactness_note : str
        Why the draws are not those of a posterior; empty if they are.
    notes : list of str
        Settings that were chosen automatically.
    family : str
        Which family models which columns.
    configuration : dict
        All settings of the run.
    row_ids : list of str
        Names of the rows.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._open(os.fspath(path))

    def _open(self, path: str) -> None:
        self._native = _native.Run(path)
        self._head = self._native.head()
        self._answers: dict[Any, Any] = {}

    @classmethod
    def _in_folder(cls, folder: str) -> Run:
        """A run in a temporary folder that lives as long as the run."""
        run = cls(os.path.join(folder, "run.coppice"))
        weakref.finalize(run, _remove, folder)
        return run

    def __getstate__(self) -> dict[str, Any]:
        return {"bytes": pathlib.Path(self.path).read_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        folder = tempfile.mkdtemp(prefix="coppice-")
        weakref.finalize(self, _remove, folder)
        path = os.path.join(folder, "run.coppice")
        pathlib.Path(path).write_bytes(state["bytes"])
        self._open(path)

    def __repr__(self) -> str:
        return f"<coppice.Run of {self.model}: {self.rows} rows, {self.chains} chains of {self.draws} draws>"

    def _in_python_words(self, sentence: str) -> str:
        """Advice names commands and flags; here they are methods and keyword arguments."""
        sentence = sentence.replace(f" {self.path}", " RUN")
        sentence = re.sub(
            r"coppice resume RUN --draws \+(\d+)",
            lambda found: f"resume(draws={self._head['asked_draws'] + int(found[1])})",
            sentence,
        )
        for command, call in (
            ("coppice resume RUN", "resume()"),
            ("coppice score RUN TEST.csv", "label_scores(X, y)"),
            ("coppice compare RUN OTHER", "coppice.compare(run, other)"),
        ):
            sentence = sentence.replace(command, call)
        return re.sub(r"--([a-z][a-z0-9-]*)", lambda found: found[1].replace("-", "_"), sentence)

    def _once(self, key: Any, make: Any) -> Any:
        if key not in self._answers:
            self._answers[key] = make()
        return self._answers[key]

    @property
    def path(self) -> str:
        return self._head["path"]

    @property
    def model(self) -> str:
        return self._head["model"]

    @property
    def rows(self) -> int:
        return self._head["rows"]

    @property
    def levels(self) -> int:
        return self._head["levels"]

    @property
    def chains(self) -> int:
        return self._head["chains"]

    @property
    def draws(self) -> int:
        return self._head["draws"]

    @property
    def complete(self) -> bool:
        return self._head["complete"]

    @property
    def trusted(self) -> bool:
        return self._once("verdict", self._native.verdict)[0]

    @property
    def verdict(self) -> str:
        return self._in_python_words(self._once("verdict", self._native.verdict)[1])

    @property
    def inexactness_note(self) -> str:
        return self._in_python_words(self._head["inexactness_note"])

    @property
    def notes(self) -> list[str]:
        return [self._in_python_words(note) for note in self._head["notes"]]

    @property
    def family(self) -> str:
        return self._head["family"]

    @property
    def configuration(self) -> dict[str, Any]:
        return json.loads(self._head["configuration"])

    @property
    def row_ids(self) -> list[str]:
        return self._once("row_ids", self._native.row_ids)

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Name, kind, levels and unit (what the numbers of dates and times count) of each column as it is modeled."""
        return self._once("columns", self._native.columns)

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The same for the columns of new rows, before standardizing and principal components."""
        return self._once("inputs", self._native.inputs)

    @property
    def trace_names(self) -> list[str]:
        return self._native.trace_names()

    def traces(self) -> dict[str, np.ndarray]:
        """Every trace by name, chains x draws."""
        return dict(zip(self.trace_names, self._once("traces", self._native.traces)))

    def labels(self, level: int = 1) -> np.ndarray:
        """Clusters of all rows in every draw: chains x draws x rows. Numbers of clusters mean nothing across draws."""
        return self._native.labels(level)

    def coclustering(self, level: int = 1) -> np.ndarray:
        """The fraction of draws in which two rows are together: rows x rows. For a greedy model: its probability over the
        partitions that cutting its tree can give."""
        return self._once(("coclustering", level), lambda: self._native.coclustering(level, 0))

    def linkage(self, level: int | None = None) -> np.ndarray:
        """Average-linkage tree of a level, or of the average over all levels, in SciPy's form."""
        return self._once(("linkage", level), lambda: self._native.linkage(level or 0))

    def column_linkage(self) -> np.ndarray:
        """The tree over the columns in SciPy's form; only of models that have one. Height: -log of the probability that all
        columns below are one view."""
        return self._once("column_linkage", self._native.column_linkage)

    def consensus(
        self, level: int = 1, select: str = "vi", cost_ratio: float = 1.0, clusters: int | None = None
    ) -> dict[str, Any]:
        """The point estimate: labels, confidence of each row, clusters, expected_loss, ball_radius, and unassigned, the
        rows (by place) that are alone in it but in less than half of the draws. Of flat models: `cost_ratio` is what
        joining rows that belong apart costs, beside separating rows that belong together; `clusters` is the largest
        number of clusters."""
        if not cost_ratio > 0 or not math.isfinite(cost_ratio):
            raise ValueError(f"cost_ratio must be a positive number, not {cost_ratio}")
        if clusters is not None and clusters < 1:
            raise ValueError(f"clusters must be at least 1, not {clusters}")
        return self._once(
            ("consensus", level, select, cost_ratio, clusters),
            lambda: self._native.consensus(level, select, cost_ratio, clusters or 0),
        )

    def membership(self, level: int = 1, select: str = "vi") -> np.ndarray:
        """Probability that each row belongs to each cluster; the last column is a cluster of its own."""
        return self._once(
            ("membership", level, select),
            lambda: self._native.membership(level, self.consensus(level, select)["labels"]),
        )

    def profiles(self, level: int = 1, select: str = "vi", traits: int = 5) -> list[dict[str, Any]]:
        """What makes each cluster different: traits in words and numbers, exemplars, outliers."""
        return self._once(("profiles", level, select, traits), lambda: self._native.profiles(level, select, traits))

    def cluster_names(self, level: int = 1, select: str = "vi") -> list[str]:
        """The name of each cluster of the point estimate, by its number: what `rename` called it, or what distinguishes it
        from all other rows."""
        return self._once(("cluster_names", level, select), lambda: self._native.cluster_names(level, select))

    def rename(self, cluster: int, name: str, level: int = 1, select: str = "vi") -> None:
        """Gives a cluster of the point estimate a name, which is kept in the run file and used by all answers; an empty
        name takes it away. The name stays with the rows of the cluster, also when the run is resumed."""
        self._native.rename(cluster, name, level, select)
        self._open(self.path)

    @property
    def label_names(self) -> list[str]:
        """The labels that were learned; empty for a run of a clustering model."""
        return list(self._head["labels"])

    def known_labels(self) -> np.ndarray:
        """The labels of the training rows, rows x labels: 0, 1 or NaN."""
        return self._once("known_labels", self._native.known_labels)

    def patterns(self) -> list[dict[str, Any]]:
        """Clusters of a run that learned labels, largest first: number, fraction of the rows, and the expected value of every
        label and feature, with the features' log_ratios over all rows."""
        return self._once("patterns", self._native.patterns)

    def _all_views(self, select: str) -> tuple[list[dict[str, Any]], np.ndarray]:
        if not self._head["views"]:
            raise AttributeError(f"the model {self.model} has one view of all columns")
        return self._once(("views", select), lambda: self._native.views(select))

    def views(self, select: str = "vi") -> list[dict[str, Any]]:
        """Views of the columns, largest first: columns, cohesion, and labels, confidence and clusters of the rows."""
        names = [column["name"] for column in self.columns]
        return [{**view, "columns": [names[j] for j in view["columns"]]} for view in self._all_views(select)[0]]

    def column_coclustering(self, select: str = "vi") -> np.ndarray:
        """The fraction of draws in which two columns are in one view: columns x columns."""
        return self._all_views(select)[1]

    def imputed(self) -> list[dict[str, Any]]:
        """Imputed values with uncertainty: row, column, mean, sd, low and high (90 %), or mode and probability."""
        return self._once("imputed", self._native.imputed)

    def sample(self, rows: int = 100, seed: int = 1) -> dict[str, list[Any]]:
        """New rows drawn from the posterior predictive, by column: numbers in the units of the data, levels and dates as
        texts."""
        if rows < 1:
            raise ValueError(f"rows must be at least 1, not {rows}")
        return {name: cells for name, _, cells in self._native.sample(int(rows), int(seed), 0)}

    def log_likelihood(self) -> np.ndarray:
        """log p(row | all other rows, draw without the row) in the units of the data: chains x draws x rows. From it
        leave-one-out cross-validation is computed (`arviz.loo`). Greedy models have none."""
        return self._once("log_likelihood", lambda: self._native.log_likelihood(0))

    def depend(self, *columns: str, draws: int | None = None) -> list[dict[str, Any]]:
        """How much columns tell about each other: the mutual information of two cells of a new row.

        Parameters
        ----------
        *columns : str
            None: all pairs; one: it and each of the others; more: all pairs of these.
        draws : int, optional
            Draws to average over; by default at most 200.

        Returns
        -------
        pairs : list of dict
            The most dependent first: first, second, mutual_information in nats with its 90 % interval over the draws
            (low, high), correlation (Linfoot's informational coefficient), share_of_first and share_of_second (the part
            of the entropy of a discrete column that the other one explains) and same_view, the fraction of draws with
            both columns in one view. None where it does not apply.
        """
        names = [column["name"] for column in self.columns]
        if len(columns) == 1:
            pairs = [(columns[0], name) for name in names if name != columns[0]]
        else:
            chosen = list(columns) or names
            pairs = [(a, b) for i, a in enumerate(chosen) for b in chosen[i + 1 :]]
        found = json.loads(self._native.depend(pairs, draws or 0, 0))
        return sorted(found, key=lambda pair: -pair["mutual_information"])

    def anomalies(self, X: Any = None, top: int = 10, draws: int | None = None) -> list[dict[str, Any]]:
        """Unusual rows and the cells that make them so.

        Parameters
        ----------
        X : array-like or DataFrame, optional
            New rows. By default the rows of the fit, each judged by all others.
        top : int, default=10
            Rows to return; 0: all.
        draws : int, optional
            Draws to average over; by default at most 200.

        Returns
        -------
        rows : list of dict
            The most unusual first: row, log_density, excess (against the mean of the rows, in nats) and cells, the
            responsible ones, with column, value, log_density given the other cells of the row, excess (against what is
            typical of the column) and what was expected.
        """
        frame = None
        if X is not None:
            from coppice._tables import plain_frame

            frame = plain_frame(X, [column["name"] for column in self.inputs])
        return json.loads(self._native.anomalies(frame, int(top), draws or 0, 0))

    def similar(
        self, row: str | int, other: str | int | None = None, given: list[str] | None = None, level: int = 1
    ) -> Any:
        """The probability that two rows belong to one cluster.

        Parameters
        ----------
        row, other : str or int
            Names of rows, or their places from 0. Without `other`: all rows.
        given : list of str, optional
            The columns to judge by. Models with views: the mean over the views of these columns. Others: the
            probability if only these cells of the rows were known.
        level : int, default=1
            Level of the hierarchy, 1 is the coarsest.

        Returns
        -------
        similarity : float or ndarray of shape (rows,)
            The probability for `other`, or for every row.
        """
        found = self._native.similar(self._row_place(row), list(given or []), level, 0)
        return found if other is None else float(found[self._row_place(other)])

    def predict_cell(self, column: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
        """What a cell of a new row would be if others were known: its posterior predictive.

        Parameters
        ----------
        column : str
            The column to predict.
        given : dict, optional
            Known cells: values by column.

        Returns
        -------
        cell : dict
            mean, sd, median, low and high (90 %) of numbers; mode, its probability and probabilities by level.
        """
        known = [
            (str(name), value if isinstance(value, str) else repr(float(value)))
            for name, value in (given or {}).items()
        ]
        return json.loads(self._native.predict_cells([column], self._as_levels(known), 0))[0]

    def _as_levels(self, known: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Numbers that name a level are written as the level is."""
        levels = {column["name"]: column["levels"] for column in self.columns}

        def text(name: str, value: str) -> str:
            for level in levels.get(name, []):
                try:
                    if value == level or float(value) == float(level):
                        return level
                except ValueError:
                    continue
            return value

        return [(name, text(name, value)) for name, value in known]

    def _row_place(self, row: str | int) -> int:
        if isinstance(row, str):
            if row not in self.row_ids:
                raise KeyError(f"the run has no row named {row!r}")
            return self.row_ids.index(row)
        if not 0 <= int(row) < self.rows:
            raise IndexError(f"row {row} of {self.rows}")
        return int(row)

    def data(self, original: bool = True) -> np.ndarray:
        """The table, rows x columns, in the units of the data or as modeled; categories as codes."""
        return self._once(("data", original), lambda: self._native.cells(original))

    def cluster_counts(self) -> list[dict[str, Any]]:
        """Prior and posterior of the number of clusters at each level: mean, sd and a 90 % interval (q05 to q95) of both,
        their total variation, and prior_dominates if the data have hardly changed what the prior says."""
        return self._once("cluster_counts", lambda: json.loads(self._native.cluster_counts()))

    def column_separation(self) -> list[dict[str, Any]]:
        """What the model learned about each column, the most separating first: its spread overall and within a cluster
        (standard deviations in the units of the data; of categories how often two rows differ), and between, the share
        of its variance that is between clusters. Empty for models with several levels or views."""
        return self._once("column_separation", lambda: json.loads(self._native.column_separation()))

    def learned_values(self) -> list[dict[str, Any]]:
        """The learned hyper-parameters of each column, or of a joint block of columns (column is then empty): mean, sd and
        a 90 % interval (q05 to q95) over the draws. prior_mean is where clusters are expected and cluster_sd how wide
        they are expected to be, in the units of the data (on the log scale if transform is "log"). Entries with a level
        are its probability in a cluster. Empty if nothing was learned."""
        return self._once("learned_values", lambda: json.loads(self._native.learned_values()))

    def diagnostics(self) -> dict[str, Any]:
        """Verdict with what is behind it (see trust), trace summaries and acceptance rates."""
        return {
            "trusted": self.trusted,
            "verdict": self.verdict,
            "inexactness_note": self.inexactness_note,
            "seconds": self._head["seconds"],
            "traces": {entry.pop("name"): entry for entry in self._native.trace_summaries()},
            "moves": self._native.moves(),
            **self.trust(),
        }

    def trust(self) -> dict[str, Any]:
        """What is behind the verdict: converged and diffuse; fit, the posterior predictive checks; undecided_pairs;
        modes, separate answers with their weights; disagreement, what the chains disagree on (None if they agree);
        remedies, the most promising first; safe, what can be used all the same; partition_traces, the diagnostics of
        who is with whom. Empty lists and None for runs without chains."""

        def words(value: Any) -> Any:
            return [self._in_python_words(entry) for entry in value]

        found = self._once("trust", lambda: json.loads(self._native.trust()))
        return {**found, "remedies": words(found["remedies"]), "safe": words(found["safe"])}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the run file somewhere else; an existing file is not replaced."""
        with open(path, "xb") as file:
            file.write(pathlib.Path(self.path).read_bytes())
