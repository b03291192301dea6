"""The abstract tree: arrays in, arrays out; no text and no models.

vectors -> spanning edges -> merge-and-collapse -> rebalancing -> node vectors -> beam search.
"""

from psi.tree.approximate import Approximate
from psi.tree.build import BuildReport, build_tree, build_tree_with_report
from psi.tree.collapse import merge_and_collapse
from psi.tree.compare import Agreement, agreement
from psi.tree.dasgupta import cost_of_weights, dasgupta_cost
from psi.tree.edges import Edges
from psi.tree.hierarchy import Hierarchy
from psi.tree.insert import Inserted, insert_leaves
from psi.tree.layers import Layers
from psi.tree.rebalance import rebalance_tree
from psi.tree.report import SpanningReport
from psi.tree.search import beam_search, starting_layer
from psi.tree.spanning import SpanningOptions, spanning_edges, spanning_edges_with_report
from psi.tree.storage import StoredTree, load_tree, save_tree
from psi.tree.tree import Tree, tree_from_parents
from psi.tree.vectors import mean_vectors, unit_rows
from psi.tree.weights import pair_weights

__all__ = [
    "Agreement",
    "Approximate",
    "BuildReport",
    "Edges",
    "Hierarchy",
    "Inserted",
    "Layers",
    "SpanningOptions",
    "SpanningReport",
    "StoredTree",
    "Tree",
    "agreement",
    "beam_search",
    "build_tree",
    "build_tree_with_report",
    "cost_of_weights",
    "dasgupta_cost",
    "insert_leaves",
    "load_tree",
    "mean_vectors",
    "merge_and_collapse",
    "pair_weights",
    "rebalance_tree",
    "save_tree",
    "spanning_edges",
    "spanning_edges_with_report",
    "starting_layer",
    "tree_from_parents",
    "unit_rows",
]
