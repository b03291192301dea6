"""What descriptions of nodes need to know of a tree, or of layers whose nodes have several parents."""

from typing import Protocol

from psi.tree.weights import Ids


class Hierarchy(Protocol):
    """Nodes in layers, leaves first; the children of a node stand in the layer below.

    child_offsets  (n_nodes + 1,) node i's children are child_ids[child_offsets[i]:child_offsets[i + 1]]
    """

    @property
    def n_leaves(self) -> int:
        """Number of leaves: nodes 0 .. n_leaves - 1."""
        ...

    @property
    def n_nodes(self) -> int:
        """Leaves and inner nodes together."""
        ...

    @property
    def child_offsets(self) -> Ids:
        """Where each node's children begin in `child_ids`."""
        ...

    @property
    def child_ids(self) -> Ids:
        """Children, node after node."""
        ...

    def layers(self) -> list[Ids]:
        """Node ids by layer, leaves first; each layer is one contiguous range."""
        ...

    def children(self, node: int) -> Ids:
        """Ids of a node's children."""
        ...

    def leaves_under(self, node: int) -> Ids:
        """Ids of the distinct leaves below a node, ascending."""
        ...
