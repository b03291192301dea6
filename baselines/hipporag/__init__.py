"""HippoRAG and HippoRAG 2: a graph of phrases that open information extraction finds, walked by personalised PageRank.

passages -> OpenIE -> knowledge (phrases, facts) -> graph (with synonyms) -> seeds of a question -> PageRank -> ranking
"""
