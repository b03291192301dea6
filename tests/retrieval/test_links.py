"""Links against the formulas, written out one passage at a time."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError, InputError
from psi.index.abstracts import MeanAbstracts
from psi.index.links import LinkIndexer
from psi.index.mentions import names, phrases, words
from psi.index.psi_index import TreeIndexer
from psi.retrieval.cosines import cosines, on_grid
from psi.retrieval.fusion import Fusion
from psi.retrieval.links import Links, best_of_rows
from psi.retrieval.sparse import BM25
from psi.retrieval.top_k import top_k
from psi.retrieval.tree import TreeRetriever
from psi.store import Store
from tests.toys import WordEmbedder, corpus

LINKS = Links(embedder=WordEmbedder())
SMALL = dataclasses.replace(LINKS, seeds=2, pool=3)
NEAR = 1e-6


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


class Literal:
    """The method for one question, in the words of its documentation."""

    def __init__(self, config, passages, question):
        self.config, self.passages, self.n = config, passages, len(passages)
        self.texts = [set(tokens) for tokens in config.bm25.tokens(passages.contents)]
        self.terms = {term for term in config.bm25.tokens([question])[0] if any(term in text for text in self.texts)}
        self.base = self._base(question)
        self.edges = self._edges()
        self.scores = self._scores()

    def idf(self, term):
        df = sum(term in text for text in self.texts)
        return math.log(1 + (self.n - df + 0.5) / (df + 0.5))

    def coverage(self, chosen):
        total = sum(self.idf(term) for term in self.terms)
        held = {term for term in self.terms for passage in chosen if term in self.texts[passage]}
        return sum(self.idf(term) for term in held) / total if total else 0.0

    def _bm25(self, question):
        k1, b = self.config.bm25.k1, self.config.bm25.b
        tokens = self.config.bm25.tokens(self.passages.contents)
        mean = np.mean([len(text) for text in tokens])
        scores = []
        for text in tokens:
            score = 0.0
            for term in self.config.bm25.tokens([question])[0]:
                if count := text.count(term):
                    score += self.idf(term) * count / (count + k1 * (1 - b + b * len(text) / mean))
            scores.append(score)
        return np.array(scores)

    def _base(self, question):
        embedder = self.config.embedder
        # summed exactly: a last digit that depends on the place of a row would order equal passages
        vectors = on_grid(embedder.encode_passages(self.passages.contents)).tolist()
        asked = on_grid(embedder.encode_questions([question])).tolist()[0]
        near = np.array([math.fsum(a * b for a, b in zip(row, asked, strict=True)) for row in vectors])
        above = near.max() - near.mean()
        dense = np.maximum(0, (near - near.mean()) / above) if above > NEAR else np.zeros(self.n)
        lexical = self._bm25(question)
        lexical = lexical / lexical.max() if lexical.max() > 0 else lexical
        base = (dense + self.config.lexical * lexical) / (1 + self.config.lexical)
        found = mentioned(keys_of(self.passages, self.config.index), question)
        for passage in range(self.n):
            weights = [keys[passage] for keys in found if passage in keys]
            base[passage] += self.config.named * max(weights, default=0) / math.sqrt(len(found) or 1)
        return base / base.max() if base.max() > 0 else base

    def _edges(self):
        index, n = self.config.index, self.n
        keys = keys_of(self.passages, index)
        by_name = np.zeros((n, n))
        for i, passage in enumerate(self.passages):
            for found in mentioned(keys, passage.text):
                for j, weight in found.items():
                    by_name[i, j] = max(by_name[i, j], weight if i != j else 0)
        held = [phrases(passage.title) | phrases(passage.text) for passage in self.passages]
        edges = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if i != j:
                    ways = [by_name[i, j] / (1 + index.hub * np.count_nonzero(by_name[i]))]
                    ways.append(index.back * by_name[j, i] / (1 + index.hub * np.count_nonzero(by_name[:, i])))
                    for phrase in held[i] & held[j]:
                        df = sum(phrase in others for others in held)
                        ways.append(index.phrase / (1 + math.log(df - 1)) if df <= index.common else 0)
                    edges[i, j] = max(ways)
        return edges

    def _scores(self):
        seeds = sorted(range(self.n), key=lambda i: (-self.base[i], i))[: self.config.seeds]
        scores = self.base.copy()
        for j in range(self.n):
            ways = [self.base[i] * self.edges[i, j] * self.coverage({i, j}) for i in seeds]
            scores[j] += self.config.spread * max(ways)
        return scores / scores.max() if scores.max() > 0 else scores

    def clear(self):
        """Whether no decision hangs on a last digit. Equal passages have equal digits."""
        leads = np.abs(self.base - self.config.margin).min() > NEAR
        return leads and self._apart(self.base) and self._apart(self.scores)

    def _apart(self, values):
        ordered = sorted(zip(values, self.passages.contents, strict=True), reverse=True)
        return all(a - b > NEAR or one == other for (a, one), (b, other) in itertools.pairwise(ordered))

    def check(self, ranking):
        """Each passage of the ranking is a right choice after those before it."""
        config = self.config
        by_base = sorted(range(self.n), key=lambda i: (-self.base[i], i))[: config.leaders]
        leaders = [i for i in by_base if self.base[i] >= config.margin]
        rest = [i for i in sorted(range(self.n), key=lambda i: (-self.scores[i], i)) if i not in leaders]
        pool, chosen = rest[: max(0, config.pool - len(leaders))], leaders[: config.pool]
        positions = [self.passages.position[passage] for passage in ranking.ids]
        assert positions[: len(chosen)] == chosen
        while pool:
            values = {
                i: self.scores[i] + config.gain * (self.coverage({*chosen, i}) - self.coverage(chosen)) for i in pool
            }
            pick = positions[len(chosen)]
            assert values[pick] > max(values.values()) - NEAR
            assert ranking.scores[len(chosen)] == pytest.approx(values[pick], abs=NEAR)
            pool.remove(pick)
            chosen.append(pick)
        assert positions[len(chosen) :] == [i for i in [*leaders, *rest] if i not in chosen]


def keys_of(passages, index):
    """Key -> passage -> weight."""
    keys = {}
    for position, passage in enumerate(passages):
        for kind, key in names(passage):
            known = keys.setdefault(key, {})
            known[position] = max(getattr(index, kind), known.get(position, 0))
    return {key: {i: weight / math.sqrt(len(found)) for i, weight in found.items()} for key, found in keys.items()}


def mentioned(keys, text):
    """What each distinct key in a text names, by trying every length at every place."""
    found, place, text = {}, 0, tuple(words(text))
    while place < len(text):
        lengths = [length for length in range(len(text) - place, 0, -1) if text[place : place + length] in keys]
        if lengths:
            found[text[place : place + lengths[0]]] = keys[text[place : place + lengths[0]]]
        place += lengths[0] if lengths else 1
    return list(found.values())


TITLES = st.sampled_from(["", "Ada Holm", "Ada Holm (poet)", "Lake Orrin", "Tarsk", "The Mill", "Port Vell, Norland"])
WORDS = [
    "Ada Holm",
    "Lake Orrin",
    "Tarsk",
    "Mill",
    "Port Vell",
    "Blue River",
    "bridge",
    "poet",
    "near",
    "built",
    "old",
    "boat",
]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
CORPORA = st.lists(st.tuples(TITLES, TEXTS), min_size=1, max_size=12).map(
    lambda found: Passages([Passage(f"p{number:02d}", title, text) for number, (title, text) in enumerate(found)])
)
CONFIGS = st.sampled_from(
    [
        LINKS,
        SMALL,
        dataclasses.replace(SMALL, leaders=0, gain=2.0),
        dataclasses.replace(SMALL, margin=0.5, leaders=5, named=0.0, spread=1.0),
        dataclasses.replace(LINKS, index=LinkIndexer(hub=0.5, back=1.0, phrase=0.9, common=2), lexical=0.0),
    ]
)


@settings(max_examples=60, deadline=None)
@given(CORPORA, TEXTS, CONFIGS)
def test_rankings_are_those_of_the_formulas(passages, question, config):
    literal = Literal(config, passages, question)
    assume(literal.clear())
    with Store.temporary() as store:
        literal.check(config.build(passages, store).search([question], len(passages))[0])


@settings(max_examples=25, deadline=None)
@given(CORPORA, st.lists(TEXTS, min_size=2, max_size=6), st.sampled_from([SMALL, dataclasses.replace(LINKS, walk=0.5)]))
def test_a_batch_gives_the_bytes_that_single_questions_give(passages, questions, config):
    with Store.temporary() as store:
        index = config.build(passages, store)
        assert index.search(questions, 5) == [index.search([question], 5)[0] for question in questions]


@settings(max_examples=25, deadline=None)
@given(
    CORPORA,
    TEXTS,
    st.sampled_from([LINKS, dataclasses.replace(SMALL, walk=0.5), dataclasses.replace(SMALL, margin=0.0)]),
)
def test_rankings_are_sound(passages, question, config):
    with Store.temporary() as store:
        index = config.build(passages, store)
        whole = index.search([question], 20)[0]
        assert index.search([question], 4)[0].ids == whole.ids[:4]
    assert sorted(whole.ids) == list(passages.ids)
    pairs = list(zip(whole.scores, whole.ids, strict=True))
    assert pairs == sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


CHAIN = Passages(
    [
        Passage("0", "Lake Orrin", "Lake Orrin was first mapped by the surveyor Marta Holm."),
        Passage("1", "Marta Holm", "Marta Holm was born in Tarsk."),
        Passage("2", "Lake Vessel", "A lake that was never mapped by a surveyor."),
        Passage("3", "Bridge", "The bridge was mapped."),
    ]
)
QUESTION = "Where was the person who mapped Lake Orrin born?"


def test_a_link_brings_the_second_hop(store):
    assert LINKS.build(CHAIN, store).search([QUESTION], 2)[0].ids == ("0", "1")
    without = dataclasses.replace(LINKS, spread=0.0, gain=0.0)
    assert without.build(CHAIN, store).search([QUESTION], 2)[0].ids == ("0", "2")


def test_passages_that_the_base_cannot_tell_apart_stand_before_linked_ones(store):
    twins = Passages([*CHAIN, Passage("4", "Lake Orrin", "Lake Orrin was first mapped by the surveyor Marta Holm.")])
    assert LINKS.build(twins, store).search([QUESTION], 3)[0].ids == ("0", "4", "1")
    assert dataclasses.replace(LINKS, leaders=1).build(twins, store).search([QUESTION], 2)[0].ids == ("0", "1")


@pytest.mark.parametrize("walk", [0.0, 0.5])
def test_equal_passages_are_ranked_by_id_however_they_are_given(walk, store):
    passages = [Passage(id_, "", "one cat of Tarsk") for id_ in ("c", "a", "b", "e", "d")]
    for order in (passages, passages[::-1]):
        index = dataclasses.replace(LINKS, walk=walk).build(Passages(order), store)
        assert index.search(["cat"], 4)[0].ids == ("a", "b", "c", "d")


def test_a_question_without_a_known_word_is_ranked_by_the_vectors(store):
    assert sorted(LINKS.build(corpus("a cat", "a dog"), store).search(["zebra"], 5)[0].ids) == ["p0", "p1"]


def test_a_corpus_of_stop_words_is_ranked(store):
    assert len(LINKS.build(corpus("the", "of the"), store).search(["the cat"], 5)[0].ids) == 2


@pytest.fixture
def hybrid():
    tree = TreeRetriever(index=TreeIndexer(embedder=WordEmbedder(), abstracts=MeanAbstracts()), beam=1)
    return dataclasses.replace(LINKS, hybrid=Fusion(retrievers=(tree, BM25()), pool=1), hits=1)


def test_from_a_hybrid_step_only_hits_named_and_linked_passages_are_returned(hybrid, store):
    assert hybrid.build(CHAIN, store).search([QUESTION], 4)[0].ids == ("0", "1")


@settings(max_examples=15, deadline=None)
@given(CORPORA, st.lists(TEXTS, min_size=1, max_size=4))
def test_a_hybrid_step_that_finds_everything_changes_nothing(passages, questions):
    dense = TreeRetriever(index=TreeIndexer(embedder=WordEmbedder(), abstracts=MeanAbstracts()), beam=50)
    everything = dataclasses.replace(LINKS, hybrid=dense, hits=50)
    with Store.temporary() as store:
        assert everything.build(passages, store).search(questions, 5) == LINKS.build(passages, store).search(
            questions, 5
        )


def test_a_second_build_opens_what_the_first_one_stored(hybrid, store, monkeypatch):
    first = hybrid.build(CHAIN, store).search([QUESTION], 3)
    monkeypatch.setattr(Store, "_make", lambda *_: pytest.fail("built again"))
    assert hybrid.build(CHAIN, store).search([QUESTION], 3) == first


def test_wrong_questions_and_settings_are_refused(store):
    index = LINKS.build(CHAIN, store)
    assert index.search([], 3) == []
    with pytest.raises(InputError, match="question 1"):
        index.search(["cat", " \n"], 3)
    with pytest.raises(ConfigError, match="k=0"):
        index.search(["cat"], 0)
    with pytest.raises(ConfigError, match="variant=lucene"):
        Links(embedder=WordEmbedder(), bm25=BM25(variant="bm25+"))


def test_cosines_do_not_depend_on_the_batch():
    rng = np.random.default_rng(0)
    vectors = on_grid(rng.normal(size=(500, 384)).astype(np.float32))
    queries = on_grid(rng.normal(size=(37, 384)).astype(np.float32))
    whole = cosines(queries, vectors)
    assert all((cosines(queries[i : i + 1], vectors) == whole[i]).all() for i in range(37))
    assert (cosines(queries, vectors[::-1].copy())[:, ::-1] == whole).all()
    exact = [math.fsum(a * b for a, b in zip(queries[0], row, strict=True)) for row in vectors[:20]]
    assert whole[0, :20].tolist() == exact


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=4, max_size=4), min_size=1), st.integers(1, 6))
def test_the_best_of_rows_are_the_best_of_each_row(rows, k):
    scores = np.array(rows)
    assert best_of_rows(scores, k).tolist() == [top_k(row, k).tolist() for row in scores]
