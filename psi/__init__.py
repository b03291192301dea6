"""Ψ-RAG: hierarchical abstract trees and the retrieval-and-answering agent, with everything they stand on."""
