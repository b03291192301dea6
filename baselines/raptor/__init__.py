"""RAPTOR: recursive clustering and summarising (Sarthi et al. 2024, arXiv 2401.18059)."""

from baselines.raptor.clusters import Clustering
from baselines.raptor.index import RaptorIndex, RaptorIndexer, load_raptor
from baselines.raptor.partition import GaussianMixtures, KMeans
from baselines.raptor.retriever import CollapsedTree, Raptor, TreeTraversal
from psi.tree import Layers

__all__ = [
    "Clustering",
    "CollapsedTree",
    "GaussianMixtures",
    "KMeans",
    "Layers",
    "Raptor",
    "RaptorIndex",
    "RaptorIndexer",
    "TreeTraversal",
    "load_raptor",
]
