import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.bench.generated import generated_vectors
from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError
from psi.index.embeddings import load_vectors, passage_vectors
from psi.retrieval.dense import Dense, DenseIndex
from psi.retrieval.neighbours import InvertedLists, SmallWorld
from psi.store import Store
from tests.toys import TableEmbedder, WordEmbedder, corpus

KINDS = {"ivf": InvertedLists(), "hnsw": SmallWorld()}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def table(vectors):
    return TableEmbedder(table={f"t{i}": tuple(map(float, row)) for i, row in enumerate(vectors)})


def passages(n):
    return Passages([Passage(f"{i:06d}", "", f"t{i}") for i in range(n)])


def recall(found, exact):
    return np.mean([len(set(a.ids) & set(b.ids)) / len(b.ids) for a, b in zip(found, exact, strict=True)])


@pytest.mark.parametrize("scale", ["unit", "long"])
@pytest.mark.parametrize("kind", KINDS)
def test_most_of_what_an_exact_search_finds_is_found(kind, scale, store):
    vectors = generated_vectors("clustered", 3000, 32)
    if scale == "long":  # lengths that differ: inner products and cosines then rank differently
        vectors *= np.random.default_rng(0).uniform(5, 15, (len(vectors), 1)).astype(np.float32)
    embedder = table(vectors)
    questions = [f"t{i}" for i in range(0, 3000, 30)]
    exact = Dense(embedder=embedder).build(passages(3000), store).search(questions, 10)
    found = Dense(embedder=embedder, neighbours=KINDS[kind]).build(passages(3000), store).search(questions, 10)
    assert recall(found, exact) > 0.95
    scores = {i: dict(zip(ranking.ids, ranking.scores, strict=True)) for i, ranking in enumerate(exact)}
    for i, ranking in enumerate(found):  # what both find has the same score to the last bit
        for id_, score in zip(ranking.ids, ranking.scores, strict=True):
            assert scores[i].get(id_, score) == score


@pytest.mark.parametrize("kind", KINDS)
def test_wider_searches_find_more_and_use_the_same_index(kind, store, monkeypatch):
    embedder = table(generated_vectors("isotropic", 2000, 32))
    questions = [f"t{i}" for i in range(0, 2000, 20)]
    exact = Dense(embedder=embedder).build(passages(2000), store).search(questions, 10)
    narrow, wide = {
        "ivf": (InvertedLists(probes=1), InvertedLists(probes=1000)),
        "hnsw": (SmallWorld(search_width=1), SmallWorld(search_width=2000)),
    }[kind]
    few = recall(Dense(embedder=embedder, neighbours=narrow).build(passages(2000), store).search(questions, 10), exact)
    monkeypatch.setattr(Store, "_make", lambda *_: pytest.fail("built again"))
    all_ = recall(Dense(embedder=embedder, neighbours=wide).build(passages(2000), store).search(questions, 10), exact)
    assert few < all_
    assert all_ == 1 if kind == "ivf" else all_ > 0.99


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_small_corpora_are_searched_whole(kind, n, store):
    texts = [f"cat {word}" for word in ("sea", "hill", "town", "wood", "lake")[:n]]
    ranking = Dense(embedder=WordEmbedder(), neighbours=KINDS[kind]).build(corpus(*texts), store).search(["cat"], 10)[0]
    assert sorted(ranking.ids) == [f"p{i}" for i in range(n)]
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_and_zero_vectors_stand_in_the_order_of_ids(kind, store):
    embedder = table([[1.0, 0.0]] * 4 + [[0.0, 0.0]] * 3)
    ranking = Dense(embedder=embedder, neighbours=KINDS[kind]).build(passages(7), store).search(["t0"], 7)[0]
    assert ranking.ids == passages(7).ids
    assert ranking.scores == (1.0,) * 4 + (0.0,) * 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_gives_what_single_questions_give(kind, store):
    embedder = table(generated_vectors("clustered", 500, 16))
    index = Dense(embedder=embedder, neighbours=KINDS[kind]).build(passages(500), store)
    questions = [f"t{i}" for i in range(40)]
    assert index.search(questions, 5) == [index.search([question], 5)[0] for question in questions]
    assert index.search([], 5) == []


def test_indexes_have_the_same_bytes_on_any_number_of_threads(tmp_path):
    code = (
        "import sys; from tests.retrieval.test_dense_neighbours import *\n"
        "embedder = table(generated_vectors('clustered', 2000, 48))\n"
        "for kind in KINDS.values(): Dense(embedder=embedder, neighbours=kind).build(passages(2000), Store(sys.argv[1]))"
    )
    made = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        root = tmp_path / threads
        subprocess.run(
            [sys.executable, "-c", code, str(root)], check=True, env=environment, cwd=Path(__file__).parents[2]
        )
        made.append({path.parent.name: path.read_bytes() for path in root.rglob("index.faiss")})
    assert len(made[0]) == len(KINDS)
    assert made[0] == made[1]


def test_settings_out_of_range_are_refused():
    with pytest.raises(ConfigError, match="probes"):
        InvertedLists(probes=0)
    with pytest.raises(ConfigError, match="neighbours"):
        Dense(embedder=WordEmbedder(), neighbours="hnsw")


def test_what_changes_the_search_changes_the_identity():
    plain = Dense(embedder=WordEmbedder(), neighbours=SmallWorld())
    wide = dataclasses.replace(plain, neighbours=SmallWorld(search_width=7))
    assert wide.identity() != plain.identity() != Dense(embedder=WordEmbedder()).identity()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.floats(0.1, 1000), st.integers(0, 5))
def test_exact_search_of_vectors_of_any_length_equals_sorting_everything(n, scale, seed):
    rng = np.random.default_rng(seed)
    vectors = (rng.standard_normal((n, 8)) * scale).astype(np.float32)
    vectors[n // 2] = vectors[0]
    query = (rng.standard_normal((1, 8)) * scale).astype(np.float32)
    exact = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    expected = sorted(range(n), key=lambda i: (-exact[i], i))[:5]
    index = DenseIndex(WordEmbedder(), [str(i) for i in range(n)], vectors, Store("unused"))
    positions, scores = index.nearest(query, 5)
    assert positions[0].tolist() == expected
    assert scores[0].tolist() == exact[expected].tolist()


def test_near_ties_among_long_vectors_are_put_right(store):
    # products near 1e6: float32 sums are off by more than the differences, float64 ones are not
    rng = np.random.default_rng(3)
    base = rng.standard_normal(64) * 100
    vectors = (base + rng.standard_normal((200, 64)) * 1e-3).astype(np.float32)
    exact = (vectors.astype(np.float64) @ vectors[0].astype(np.float64)).astype(np.float32)
    expected = [f"{i:06d}" for i in sorted(range(200), key=lambda i: (-exact[i], i))[:10]]
    assert list(Dense(embedder=table(vectors)).build(passages(200), store).search(["t0"], 10)[0].ids) == expected


def test_the_index_depends_on_the_vectors_alone(store):
    embedder = table(generated_vectors("clustered", 100, 16))
    Dense(embedder=embedder, neighbours=SmallWorld()).build(passages(100), store)
    vectors = passage_vectors(passages(100), embedder, store)
    assert load_vectors(vectors).shape == (100, 16)
    manifest = next(store.root.rglob("neighbours/*/manifest.json")).read_text()
    assert vectors.digest in manifest
