import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from baselines.hipporag.entities import EntityFinder, LlmEntities, Named, SpacyEntities
from baselines.hipporag.errors import FailedSearchError
from baselines.hipporag.graph import PhraseGraph, synonym_edges, transitions
from baselines.hipporag.hipporag import HippoRag
from baselines.hipporag.hipporag2 import HippoRag2
from baselines.hipporag.knowledge import collected, normalised
from baselines.hipporag.llm_openie import LlmOpenIE
from baselines.hipporag.openie import Extraction, OpenIE, UnfinishedOpenIEError, openie_stage, read_extractions
from baselines.hipporag.pagerank import personalised_pagerank, steps
from baselines.hipporag.recognition import FactFilter, RecognitionFilter, chosen_of
from baselines.hipporag.released import ReleasedOpenIE
from baselines.hipporag.replies import entities_of, triples_of
from baselines.hipporag.scoring import min_max
from baselines.hipporag.spacy_openie import SpacyOpenIE
from experiments.stages import rankings
from psi.component import Component, runtime
from psi.corpus.records import Benchmark, Passage, Passages, Question
from psi.errors import ConfigError, InputError, ModelError
from psi.models.protocols import NO_USAGE, Reply, Usage
from psi.retrieval.dense import Dense
from psi.retrieval.ranking import Retriever
from psi.store import Store
from tests.toys import WordEmbedder, corpus

PASSAGES = Passages(
    [
        Passage("p0", "Lake Orrin", "Lake Orrin was surveyed by Marta Holm."),
        Passage("p1", "Marta Holm", "Marta Holm was born in Tarsk."),
        Passage("p2", "Tarsk", "Tarsk lies in Velden."),
        Passage("p3", "Bridge", "Nobody crosses the bridge."),
    ]
)
TRIPLES = {
    "p0": [("Lake Orrin", "surveyed by", "Marta Holm")],
    "p1": [("Marta Holm", "born in", "Tarsk")],
    "p2": [("Tarsk", "lies in", "Velden")],
    "p3": [],
}


@dataclass(frozen=True, kw_only=True)
class Table(Component):
    """Triples of a table."""

    triples: dict[str, list] = field(default_factory=lambda: TRIPLES)
    batch_size: int = 2

    def extract(self, passages):
        return [Extraction((), tuple(map(tuple, self.triples.get(passage.id, ())))) for passage in passages]


@dataclass(frozen=True, kw_only=True)
class Script(Component):
    """A chat model: `say(instruction, what is asked)`. Notes its calls in a file; fails on Tarsk while `broken` exists."""

    say: Callable[[str, str], str] = runtime(None)
    calls: str = runtime("")
    broken: str = runtime("")
    window: int | None = runtime(None)

    def reply(self, conversations, forms=None):
        return [self._one(conversation) for conversation in conversations]

    def prompt_tokens(self, conversation):
        return sum(len(message.content.split()) for message in conversation)

    def prompt_limit(self):
        return self.window

    def _one(self, conversation):
        asked = conversation[-1].content
        if self.calls:
            with Path(self.calls).open("a") as file:
                file.write(asked.replace("\n", " ") + "\n")
        if self.broken and Path(self.broken).exists() and "Tarsk" in asked:
            return ModelError("the server is down", kind="http_500")
        return Reply(self.say(conversation[0].content, asked), 7, 3)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def second(**settings):
    return HippoRag2(**{"embedder": WordEmbedder(), "openie": Table(), **settings})


# phrases


def test_phrases_that_differ_in_more_than_case_and_blanks_stay_apart():
    texts = ["北京", "上海", "C++", "C#", "C", "Straße", "𝔘", "e\u0301t\u00e9", "42", "4.2"]
    assert len({normalised(text) for text in texts}) == len(texts)
    assert normalised("Marta  Holm\n") == normalised("marta holm")
    assert normalised("e\u0301") == normalised("\u00e9")


