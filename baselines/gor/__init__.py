"""Graph of Records: earlier responses of a model as nodes beside the chunks (Zhang et al. 2024, arXiv 2410.11001)."""

from baselines.gor.graph import RecordGraph, RecordIndexer, load_graph
from baselines.gor.retriever import GraphOfRecords
from baselines.gor.simulation import ExtractiveSimulator, ModelSimulator
from baselines.gor.training import GraphTraining

__all__ = [
    "ExtractiveSimulator",
    "GraphOfRecords",
    "GraphTraining",
    "ModelSimulator",
    "RecordGraph",
    "RecordIndexer",
    "load_graph",
]
