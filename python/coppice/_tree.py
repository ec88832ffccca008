"""The hierarchy of a run as an object that other packages' trees can be made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coppice._run import Run


@dataclass(eq=False)
class Node:
    """A cluster of the hierarchy.

    Attributes
    ----------
    id : int
        Its number; the root is 0.
    parent : Node or None
    children : list of Node
    level, last_level : int
        The coarsest and the finest level at which the tree has this set of rows; the root is at level 0.
    number : str
        Its cluster's number as in the summary and the report: "3", or "2.3" for cluster 3 of level 2; empty for
        joins of clusters.
    name : str
        The name that it was given, or what distinguishes it from all other rows.
    support : float
        Posterior support: fraction of draws with a cluster of exactly these rows at that level; for a greedy model the
        probability that rows of its parts are together.
    overlap : float
        Mean Jaccard overlap with the most similar cluster of a draw.
    rows : ndarray of int
        Its rows, ascending.
    """

    id: int
    parent: Node | None
    level: int
    last_level: int
    number: str
    name: str
    support: float
    overlap: float
    rows: np.ndarray
    children: list[Node] = field(default_factory=list, repr=False)

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def is_leaf(self) -> bool:
        """Whether it is not divided further."""
        return not self.children

    def __repr__(self) -> str:
        return f"<Node {self.id}: {self.name!r}, {self.size} rows, {len(self.children)} children>"


class Tree:
    """The reported hierarchy: the tree nearest to all draws, without nodes that have no siblings. For a greedy model: its
    tree down to the clusters, whose joins are at level 0.

    Parameters
    ----------
    run : Run
        The run.
    select : str, default='vi'
        Which hierarchy, see the estimators.
    full : bool, default=False
        Keep nodes that have no siblings, so that every level is present.
    """

    def __init__(self, run: Run, select: str = "vi", full: bool = False) -> None:
        self._run, self._select, self._full = run, select, full
        self.levels: int = run.levels
        self.row_ids: list[str] = run.row_ids
        self.nodes: list[Node] = []
        by_id: dict[int, Node] = {}
        for entry in run._native.nodes(select, full):
            parent = entry.pop("parent")
            node = Node(parent=None if parent is None else by_id[parent], **entry)
            if node.parent is not None:
                node.parent.children.append(node)
            by_id[node.id] = node
            self.nodes.append(node)

    @property
    def root(self) -> Node:
        """All rows."""
        return self.nodes[0]

    @property
    def leaves(self) -> list[Node]:
        """Nodes that are not divided further, in the order of a drawing."""
        return [node for node in self.walk() if node.is_leaf]

    def walk(self) -> Iterator[Node]:
        """All nodes, parents before children, siblings by size."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(sorted(node.children, key=lambda child: child.size))

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return self.walk()

    def __repr__(self) -> str:
        return f"<coppice.Tree of {self.root.size} rows: {len(self)} nodes, {len(self.leaves)} leaves, {self.levels} levels>"

    def __str__(self) -> str:
        lines = []
        for node in self:
            depth = -1
            above: Node | None = node
            while above is not None:
                depth, above = depth + 1, above.parent
            lines.append(f"{'  ' * depth}{node.name} ({node.size} rows, support {node.support:.2f})")
        return "\n".join(lines)

    def row_order(self) -> np.ndarray:
        """The rows leaf after leaf."""
        return np.concatenate([node.rows for node in self.leaves])

    def to_newick(self) -> str:
        """Newick text with the rows as leaves and the support as names of nodes; of a greedy model all of its merges, with
        the probability that what is below is one cluster."""
        return self._run._native.newick(self._select, self._full)

    def to_linkage(self) -> np.ndarray:
        """SciPy's linkage matrix: levels are one unit apart, the rows of a leaf meet one unit above themselves. Of a greedy
        model: its tree, see Run.linkage."""
        if self._run._head["greedy"]:
            return self._run.linkage()
        merges: list[tuple[float, int, int, int]] = []

        def join(parts: list[tuple[Any, int]], height: float) -> tuple[Any, int]:
            first, size = parts[0]
            for other, count in parts[1:]:
                merges.append((height, first, other, size + count))
                first, size = ("merge", len(merges) - 1), size + count
            return first, size

        def build(node: Node) -> tuple[Any, int]:
            parts = [build(child) for child in node.children] if node.children else [(int(row), 1) for row in node.rows]
            return join(parts, float(self.levels + 1 - node.last_level))

        build(self.root)
        order = sorted(range(len(merges)), key=lambda k: (merges[k][0], k))
        rank = {k: place for place, k in enumerate(order)}
        rows = self.root.size

        def number(part: Any) -> int:
            return rows + rank[part[1]] if isinstance(part, tuple) else part

        lines = []
        for k in order:
            height, left, right, size = merges[k]
            lines.append([*sorted((number(left), number(right))), height, size])
        return np.array(lines, dtype=np.float64).reshape(-1, 4)

    def to_networkx(self) -> Any:
        """A networkx.DiGraph from parents to children; nodes carry name, level, size, support, overlap and rows."""
        import networkx

        graph = networkx.DiGraph()
        for node in self.nodes:
            graph.add_node(
                node.id,
                name=node.name,
                level=node.level,
                size=node.size,
                support=node.support,
                overlap=node.overlap,
                rows=node.rows.tolist(),
            )
            if node.parent is not None:
                graph.add_edge(node.parent.id, node.id)
        return graph

    def _table(self) -> dict[str, list[Any]]:
        return {
            "id": [node.id for node in self.nodes],
            "parent": [-1 if node.parent is None else node.parent.id for node in self.nodes],
            "level": [node.level for node in self.nodes],
            "size": [node.size for node in self.nodes],
            "support": [node.support for node in self.nodes],
            "overlap": [node.overlap for node in self.nodes],
            "name": [node.name for node in self.nodes],
            "rows": [[self.row_ids[row] for row in node.rows] for node in self.nodes],
        }

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a line for each node; the parent of the root is -1."""
        import pandas

        return pandas.DataFrame(self._table()).set_index("id")

    def to_polars(self) -> Any:
        """The same as a polars.DataFrame."""
        import polars

        return polars.DataFrame(self._table())

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draws the tree; see coppice.plot_tree."""
        from coppice._plots import plot_tree

        return plot_tree(self, ax=ax, **options)