def test_the_knowledge_keeps_chinese_cities_and_languages_as_nodes_of_their_own():
    found = collected([Extraction((), (("北京", "is", "C++"), ("上海", "is", "C#")))], entities=False)
    assert set(found.phrases) == {"北京", "上海", "c++", "c#"}


def test_knowledge_counts_passages_and_triples():
    triples = (("A", "is", "B"), ("a", "is", "b"), ("B", "of", "A"), ("A", "is", "A"))
    found = collected([Extraction(("C",), triples), Extraction((), (("A", "is", "B"),))], entities=True)
    assert found.phrases == ("a", "b", "c")
    assert [found.triple(n) for n in range(len(found.facts))] == [("a", "is", "a"), ("a", "is", "b"), ("b", "of", "a")]
    assert found.held.toarray().tolist() == [[4, 1], [2, 1], [1, 0]]
    assert found.relations.toarray().tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
    assert collected([Extraction(("C",), triples)], entities=False).phrases == ("a", "b")


# the graph and the walk


def test_synonyms_against_all_pairs():
    vectors = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, 0)
    expected = np.where(cosines >= 0.8, cosines, 0)
    found = synonym_edges(vectors, 0.8, 200).toarray()
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    few = synonym_edges(vectors, 0.8, 2)
    nearest = np.argsort(-expected, axis=1, kind="stable")[:, :2]
    own = np.zeros_like(expected, dtype=bool)
    np.put_along_axis(own, nearest, True, axis=1)
    np.testing.assert_allclose(few.toarray(), np.where(own | own.T, expected, 0), atol=1e-6)


def test_identical_phrase_vectors_and_a_single_phrase():
    assert synonym_edges(np.ones((5, 3), dtype=np.float32), 0.8, 10).nnz == 20
    assert synonym_edges(np.ones((1, 3), dtype=np.float32), 0.8, 10).nnz == 0


def solved(weights, reset, damping):
    """Personalised PageRank by solving the linear system, walkers at nodes without edges sent to the start."""
    sums = weights.sum(axis=0)
    matrix = np.where(sums > 0, weights / np.where(sums > 0, sums, 1), 0)
    columns = []
    for start in (reset / reset.sum(axis=0)).T:
        whole = matrix + np.outer(start, sums == 0)
        columns.append(np.linalg.solve(np.eye(len(whole)) - damping * whole, (1 - damping) * start))
    return np.array(columns).T


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from([0.0, 0.3, 0.5, 0.85]))
def test_pagerank_against_the_linear_system(seed, size, damping):
    random = np.random.default_rng(seed)
    weights = random.integers(0, 3, (size, size)).astype(float)
    weights += weights.T
    weights[0] = weights[:, 0] = 0  # a node without edges
    reset = random.random((size, 3)) + 1e-3
    found = personalised_pagerank(transitions(csr_matrix(weights)), reset, damping, 1e-10)
    np.testing.assert_allclose(found, solved(weights, reset, damping), atol=1e-9)


def test_pagerank_keeps_its_bound_and_no_question_disturbs_another():
    random = np.random.default_rng(1)
    weights = random.random((30, 30))
    weights += weights.T
    reset = random.random((30, 4))
    matrix = transitions(csr_matrix(weights))
    exact = solved(weights, reset, 0.5)
    for tolerance in (1e-1, 1e-3, 1e-6):
        assert np.abs(personalised_pagerank(matrix, reset, 0.5, tolerance) - exact).sum(axis=0).max() <= tolerance
    assert steps(0.5, 1e-8) == 28
    together = personalised_pagerank(matrix, reset, 0.5, 1e-8)
    alone = [personalised_pagerank(matrix, reset[:, [n]], 0.5, 1e-8) for n in range(4)]
    assert np.array_equal(together, np.concatenate(alone, axis=1))


def test_min_max_of_equal_scores_is_one():
    assert min_max(np.array([2.0, 3.0]), np.array([2.0]), np.array([4.0])).tolist() == [0.0, 0.5]
    assert min_max(np.array([2.0, 2.0]), np.array([2.0]), np.array([2.0])).tolist() == [1.0, 1.0]


# HippoRAG 2


