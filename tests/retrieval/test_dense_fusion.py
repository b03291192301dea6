import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.errors import ConfigError
from psi.models.protocols import Usage
from psi.retrieval.dense import Dense
from psi.retrieval.ranking import Ranking
from psi.retrieval.score_fusion import ScoreFusion, min_max, weighted_sum
from psi.retrieval.sparse import BM25
from psi.store import Store
from tests.toys import WordEmbedder, corpus

HYBRID = ScoreFusion(retrievers=(Dense(embedder=WordEmbedder()), BM25()), weights=(0.5, 0.5), pool=3)


def test_scores_are_put_on_one_scale_and_added_by_weight():
    one = Ranking(("a", "b", "c"), (30.0, 20.0, 10.0))
    other = Ranking(("c", "d"), (0.9, 0.1), Usage(1, 2, 3))
    fused = weighted_sum([one, other], [0.25, 0.75], 10)
    assert fused == Ranking(("c", "a", "b", "d"), (0.75, 0.25, 0.125, 0.0), Usage(1, 2, 3))
    assert weighted_sum([one, other], [1.0, 0.0], 2).ids == ("a", "b")


def test_equal_scores_are_all_best_and_an_empty_ranking_says_nothing():
    assert min_max(Ranking(("b", "a"), (2.0, 2.0))) == {"b": 1.0, "a": 1.0}
    assert min_max(Ranking((), ())) == {}
    assert weighted_sum([Ranking((), ()), Ranking(("b", "a"), (2.0, 2.0))], [0.5, 0.5], 5).ids == ("a", "b")


@given(st.lists(st.floats(-100, 100).map(lambda x: round(x, 2)), min_size=2, max_size=8, unique=True))
def test_the_scale_and_the_origin_of_scores_do_not_matter(scores):
    ranking = Ranking(tuple(f"p{i}" for i in range(len(scores))), tuple(sorted(scores, reverse=True)))
    moved = Ranking(ranking.ids, tuple(3 * score + 7 for score in ranking.scores))
    assert min_max(moved) == pytest.approx(min_max(ranking))


def test_it_searches_all_its_retrievers(tmp_path):
    texts = ["the cat sat", "a dog ran", "the cat and the dog", "rain fell", "a city of cats"]
    store = Store(tmp_path)
    index = HYBRID.build(corpus(*texts), store)
    dense, sparse = (each.build(corpus(*texts), store).search(["cat"], 5)[0] for each in HYBRID.retrievers)
    assert index.search(["cat"], 5) == [weighted_sum([dense, sparse], [0.5, 0.5], 5)]
    assert index.search([], 5) == []
    with pytest.raises(ConfigError, match="k=0"):
        index.search(["cat"], 0)


@pytest.mark.parametrize("weights", [(1.0,), (0.0, 0.0), (-1.0, 1.0)])
def test_weights_that_do_not_fit_are_refused(weights):
    with pytest.raises(ConfigError, match="weights"):
        ScoreFusion(retrievers=HYBRID.retrievers, weights=weights)
