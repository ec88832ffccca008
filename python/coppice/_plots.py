"""Plots of a run with matplotlib: trees, co-clustering, traces, profiles and clusters in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from coppice._tree import Node, Tree

# Okabe and Ito's colors, which are safe for every kind of color vision; gray stands for "many more".
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000"]


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as problem:
        raise ImportError(
            "plots need matplotlib, which is not installed; install it, or coppice with the extra 'plot': "
            'pip install "coppice[plot]"'
        ) from problem
    return pyplot


def _axes(ax: Any, width: float = 7.0, height: float = 5.0) -> Any:
    if ax is not None:
        return ax
    return _pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def _colors(sizes: Any) -> list[str]:
    """A color for each of the largest clusters, gray for the others."""
    rank = np.argsort(np.argsort(-np.asarray(sizes), kind="stable"), kind="stable")
    return [PALETTE[place] if place < len(PALETTE) else "#999999" for place in rank]


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _place_nodes(tree: Tree) -> tuple[dict[int, float], dict[int, int], int]:
    """Vertical places of all nodes, their steps from the root, and the number of lines."""
    places: dict[int, float] = {}
    depths: dict[int, int] = {}
    line = 0

    def place(node: Node, depth: int) -> None:
        nonlocal line
        depths[node.id] = depth
        for child in sorted(node.children, key=lambda child: -child.size):
            place(child, depth + 1)
        if node.is_leaf:
            places[node.id] = line
            line += 1
        else:
            places[node.id] = float(np.mean([places[child.id] for child in node.children]))

    place(tree.root, 0)
    return places, depths, line


def plot_tree(model: Any, ax: Any = None, rows: int = 6) -> Any:
    """The hierarchy from left to right; line width shows the size of a node, darkness its support.

    Parameters
    ----------
    model : estimator or Tree
        A fitted estimator, or its `tree_`.
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.
    rows : int, default=6
        Names of rows to write beside a leaf.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.
    """
    tree = model if isinstance(model, Tree) else model.tree_
    places, depths, lines = _place_nodes(tree)
    ax = _axes(ax, 11.0, max(2.5, 0.62 * lines + 0.9))
    deepest = max(depths.values())
    # As many letters as fit between two levels.
    room = max(12, int(0.66 * 11.0 / (deepest + 0.83) / 0.068))
    for node in tree:
        x, y = depths[node.id], places[node.id]
        shade = 0.75 - 0.75 * node.support
        if node.parent is not None:
            above_x, above_y = depths[node.parent.id], places[node.parent.id]
            width = 1.0 + 7.0 * np.sqrt(node.size / tree.root.size)
            ax.plot(
                [above_x, above_x + 0.12, above_x + 0.28, x],
                [above_y, above_y, y, y],
                color=str(shade),
                linewidth=width,
                solid_capstyle="round",
                solid_joinstyle="round",
                zorder=1,
            )
            ax.annotate(
                _shortened(node.name, room),
                (above_x + 0.3, y),
                xytext=(2, 5),
                textcoords="offset points",
                fontsize=8,
                va="bottom",
            )
            ax.annotate(
                f"{node.size} rows · {100 * node.support:.0f} %",
                (above_x + 0.3, y),
                xytext=(2, -5),
                textcoords="offset points",
                fontsize=7,
                va="top",
                color="0.35",
            )
        ax.plot([x], [y], "o", color=str(shade), markersize=5, zorder=2)
        if node.is_leaf and rows:
            names = ", ".join(tree.row_ids[row] for row in node.rows[:rows])
            more = "" if node.size <= rows else f", … {node.size - rows} more"
            ax.annotate(
                _shortened(names, 60) + more,
                (x, y),
                xytext=(8, 0),
                textcoords="offset points",
                fontsize=8,
                va="center",
                color="0.25",
            )
    ax.set_xlim(-0.08, deepest + 0.75 if rows else deepest + 0.1)
    ax.set_ylim(lines - 0.4, -0.6)
    ax.set_axis_off()
    meaning = "that its rows are together" if tree._run._head["greedy"] else "share of draws with exactly this cluster"
    ax.set_title(f"{tree.root.size} rows. Percentages and darkness: {meaning}", fontsize=9, loc="left")
    return ax


def plot_coclustering(model: Any, level: int = 1, ax: Any = None) -> Any:
    """How often two rows are in the same cluster, rows in the order of the tree.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    level : int, default=1
        Level of the hierarchy.
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.
    """
    run = model.run_
    matrix = run.coclustering(level)
    labels = run.consensus(level, model.select)["labels"]
    order = np.array(_leaf_order(run.linkage(level)))
    # Clusters together, as the tree of the draws has them.
    first = {label: place for place, label in reversed(list(enumerate(labels[order])))}
    order = order[np.argsort([first[label] for label in labels[order]], kind="stable")]
    ax = _axes(ax, 6.2, 5.4)
    image = ax.imshow(matrix[np.ix_(order, order)], cmap="cividis", vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.figure.colorbar(
        image,
        ax=ax,
        label="probability of being together" if run._head["greedy"] else "share of draws together",
        shrink=0.85,
    )
    for edge in np.flatnonzero(np.diff(labels[order])) + 0.5:
        ax.axhline(edge, color="white", linewidth=0.6)
        ax.axvline(edge, color="white", linewidth=0.6)
    if len(order) <= 60:
        names = [_shortened(run.row_ids[row], 18) for row in order]
        size = 8 if len(order) <= 30 else 6
        ax.set_xticks(range(len(order)), names, rotation=90, fontsize=size)
        ax.set_yticks(range(len(order)), names, fontsize=size)
    else:
        ax.set_xlabel("rows, in the order of the tree")
        ax.set_ylabel("rows, in the order of the tree")
    ax.set_title(
        f"Co-clustering{f' at level {level}' if run.levels > 1 else ''}, {len(set(labels))} clusters", fontsize=10
    )
    return ax


def _leaf_order(linkage: np.ndarray) -> list[int]:
    rows = len(linkage) + 1
    order: list[int] = []
    waiting = [2 * rows - 2]
    while waiting:
        node = waiting.pop()
        if node < rows:
            order.append(node)
        else:
            waiting += [int(linkage[node - rows, 1]), int(linkage[node - rows, 0])]
    return order


def plot_traces(model: Any, names: list[str] | None = None, axes: Any = None) -> Any:
    """Every trace, one color for each chain, with R-hat and effective draws.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    names : list of str or None
        Traces to draw; None: all that are not constant.
    axes : array of matplotlib Axes or None
        Where to draw, one for each trace; None makes a figure.

    Returns
    -------
    axes : ndarray of matplotlib Axes
        The drawings.
    """
    traces = model.run_.traces()
    summaries = model.diagnostics_["traces"]
    if names is None:
        names = [name for name in traces if not summaries[name]["constant"]] or list(traces)
    if axes is None:
        axes = (
            _pyplot()
            .subplots(
                len(names), 1, figsize=(8.0, 0.5 + 1.35 * len(names)), sharex=True, squeeze=False, layout="constrained"
            )[1]
            .ravel()
        )
    axes = np.atleast_1d(axes)
    for ax, name in zip(axes, names, strict=True):
        for chain, values in enumerate(traces[name]):
            ax.plot(values, color=PALETTE[chain % len(PALETTE)], linewidth=0.7, alpha=0.8)
        entry = summaries[name]
        ax.set_title(
            f"{name}: mean {entry['mean']:.4g}, R-hat {entry['rhat']:.3f}, effective draws {entry['ess_bulk']:.0f}",
            fontsize=8,
            loc="left",
        )
        ax.tick_params(labelsize=7)
        ax.margins(x=0)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    axes[-1].set_xlabel("draw", fontsize=8)
    return axes


def plot_profiles(model: Any, level: int = 1, traits: int = 4, ax: Any = None) -> Any:
    """What makes each cluster different: its strongest traits, by how well they distinguish it from the other rows.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    level : int, default=1
        Level of the hierarchy.
    traits : int, default=4
        Traits of each cluster.
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter

    profiles = sorted(model.run_.profiles(level, model.select, traits), key=lambda profile: -profile["size"])
    lines = sum(1.6 + len(profile["traits"]) for profile in profiles)
    ax = _axes(ax, 8.0, max(2.0, 0.27 * lines + 0.8))
    y = 0.0
    colors = _colors([profile["size"] for profile in sorted(profiles, key=lambda profile: profile["cluster"])])
    largest = max((trait["divergence"] for profile in profiles for trait in profile["traits"]), default=1.0)
    for profile in profiles:
        size = profile["size"]
        ax.text(
            0.0,
            y,
            f"cluster {profile['cluster']}: {size} row{'s' if size != 1 else ''}, "
            f"confidence {100 * profile['confidence']:.0f} %",
            fontsize=9,
            fontweight="bold",
            va="center",
            color="black",
        )
        y += 1.0
        for trait in profile["traits"]:
            ax.barh(y, trait["divergence"], height=0.72, color=colors[profile["cluster"]], alpha=0.85)
            ax.annotate(
                trait["words"],
                (trait["divergence"], y),
                xytext=(5, 0),
                textcoords="offset points",
                fontsize=8,
                va="center",
            )
            y += 1.0
        y += 0.6
    ax.set_ylim(y - 0.3, -0.9)
    # Divergences differ by orders of magnitude; their square roots are like distances.
    ax.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0.0)), np.square))
    ax.set_xlim(0.0, 3.6 * largest)
    ax.xaxis.set_major_locator(FixedLocator([largest * share for share in (0.0, 0.1, 0.4, 1.0)]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    ax.set_yticks([])
    ax.set_xlabel("divergence from the other rows (nats)", fontsize=8)
    ax.tick_params(labelsize=8)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return ax


def plot_views(model: Any, axes: Any = None) -> Any:
    """The table redrawn as its views side by side, the rows of each in the order of their clusters there.

    Parameters
    ----------
    model : estimator
        A fitted estimator of a model that has views.
    axes : array of matplotlib Axes or None
        Where to draw, one for each view; None makes a figure.

    Returns
    -------
    axes : ndarray of matplotlib Axes
        The drawings, largest view first.
    """
    views, run = model.views_, model.run_
    widths = [max(len(view["columns"]), 2) for view in views]
    if axes is None:
        axes = (
            _pyplot()
            .subplots(
                1,
                len(views),
                figsize=(min(16.0, 2.0 + 0.28 * sum(widths) + 0.7 * len(views)), 6.5),
                width_ratios=widths,
                squeeze=False,
                layout="constrained",
            )[1]
            .ravel()
        )
    axes = np.atleast_1d(axes)
    data = run.data()
    names = [column["name"] for column in run.columns]
    # Ranks show numbers, counts and codes on one scale; missing cells stay white.
    cells = np.full(data.shape, np.nan)
    for j in range(data.shape[1]):
        known = ~np.isnan(data[:, j])
        _, place = np.unique(data[known, j], return_inverse=True)
        cells[known, j] = place / max(place.max(initial=0), 1)
    for number, (ax, view) in enumerate(zip(axes, views, strict=True)):
        order = np.argsort(view["labels"], kind="stable")
        columns = [names.index(name) for name in view["columns"]]
        ax.imshow(
            cells[np.ix_(order, columns)], aspect="auto", cmap="cividis", vmin=0.0, vmax=1.0, interpolation="nearest"
        )
        for edge in np.flatnonzero(np.diff(view["labels"][order])) + 0.5:
            ax.axhline(edge, color="white", linewidth=2.0)
        ax.set_xticks(range(len(columns)), [_shortened(name, 22) for name in view["columns"]], rotation=90, fontsize=7)
        ax.set_yticks([])
        if len(order) <= 50:
            ax.set_yticks(range(len(order)), [_shortened(run.row_ids[row], 14) for row in order], fontsize=6)
        ax.set_title(
            f"view {number + 1}: {view['clusters']} cluster{'s' if view['clusters'] != 1 else ''}\n"
            f"{100 * view['cohesion']:.0f} % together",
            fontsize=8,
        )
    return axes


def plot_clusters(model: Any, columns: tuple[str, str] | None = None, ax: Any = None) -> Any:
    """Rows in two dimensions, colored by cluster, with an ellipse of two standard deviations around each cluster.

    With several levels, colors and thick ellipses are the clusters of the coarsest level, thin ones those of the finest.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    columns : pair of str or None
        Columns to draw; None: the only two, or else the first two principal components of the numeric columns.
    ax : matplotlib Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.
    """
    run = model.run_
    points, names = _plane(run, columns)
    ax = _axes(ax, 6.5, 5.5)
    labels = run.consensus(1, model.select)["labels"]
    sizes = np.bincount(labels)
    colors = _colors(sizes)
    for cluster in np.argsort(-sizes, kind="stable"):
        inside = labels == cluster
        color = colors[cluster]
        ax.scatter(
            *points[inside].T,
            s=14,
            color=color,
            alpha=0.65,
            linewidths=0,
            label=f"{cluster}: {sizes[cluster]} rows" if color in PALETTE else None,
        )
        _ellipse(ax, points[inside], edgecolor=color, linewidth=2.0)
        if run.levels > 1:
            parts = run.consensus(run.levels, model.select)["labels"]
            members = np.unique(parts[inside])
            for part in members if len(members) > 1 else []:
                _ellipse(ax, points[parts == part], edgecolor=color, linewidth=1.0, linestyle=(0, (4, 2)))
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    more = max(0, len(sizes) - len(PALETTE))
    title = f"{len(sizes)} clusters" + (f", the {more} smallest in gray" if more else "")
    if run.levels > 1:
        finest = run.consensus(run.levels, model.select)["clusters"]
        title += f"; dashed: the {finest} clusters of the finest level"
    ax.set_title(title, fontsize=10)
    ax.legend(fontsize=7, frameon=False, loc="best")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _plane(run: Any, columns: tuple[str, str] | None) -> tuple[np.ndarray, list[str]]:
    data = run.data()
    known = [column["name"] for column in run.columns]
    if columns is not None:
        missing = [name for name in columns if name not in known]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r}; there are {', '.join(known)}")
        return data[:, [known.index(name) for name in columns]], list(columns)
    numeric = [j for j, column in enumerate(run.columns) if column["kind"] != "category"]
    if len(numeric) == 2:
        return data[:, numeric], [known[j] for j in numeric]
    if len(numeric) < 2:
        raise ValueError("two numeric columns are needed to draw clusters in two dimensions")
    cells = data[:, numeric]
    cells = np.where(np.isnan(cells), np.nanmean(cells, axis=0), cells)
    cells = cells - cells.mean(axis=0)
    cells /= np.where(cells.std(axis=0) > 0, cells.std(axis=0), 1.0)
    _, strengths, directions = np.linalg.svd(cells, full_matrices=False)
    shares = strengths**2 / np.sum(strengths**2)
    return cells @ directions[:2].T, [f"principal component {k + 1} ({100 * shares[k]:.0f} %)" for k in range(2)]


def _ellipse(ax: Any, points: np.ndarray, **style: Any) -> None:
    from matplotlib.patches import Ellipse

    points = points[~np.isnan(points).any(axis=1)]
    if len(points) < 3:
        return
    values, vectors = np.linalg.eigh(np.cov(points.T))
    width, height = 4.0 * np.sqrt(np.maximum(values, 0.0))
    angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    ax.add_patch(Ellipse(points.mean(axis=0), width, height, angle=angle, fill=False, **style))