def test_a_walk_reaches_passages_that_share_no_word_with_the_question(store):
    question = "Who surveyed Lake Orrin and where was the surveyor born?"
    index = second().build(PASSAGES, store)
    ranking = index.search([question], 4)[0]
    assert ranking.ids[:2] == ("p0", "p1")
    assert ranking.ids.index("p2") < ranking.ids.index("p3")
    assert ranking.usage == NO_USAGE
    assert isinstance(second(), Retriever)


def reference(question, passages, triples, k, config):
    """HippoRAG 2 in plain Python over dense arrays, one question at a time, without synonyms."""
    embed = WordEmbedder().encode_passages
    rows = {p.id: [tuple(part.lower() for part in t) for t in triples[p.id]] for p in passages}
    facts = sorted({t for each in rows.values() for t in each})
    phrases = sorted({part for s, _, o in facts for part in (s, o)})
    asked = embed([question])[0].astype(np.float64)
    scores = embed([" ".join(fact) for fact in facts]).astype(np.float64) @ asked
    best = sorted(range(len(facts)), key=lambda n: (-scores[n], n))[: config.facts]
    scale = lambda values: (values - values.min()) / (values.max() - values.min())  # noqa: E731
    heard = {}
    for n in best:
        for part in {facts[n][0], facts[n][2]}:
            heard.setdefault(part, []).append(scale(scores)[n])
    holders = {x: [p.id for p in passages if any(x in (s, o) for s, _, o in rows[p.id])] for x in phrases}
    weights = {x: np.mean(each) / len(holders[x]) for x, each in heard.items()}
    seeds = sorted(weights, key=lambda x: (-weights[x], x))[: config.seeds]
    nodes = [*phrases, *passages.ids]
    place = {name: n for n, name in enumerate(nodes)}
    graph = np.zeros((len(nodes), len(nodes)))
    for id_, each in rows.items():
        for s, _, o in each:
            graph[place[s], place[o]] += s != o
            graph[place[o], place[s]] += s != o
        for part in {part for s, _, o in each for part in (s, o)}:
            graph[place[part], place[id_]] = graph[place[id_], place[part]] = 1
    near = scale(embed(list(passages.contents)).astype(np.float64) @ asked)
    reset = np.array([weights[x] if x in seeds else 0 for x in phrases] + list(config.passage_weight * near))
    mass = solved(graph, reset[:, None], config.damping)[:, 0][len(phrases) :]
    order = sorted(range(len(passages)), key=lambda n: (-round(mass[n], 9), n))[:k]
    return [passages.ids[n] for n in order], mass[order]


def test_rankings_against_plain_python(store):
    random = np.random.default_rng(5)
    names = [f"name{n} word{n % 7}" for n in range(20)]
    triples, texts = {}, []
    for n in range(25):
        chosen = [tuple(random.choice(names, 2)) for _ in range(3)]
        triples[f"p{n}"] = list(dict.fromkeys((s, f"likes{n % 3}", o) for s, o in chosen))
        texts.append(" ".join(part for s, o in chosen for part in (s, o)))
    passages = corpus(*texts)
    config = second(openie=Table(triples=triples), graph=PhraseGraph(synonym=1.0, most_synonyms=1), seeds=4)
    questions = [" ".join(random.choice(names, 2)) for _ in range(6)]
    found = config.build(passages, store).search(questions, 10)
    for question, ranking in zip(questions, found, strict=True):
        ids, scores = reference(question, passages, triples, 10, config)
        np.testing.assert_allclose(ranking.scores, scores, atol=1e-7)
        assert list(ranking.ids) == ids


