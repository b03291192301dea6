"""A generator of fictional encyclopedias with multi-hop questions: the benchmark that needs no download."""

from psi.corpus.encyclopedia.benchmark import Encyclopedia

__all__ = ["Encyclopedia"]
