"""The systems that Ψ-RAG is compared with, one file each, behind the same protocols."""