def test_equal_passages_are_both_found_and_tie_by_id(store):
    texts = ["Marta Holm was born in Tarsk.", "Nothing.", "Marta Holm was born in Tarsk."]
    triples = {"p0": TRIPLES["p1"], "p2": TRIPLES["p1"]}
    ranking = (
        second(openie=Table(triples=triples)).build(corpus(*texts), store).search(["Where was Marta Holm born?"], 3)[0]
    )
    assert ranking.ids == ("p0", "p2", "p1")
    assert ranking.scores[0] == ranking.scores[1]


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("method", ["first", "second"])
@pytest.mark.parametrize("triples", [{}, {"p0": [("a", "b", "c")]}])
def test_small_corpora_with_and_without_triples(size, method, triples, store):
    passages = corpus(*["a dog", "a cat", "a dog"][:size])
    config = second(openie=Table(triples=triples)) if method == "second" else first(openie=Table(triples=triples))
    index = config.build(passages, store)
    assert sorted(index.search(["Where is a dog?"], 10)[0].ids) == list(passages.ids)
    assert index.search([], 10) == []


def test_an_empty_question_and_a_useless_k_are_refused(store):
    index = second().build(PASSAGES, store)
    with pytest.raises(InputError, match="empty"):
        index.search(["  "], 3)
    with pytest.raises(ConfigError, match="k=0"):
        index.search(["Who?"], 0)


def test_a_second_build_finds_everything_and_other_synonyms_share_the_extraction(store):
    second().build(PASSAGES, store)
    with store.recording() as used:
        second().build(PASSAGES, store)
    assert used and not any(artifact.made for artifact in used)
    with store.recording() as used:
        second(graph=PhraseGraph(synonym=0.9)).build(PASSAGES, store)
    assert [a.manifest["stage"] for a in used if a.made] == ["phrase_graph"]


# recognition memory


def filtered(reply, **settings):
    return second(filter=RecognitionFilter(llm=Script(say=lambda *_: reply, **settings)))


def test_the_filter_chooses_where_the_walk_begins(store):
    question = "Where does Tarsk lie?"
    whole = second().build(PASSAGES, store).search([question], 4)[0]
    chosen = filtered("Thought: x\nAnswer: 1").build(PASSAGES, store).search([question], 4)[0]
    assert chosen.usage == Usage(1, 7, 3)
    assert chosen.scores != whole.scores
    assert chosen.ids[0] == "p2"


def test_without_facts_the_ranking_is_that_of_cosines(store):
    questions = ["Where does Tarsk lie?", "Who crosses?"]
    found = filtered("Thought: x\nAnswer: none").build(PASSAGES, store).search(questions, 4)
    expected = Dense(embedder=WordEmbedder()).build(PASSAGES, store).search(questions, 4)
    assert [each.ids for each in found] == [each.ids for each in expected]
    np.testing.assert_allclose([each.scores for each in found], [each.scores for each in expected], atol=1e-6)


def test_a_reply_without_a_choice_keeps_the_facts(store, caplog):
    questions = ["Where does Tarsk lie?"]
    kept = filtered("I like facts.").build(PASSAGES, store).search(questions, 4)
    assert kept[0].scores == second().build(PASSAGES, store).search(questions, 4)[0].scores
    assert "no choice for 1 of 1" in caplog.text


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("Thought: x\nAnswer: 2, 1, 2", (0, 1)),
        ("Answer: 1 and 3", (0, 2)),
        ("Answer: 9", None),
        ("Answer: 9, 2", (1,)),
        ("Answer: None of them", ()),
        ("Answer: []", ()),
        ("Answer:", None),
        ("2", None),
    ],
)
def test_choices(reply, chosen):
    assert chosen_of(reply, 3) == chosen


def test_a_failed_filter_is_an_error_of_its_own(store, tmp_path):
    (tmp_path / "broken").touch()
    index = filtered("Answer: 1", broken=str(tmp_path / "broken")).build(PASSAGES, store)
    with pytest.raises(FailedSearchError, match=r"1 of 2 questions \(http_500 1\)"):
        index.search(["Where is Tarsk?", "Who is Holm?"], 2)


