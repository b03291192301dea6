from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from psi.component import Component
from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError, InputError
from psi.retrieval.dense import Dense
from psi.retrieval.ranking import Ranking
from psi.retrieval.rerank import Reranked
from psi.retrieval.sparse import BM25
from psi.store import Store
from tests.toys import WordEmbedder, corpus

TEXTS = [
    "the cat sat on the mat",
    "a dog ran in the park",
    "the cat and the dog",
    "rain fell on the city",
    "a city of cats",
]


@dataclass(frozen=True, kw_only=True)
class LengthReranker(Component):
    """Prefers long passages; keeps every call."""

    bad: str | None = None
    calls: dict[int, list] = field(default_factory=dict, metadata={"identity": False})

    def score(self, questions: Sequence[str], passages: Sequence[str]) -> np.ndarray:
        self.calls[len(self.calls)] = list(zip(questions, passages, strict=True))
        return np.array([len(text) if self.bad is None else float(self.bad) for text in passages], dtype=np.float32)


def reranked(**settings):
    retrievers = (Dense(embedder=WordEmbedder()), BM25())
    return Reranked(**{"retrievers": retrievers, "reranker": LengthReranker(), **settings})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_the_pools_are_united_and_put_in_the_rerankers_order(store):
    passages = corpus(*TEXTS)
    method = reranked(pool=2)
    ranking = method.build(passages, store).search(["cat"], 2)[0]
    pooled = {
        id_ for each in method.retrievers for id_ in each.build(passages, store).search(["cat"], 2)[0].ids
    }  # fmt: skip
    expected = sorted(pooled, key=lambda id_: (-len(passages.by_id(id_).content), id_))[:2]
    assert ranking == Ranking(tuple(expected), tuple(float(len(passages.by_id(id_).content)) for id_ in expected))


def test_the_pool_grows_to_k_and_short_corpora_are_ranked_whole(store):
    assert len(reranked(pool=1).build(corpus(*TEXTS), store).search(["cat"], 4)[0].ids) == 4
    assert len(reranked(pool=1).build(corpus(*TEXTS), store).search(["cat"], 10)[0].ids) == 5


def test_ties_go_to_the_smaller_id_and_copies_are_scored_once(store):
    copies = Passages([Passage(id_, "", "one cat") for id_ in ("c", "a", "b")])
    method = reranked()
    ranking = method.build(copies, store).search(["cat", "cat"], 3)
    assert ranking[0].ids == ranking[1].ids == ("a", "b", "c")
    assert method.reranker.calls == {0: [("cat", "one cat")]}


def test_all_questions_go_to_the_reranker_in_one_call(store):
    method = reranked()
    index = method.build(corpus(*TEXTS), store)
    together = index.search(["cat", "dog park", "city"], 3)
    assert len(method.reranker.calls) == 1
    assert together == [index.search([question], 3)[0] for question in ("cat", "dog park", "city")]
    assert index.search([], 3) == []


def test_a_question_that_nothing_matches_has_an_empty_ranking(store):
    method = reranked(retrievers=(BM25(),))
    assert method.build(corpus(*TEXTS), store).search(["zebra"], 3) == [Ranking((), ())]
    assert method.reranker.calls == {}


@pytest.mark.parametrize("bad", ["nan", "inf"])
def test_scores_that_are_no_numbers_are_refused(store, bad):
    with pytest.raises(InputError, match="'cat' is not a finite number"):
        reranked(reranker=LengthReranker(bad=bad)).build(corpus(*TEXTS), store).search(["cat"], 3)


def test_settings_and_calls_out_of_range_are_refused(store):
    index = reranked().build(corpus(*TEXTS), store)
    with pytest.raises(ConfigError, match="k=0"):
        index.search(["cat"], 0)
    with pytest.raises(InputError, match="question 0"):
        index.search([" "], 3)
    with pytest.raises(ConfigError, match="retrievers"):
        reranked(retrievers=())
    with pytest.raises(ConfigError, match="pool=0"):
        reranked(pool=0)
    with pytest.raises(ConfigError, match="reranker"):
        reranked(reranker=WordEmbedder())
