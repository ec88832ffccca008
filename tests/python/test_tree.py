"""The tree object and the trees of other packages that are made from it."""

import re

import networkx
import numpy as np
import pytest
import scipy.cluster.hierarchy as hierarchy
import seaborn
from conftest import blobs, command_line, fitted
from matplotlib import pyplot

import coppice


def test_nodes_divide_the_rows(model):
    tree = model.tree_
    assert tree.root.size == 60 and tree.root.parent is None
    assert sorted(tree.row_order()) == list(range(60))
    for node in tree:
        assert 0.0 <= node.support <= 1.0
        if node.children:
            assert sorted(np.concatenate([child.rows for child in node.children])) == sorted(node.rows)
            assert all(child.parent is node for child in node.children)
    first = {tuple(node.rows) for node in tree if node.level == 1}
    clusters = {tuple(np.flatnonzero(model.labels_ == label)) for label in set(model.labels_)}
    assert first == clusters
    assert str(tree).count("\n") == len(tree) - 1


def test_linkages_are_scipys(model):
    for linkage in (model.linkage_, model.tree_.to_linkage()):
        assert hierarchy.is_valid_linkage(linkage, throw=True)
        assert sorted(hierarchy.dendrogram(linkage, no_plot=True)["leaves"]) == list(range(60))


def test_the_linkage_of_the_tree_has_its_leaves(model):
    """Cutting below one unit above the finest level that is divided gives the leaves of the tree."""
    tree = model.tree_
    if model.run_._head["greedy"]:
        np.testing.assert_array_equal(tree.to_linkage(), model.linkage_)
        return
    heights = hierarchy.cophenet(tree.to_linkage())
    leaf = np.empty(60, dtype=int)
    for number, node in enumerate(tree.leaves):
        leaf[node.rows] = number
    distances = np.zeros((60, 60))
    distances[np.triu_indices(60, 1)] = heights
    for node in tree.leaves:
        inside = distances[np.ix_(node.rows, node.rows)]
        assert (inside[np.triu_indices(node.size, 1)] == tree.levels + 1 - node.last_level).all()
    assert distances.max() == tree.levels + 1 - tree.root.last_level


def test_newick_has_every_row(model):
    text = model.tree_.to_newick()
    assert text.endswith(";\n") and text.count("(") == text.count(")")
    leaves = re.findall(r"[(,]([^(),:;]+)[:,)]", text)
    assert sorted(leaves) == sorted(model.run_.row_ids)


def test_greedy_trees_are_all_there(tmp_path):
    """Every merge, as the command line writes it; nodes down to the clusters."""
    X, _ = blobs()
    for cls in (coppice.BHC, coppice.BHCC):
        model = fitted(cls, X)
        path = tmp_path / f"{cls.__name__}.coppice"
        model.save(path)
        assert model.tree_.to_newick() == command_line(tmp_path, "tree", path, "--format", "newick")
        assert model.tree_.to_newick().count("(") == 59
        tree = model.tree_
        assert len(tree) == 2 * model.n_clusters_ - 1
        assert all(len(node.children) in (0, 2) for node in tree)
        assert {node.level for node in tree if node.is_leaf} == {1}


def test_networkx_and_frames(model):
    tree = model.tree_
    graph = tree.to_networkx()
    assert networkx.is_arborescence(graph)
    assert graph.nodes[0]["size"] == 60
    table = tree.to_pandas()
    assert len(table) == len(tree) == len(tree.to_polars())
    assert table.loc[0, "parent"] == -1 and len(table.loc[0, "rows"]) == 60


def test_clustermap_takes_the_linkage(model):
    grid = seaborn.clustermap(blobs()[0], row_linkage=model.linkage_, col_cluster=False)
    assert sorted(grid.dendrogram_row.reordered_ind) == list(range(60))
    pyplot.close("all")


@pytest.mark.parametrize("select", ["binder", "vi"])
def test_full_trees_have_every_level(model, select):
    from coppice import Tree

    tree = Tree(model.run_, select, full=True)
    assert {node.level for node in tree} == set(range(model.run_.levels + 1))