def test_rows_finished_before_a_failure_are_kept(store, tmp_path, monkeypatch):
    monkeypatch.setattr(rankings, "CHUNK", 1)
    questions = (Question("q0", "Who surveyed Lake Orrin?"), Question("q1", "Where is Tarsk?"))
    benchmark = Benchmark("toy", PASSAGES, questions)
    paths = {"calls": str(tmp_path / "calls"), "broken": str(tmp_path / "broken")}
    method = filtered("Answer: 1", **paths)
    (tmp_path / "broken").touch()
    with pytest.raises(FailedSearchError):
        rankings.rankings_stage(benchmark, method, store, k=3)
    (tmp_path / "broken").unlink()
    found = rankings.rankings_stage(benchmark, method, store, k=3)
    asked = [line.split("?")[0] for line in (tmp_path / "calls").read_text().splitlines()]
    assert asked == ["Question: Who surveyed Lake Orrin", "Question: Where is Tarsk", "Question: Where is Tarsk"]
    assert found.facts["search_usage"] == {"calls": 2, "prompt_tokens": 14, "completion_tokens": 6}


# HippoRAG


@dataclass(frozen=True, kw_only=True)
class Capitals(Component):
    """Every capitalised word but the first."""

    def find(self, questions):
        return [Named(tuple(word.strip("?") for word in q.split()[1:] if word[0].isupper())) for q in questions]


def first(**settings):
    return HippoRag(**{"embedder": WordEmbedder(), "openie": Table(), "entities": Capitals(), **settings})


def test_the_walk_begins_at_named_phrases(store):
    index = first().build(PASSAGES, store)
    named, nothing = index.search(["Where is Velden?", "Who crosses the bridge?"], 4)
    assert named.ids[:2] == ("p2", "p1")
    assert nothing.ids[0] == "p3"  # without an entity: by cosine


def test_plain_rankings_against_dense_algebra(store):
    index = first().build(PASSAGES, store)
    phrases = ["lake orrin", "marta holm", "tarsk", "velden"]
    graph = np.diag([1.0, 1, 1], 1) + np.diag([1.0, 1, 1], -1)
    held = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]])
    reset = np.array([[0], [0], [1 / 2], [1.0]])
    scores = (held.T @ solved(graph, reset, 0.5))[:, 0]
    found = index.search(["Is Tarsk in Velden?"], 4)[0]
    assert len(phrases) == len(held)
    np.testing.assert_allclose(dict(zip(found.ids, found.scores, strict=True))["p2"], scores[2], atol=1e-8)
    np.testing.assert_allclose(sorted(found.scores), sorted(scores), atol=1e-8)


def test_entities_by_a_model_are_counted_and_fail_with_it(store, tmp_path):
    model = Script(
        say=lambda _, asked: '{"entities": ["Velden"]}' if "Velden" in asked else "none",
        broken=str(tmp_path / "broken"),
    )
    index = first(entities=LlmEntities(llm=model)).build(PASSAGES, store)
    assert index.search(["Where is Velden?"], 4)[0].usage == Usage(1, 7, 3)
    assert index.search(["Who crosses the bridge?"], 4)[0].usage == Usage(1, 7, 3)  # asked, though nothing was named
    (tmp_path / "broken").touch()
    with pytest.raises(FailedSearchError, match="finding entities failed for 1 of 1"):
        index.search(["Where is Tarsk?"], 2)


# replies


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"entities": ["A", "B", "A"]}', ("A", "B")),
        ('```json\n["A", " b\\n c"]\n```', ("A", "b c")),
        ('<think>["X"]</think>{"named_entities": ["A", 7, null, "", {"x": 1}]}', ("A", "7")),
        ('{"entities": ["A", "B', ("A",)),
        ('{"entities": []}', ()),
        ('["\\ud800x", "--"]', ("\ufffdx",)),
        ("There are none.", None),
        ("", None),
    ],
)
def test_entities_in_replies(reply, found):
    assert entities_of(reply) == found


