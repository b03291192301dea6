import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError, InputError
from psi.index.abstracts import ExtractiveAbstracts, MeanAbstracts
from psi.index.psi_index import TreeIndexer
from psi.retrieval.dense import Dense, DenseIndex
from psi.retrieval.fusion import Fusion, reciprocal_rank_fusion
from psi.retrieval.ranking import Ranking
from psi.retrieval.sparse import BM25
from psi.retrieval.top_k import top_k
from psi.retrieval.tree import TreeRetriever
from psi.store import Store
from tests.toys import TableEmbedder, WordEmbedder, corpus

TEXTS = [
    "the cat sat on the mat",
    "a dog ran in the park",
    "the cat and the dog",
    "rain fell on the city",
    "a city of cats",
]


def tree(**settings):
    index = TreeIndexer(embedder=WordEmbedder(), abstracts=settings.pop("abstracts", MeanAbstracts()), max_children=3)
    return TreeRetriever(index=index, **settings)


RETRIEVERS = {
    "bm25": BM25(),
    "dense": Dense(embedder=WordEmbedder()),
    "tree": tree(),
    "extractive": tree(abstracts=ExtractiveAbstracts()),
    "psi": Fusion(retrievers=(tree(), BM25())),
}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.mark.parametrize("name", RETRIEVERS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_small_corpora_are_searched_whole(name, n, store):
    ranking = RETRIEVERS[name].build(corpus(*[f"cat {text}" for text in TEXTS[:n]]), store).search(["cat"], 10)[0]
    assert len(ranking.ids) == len(set(ranking.ids)) == n
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


@pytest.mark.parametrize("name", RETRIEVERS)
def test_equal_passages_are_ranked_by_id_however_they_are_given(name, store):
    passages = [Passage(id_, "", "one cat") for id_ in ("c", "a", "b", "e", "d")]
    for order in (passages, passages[::-1]):
        ranking = RETRIEVERS[name].build(Passages(order), store).search(["cat"], 3)[0]
        assert ranking.ids == ("a", "b", "c")


@pytest.mark.parametrize("name", RETRIEVERS)
def test_a_batch_gives_what_single_questions_give(name, store):
    index = RETRIEVERS[name].build(corpus(*TEXTS), store)
    questions = ["cat", "dog in the park", "city rain"]
    assert index.search(questions, 3) == [index.search([question], 3)[0] for question in questions]
    assert index.search([], 3) == []


@pytest.mark.parametrize("name", RETRIEVERS)
def test_a_second_build_opens_what_the_first_one_stored(name, store, monkeypatch):
    first = RETRIEVERS[name].build(corpus(*TEXTS), store).search(["cat"], 3)
    monkeypatch.setattr(Store, "_make", lambda *_: pytest.fail("built again"))
    assert RETRIEVERS[name].build(corpus(*TEXTS), store).search(["cat"], 3) == first


@pytest.mark.parametrize("name", RETRIEVERS)
@pytest.mark.parametrize("k", [0, -1])
def test_a_k_below_one_is_refused(name, k, store):
    with pytest.raises(ConfigError, match=f"k={k}"):
        RETRIEVERS[name].build(corpus(*TEXTS), store).search(["cat"], k)


@pytest.mark.parametrize("name", RETRIEVERS)
def test_a_blank_question_is_refused(name, store):
    with pytest.raises(InputError, match="question 1"):
        RETRIEVERS[name].build(corpus(*TEXTS), store).search(["cat", " \n"], 3)


def test_bm25_returns_only_passages_that_share_a_term(store):
    index = BM25().build(corpus(*TEXTS), store)
    assert set(index.search(["cats"], 5)[0].ids) == {"p0", "p2", "p4"}
    assert index.search(["zebra"], 5)[0] == Ranking((), ())
    assert index.search(["the of and"], 5)[0] == Ranking((), ())


def test_bm25_of_a_corpus_of_stop_words_finds_nothing(store):
    assert BM25().build(corpus("the", "of the"), store).search(["the cat"], 5) == [Ranking((), ())]


def test_bm25_scores_follow_the_formula(store):
    passages = corpus("cat dog", "cat cat bird fish", "bird")
    scores = dict(zip(*BM25().build(passages, store).search(["cat"], 3)[0][:2], strict=True))
    lengths, counts, k1, b = np.array([2, 4, 1]), np.array([1, 2, 0]), 1.5, 0.75
    idf = np.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = idf * counts / (counts + k1 * (1 - b + b * lengths / lengths.mean()))
    assert scores == pytest.approx({"p0": expected[0], "p1": expected[1]}, rel=1e-5)


def test_zero_vectors_have_cosine_zero_and_stand_in_the_order_of_ids(store):
    table = {
        "zero": (0.0, 0.0),
        "none": (0.0, 0.0),
        "right": (1.0, 0.0),
        "left": (-1.0, 0.0),
        "?": (1.0, 0.0),
        "0": (0.0, 0.0),
    }
    index = Dense(embedder=TableEmbedder(table=table)).build(corpus("zero", "none", "right", "left"), store)
    assert index.search(["?"], 4)[0] == Ranking(("p2", "p0", "p1", "p3"), (1.0, 0.0, 0.0, -1.0))
    assert index.search(["0"], 4)[0] == Ranking(("p0", "p1", "p2", "p3"), (0.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_vector_that_is_not_finite_is_refused_with_the_passage(bad, store):
    embedder = TableEmbedder(table={"good": (1.0, 0.0), "bad": (bad, 0.0)})
    with pytest.raises(InputError, match="'p1'"):
        Dense(embedder=embedder).build(corpus("good", "bad"), store)


def test_a_question_vector_of_another_width_is_refused(store):
    embedder = TableEmbedder(table={"good": (1.0, 0.0, 0.0, 0.0), "?": (1.0, 0.0, 0.0)})
    with pytest.raises(InputError, match="expected 4, got 3"):
        Dense(embedder=embedder).build(corpus("good"), store).search(["?"], 1)


VECTORS = hnp.arrays(
    np.float32, st.tuples(st.integers(1, 60), st.just(3)), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])
)


@given(VECTORS, st.integers(1, 70))
def test_dense_search_equals_sorting_everything(vectors, k):
    query = np.array([[0.3, -0.7, 0.2]], dtype=np.float32)
    index = DenseIndex(WordEmbedder(), [str(i) for i in range(len(vectors))], vectors, Store("unused"))
    exact = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    expected = sorted(range(len(vectors)), key=lambda i: (-exact[i], i))[:k]
    positions, scores = index.nearest(query, k)
    assert positions[0].tolist() == expected
    assert scores[0].tolist() == exact[expected].tolist()


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, -1.0]), min_size=1, max_size=30), st.integers(1, 40))
def test_top_k_equals_sorting(values, k):
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert top_k(np.array(values), k).tolist() == expected