@pytest.mark.parametrize(
    ("reply", "triples", "malformed"),
    [
        ('{"triples": [["a", "b", "c"], ["a", "b"], ["a", "", "c"], "x", ["a", "b", "c", "d"]]}', [("a", "b", "c")], 4),
        ('Here: [["a", "b", "c"]] Done.', [("a", "b", "c")], 0),
        ('[{"subject": "a", "relation": "b", "object": 3}]', [("a", "b", "3")], 0),
        ('["a", "b", "c"]', [("a", "b", "c")], 0),
        ('{"triples": [["a", "b", "c"], ["d", "e", "f"], ["g", "h', [("a", "b", "c"), ("d", "e", "f")], 0),
        ('{"triples": []}', [], 0),
        ('{"triples": [["a", "b", ["c"]]]}', [], 1),
    ],
)
def test_triples_in_replies(reply, triples, malformed):
    found = triples_of(reply)
    assert (list(found.triples), found.malformed) == (triples, malformed)


@given(st.text(alphabet='[]{}",:abc\\ \n0', max_size=60))
def test_no_reply_breaks_the_parsers(reply):
    entities_of(reply)
    for triple in (triples_of(reply) or ((), 0))[0]:
        assert len(triple) == 3 and all(triple)


# OpenIE


def extractor(instruction, asked):
    if "Nobody" in asked:
        return "There is nothing."
    if "graph" in instruction:
        return '{"triples": [["Marta Holm", "is", "here"], ["bad"]]}'
    return '{"entities": ["Marta Holm"]}'


def by_model(tmp_path, **settings):
    paths = {"calls": str(tmp_path / "calls"), "broken": str(tmp_path / "broken")}
    return LlmOpenIE(llm=Script(**{"say": extractor, **paths, **settings}), batch_size=2)


def test_a_model_is_asked_for_entities_and_then_for_triples(store, tmp_path):
    artifact = openie_stage(PASSAGES, by_model(tmp_path), store)
    found = read_extractions(artifact)
    assert found[0] == Extraction(("Marta Holm",), (("Marta Holm", "is", "here"),), 1, usage=Usage(2, 14, 6))
    assert found[3] == Extraction(unparsed=2, usage=Usage(2, 14, 6))
    assert {name: artifact.facts[name] for name in ("entities", "triples", "malformed", "unparsed")} == {
        "entities": 3, "triples": 3, "malformed": 3, "unparsed": 2,
    }  # fmt: skip
    assert [artifact.facts[n] for n in ("calls", "prompt_tokens", "completion_tokens")] == [8, 56, 24]
    asked = (tmp_path / "calls").read_text().splitlines()
    assert [line.endswith('Entities: ["Marta Holm"]') for line in asked[:4]] == [False, False, True, True]


def test_failed_passages_are_asked_again_and_no_other(store, tmp_path):
    (tmp_path / "broken").touch()
    with pytest.raises(UnfinishedOpenIEError, match=r"failed on 2 of 4 passages \(http_500 2\).*'p1'"):
        second(openie=by_model(tmp_path)).build(PASSAGES, store)
    (tmp_path / "broken").unlink()
    (tmp_path / "calls").unlink()
    resumed = openie_stage(PASSAGES, by_model(tmp_path), store)
    assert len((tmp_path / "calls").read_text().splitlines()) == 4
    unbroken = openie_stage(PASSAGES, by_model(tmp_path), Store(tmp_path / "other"))
    name = "extractions.jsonl"
    assert (resumed.path / name).read_bytes() == (unbroken.path / name).read_bytes()


def test_a_passage_longer_than_the_window_is_cut(tmp_path):
    passage = Passage("p0", "Long", "Marta Holm was here. " * 400)
    assert by_model(tmp_path, window=500).extract([passage])[0].triples
    asked = (tmp_path / "calls").read_text().splitlines()
    assert all(len(line.split()) < 500 for line in asked)
    with pytest.raises(ConfigError, match="window is too small"):
        by_model(tmp_path, window=20).extract([passage])


def released(tmp_path, docs, **settings):
    path = tmp_path / "openie_results_ner_model.json"
    path.write_text(json.dumps({"docs": docs, "avg_ent_chars": 1}))
    return ReleasedOpenIE(file=str(path), **settings)


def document(passage, triples):
    return {"idx": "chunk-1", "passage": passage, "extracted_entities": ["A", 3, ""], "extracted_triples": triples}