def test_top_k_refuses_nan():
    with pytest.raises(InputError, match="position 1"):
        top_k(np.array([1.0, np.nan]), 1)


def test_fusion_scores_by_rank_and_breaks_ties_by_id():
    fused = reciprocal_rank_fusion([Ranking(("b", "a"), (9.0, 1.0)), Ranking(("a", "b", "c"), (3.0, 2.0, 1.0))], 3)
    assert fused.ids == ("a", "b", "c")
    assert fused.scores == pytest.approx((1 / 61 + 1 / 62, 1 / 61 + 1 / 62, 1 / 63))


def test_a_beam_as_wide_as_the_corpus_equals_dense_search(store):
    texts = [
        f"{a} {b} {c}" for a in ("cat", "dog", "fish") for b in ("red", "blue", "old") for c in ("sea", "hill", "town")
    ]
    dense = Dense(embedder=WordEmbedder()).build(corpus(*texts), store)
    wide = tree(beam=len(texts)).build(corpus(*texts), store)
    for question in ("red cat", "old dog town", "fish"):
        assert wide.search([question], 5)[0].ids == dense.search([question], 5)[0].ids


def test_changing_the_beam_or_the_abstracts_does_not_rebuild_the_tree(store):
    tree().build(corpus(*TEXTS), store)
    with store.recording() as used:
        tree(beam=3, abstracts=ExtractiveAbstracts()).build(corpus(*TEXTS), store)
    kept = {artifact.manifest["stage"]: artifact.digest for artifact in used}
    with store.recording() as again:
        tree().build(corpus(*TEXTS), store)
    assert kept["tree"] == {artifact.manifest["stage"]: artifact.digest for artifact in again}["tree"]


def test_the_bytes_of_a_bm25_index_do_not_depend_on_the_process(tmp_path):
    code = (
        "import sys; from psi.retrieval.sparse import BM25; from psi.store import Store; from tests.toys import corpus\n"
        "BM25().build(corpus('Paris is in France', 'Rome is in Italy', 'Oslo and Bergen'), Store(sys.argv[1]))"
    )
    root = Path(__file__).resolve().parents[2]
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / seed)], check=True, cwd=root, env=environment)
    one, two = (sorted((tmp_path / seed).rglob("index/*")) for seed in "12")
    assert one and [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