def test_released_results_are_found_by_their_text(store, tmp_path):
    whole = document("Lake Orrin\n  Lake Orrin was surveyed by Marta Holm.", [["Lake Orrin", "by", "Holm"], ["x"]])
    parts = [document(passage.text, []) for passage in PASSAGES[1:]]
    found = released(tmp_path, [whole, *parts]).extract(PASSAGES)
    assert found[0] == Extraction(("A",), (("Lake Orrin", "by", "Holm"),), malformed=1)
    assert found[1] == Extraction(("A",))


def test_released_results_of_another_corpus_are_refused_or_counted(store, tmp_path):
    docs = [document(PASSAGES[0].content, [["a", "b", "c"]])]
    with pytest.raises(InputError, match=r"passage 'p1'.*missing=skip"):
        openie_stage(PASSAGES, released(tmp_path, docs), store)
    assert openie_stage(PASSAGES, released(tmp_path, docs, missing="skip"), store).facts["unmatched"] == 3


def test_released_results_are_known_by_their_bytes(tmp_path):
    before = released(tmp_path, []).identity()
    assert released(tmp_path, [document("x", [])]).identity() != before
    with pytest.raises(InputError, match="cannot be read"):
        ReleasedOpenIE(file=str(tmp_path / "none.json")).identity()
    (tmp_path / "bad.json").write_text('{"docs": [{"passage": 1}]}')
    with pytest.raises(InputError, match="result file of HippoRAG"):
        ReleasedOpenIE(file=str(tmp_path / "bad.json")).extract(PASSAGES)


def test_all_parts_follow_their_protocols():
    model = Script(say=extractor)
    for part in (LlmOpenIE(llm=model), ReleasedOpenIE(file="x"), SpacyOpenIE()):
        assert isinstance(part, OpenIE)
    for part in (LlmEntities(llm=model), SpacyEntities()):
        assert isinstance(part, EntityFinder)
    assert isinstance(RecognitionFilter(llm=model), FactFilter)


# spaCy


@pytest.fixture(scope="module")
def parsed():
    pytest.importorskip("spacy", reason="the extra `spacy` is not installed")
    texts = {
        "The Glass Harbour (film)": "The Glass Harbour is a 1962 drama film directed by Paul Renner. It was shot in Paris.",
        "Mabel": "Mabel was the wife of Roger. She died in Tarsk.",
        "北京": "北京",
    }
    passages = [Passage(f"p{n}", title, text) for n, (title, text) in enumerate(texts.items())]
    return SpacyOpenIE().extract(passages)


def test_dependencies_become_triples(parsed):
    assert {
        ("The Glass Harbour", "directed by", "Paul Renner"),
        ("The Glass Harbour", "shot in", "Paris"),
    } <= set(parsed[0].triples)
    assert {("Mabel", "is wife of", "Roger"), ("Mabel", "died in", "Tarsk")} <= set(parsed[1].triples)
    assert {"The Glass Harbour", "Paul Renner", "Paris"} <= set(parsed[0].entities)
    assert parsed[2].entities[0] == "北京"


def test_triples_are_whole_and_hold_a_name(parsed):
    for found in parsed:
        assert all(len(triple) == 3 and all(triple) and triple[0] != triple[2] for triple in found.triples)
        assert all(subject in found.entities or target in found.entities for subject, _, target in found.triples)


def test_a_passage_is_read_alike_in_any_batch(parsed):
    passage = Passage("p1", "Mabel", "Mabel was the wife of Roger. She died in Tarsk.")
    assert SpacyOpenIE().extract([passage])[0] == parsed[1]


def test_questions_name_their_entities(parsed):
    asked = ["When was Paul Renner born?", "who wrote the book?"]
    assert [each.entities for each in SpacyEntities().find(asked)] == [("Paul Renner",), ("book",)]


def test_a_pipeline_that_is_not_there_is_told():
    pytest.importorskip("spacy", reason="the extra `spacy` is not installed")
    with pytest.raises(ConfigError, match="can't be loaded"):
        SpacyOpenIE(pipeline="xx_none").extract(list(PASSAGES))
