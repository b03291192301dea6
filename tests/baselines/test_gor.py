"""Graph of Records: what becomes a node, what is learned, and what a response stands for."""

import json
import re
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from baselines.gor import (
    ExtractiveSimulator,
    GraphOfRecords,
    GraphTraining,
    ModelSimulator,
    RecordIndexer,
    load_graph,
)
from baselines.gor.graph import UnfinishedRecordsError
from baselines.gor.network import Attention, Graph, Network, Shape, Task, edges_of, joined, losses
from psi.component import Component, runtime
from psi.corpus.records import Benchmark, Passage, Passages
from psi.errors import ConfigError, InputError, ModelError
from psi.models.protocols import Reply
from psi.store import Store
from tests.toys import ToyLoader, WordEmbedder, corpus

TOPICS = ["budget money cost", "design shape colour", "market buyers price", "remote button screen"]
TEXTS = [f"We talk of {TOPICS[i % 4]} and item{i}. Person{i} agrees with {TOPICS[i % 4]}." for i in range(12)]
QUICK = GraphTraining(epochs=8, heads=2)


@dataclass(frozen=True, kw_only=True)
class Chat(Component):
    """Asks about, and answers with, the topic words of the prompt; `write` may say something else."""

    write: object = runtime(None)
    limit: int | None = None
    asked: dict[int, str] = field(default_factory=dict, metadata={"identity": False})

    def reply(self, conversations, forms=None):
        return [self._one(conversation[-1].content) for conversation in conversations]

    def _one(self, prompt):
        self.asked[len(self.asked)] = prompt
        written = self.write(prompt) if self.write else said(prompt)
        return Reply(written, 10, 2) if isinstance(written, str) else written

    def prompt_tokens(self, conversation):
        return len(conversation[-1].content.split())

    def prompt_limit(self):
        return self.limit


def said(prompt):
    words = " ".join(dict.fromkeys(re.findall("item[0-9]+|budget|design|market|remote", prompt)))
    return f"Question: What of {words}?" if prompt.startswith("Here is one part") else f"It says {words}."


def gor(simulator=None, training=QUICK, **settings):
    index = RecordIndexer(embedder=WordEmbedder(), simulator=simulator or ExtractiveSimulator(), **settings)
    return GraphOfRecords(index=index, training=training)


def stage(store, name):
    (folder,) = (store.root / "stages" / name).iterdir()
    return folder


def records(store):
    return [json.loads(line) for line in (stage(store, "gor_records") / "records.jsonl").read_text().splitlines()]


def contents(root):
    paths = sorted(path for path in root.glob("stages/gor*/*/*") if path.name != "manifest.json")
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_documents_of_any_size_are_searched_whole(n, store):
    ranking = gor().build(corpus(*TEXTS[:n]), store).search(["What is the budget?"], 20)[0]
    assert sorted(ranking.ids) == sorted(f"p{i}" for i in range(n))
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


def test_responses_are_tied_to_what_was_retrieved_and_are_retrieved_themselves(store):
    gor(ModelSimulator(llm=Chat()), retrieved=3).build(corpus(*TEXTS), store)
    graph, rows = load_graph(stage(store, "gor_records")), records(store)
    assert len(rows) == len(graph.queries) == 12 and graph.n_chunks == 12
    for number, row in enumerate(rows):
        node = 12 + number
        children = graph.child_ids[graph.child_offsets[node] : graph.child_offsets[node + 1]]
        assert children.tolist() == row["retrieved"] and len(children) == 3 and max(children) < node
    assert any(max(row["retrieved"]) >= 12 for row in rows)
    assert np.diff(graph.child_offsets)[:12].sum() == 0
    np.testing.assert_array_equal(graph.vectors[12:], WordEmbedder().encode_passages([r["response"] for r in rows]))


def test_calls_are_counted_and_the_prompts_hold_the_texts(store):
    llm = Chat()
    gor(ModelSimulator(llm=llm), most_queries=5).build(corpus(*TEXTS), store)
    facts = json.loads((stage(store, "gor_records") / "manifest.json").read_text())["facts"]
    assert facts["records"] == 5 and facts["calls"] == len(llm.asked) == 10
    assert (facts["prompt_tokens"], facts["completion_tokens"], facts["texts_cut"]) == (100, 20, 0)
    assert all(any(text in prompt for text in TEXTS) for prompt in llm.asked.values())
    assert records(store)[0]["query"].startswith("What of")  # without its label


def test_a_query_that_repeats_another_makes_no_record(store):
    llm = Chat(write=lambda prompt: "What is it?" if prompt.startswith("Here") else "A response.")
    gor(ModelSimulator(llm=llm)).build(corpus(*TEXTS), store)
    assert len(records(store)) == 1 and len(llm.asked) == 13


@pytest.mark.parametrize("failing", [ModelError("server error.", kind="http_500"), "", "<think>hm"])
@pytest.mark.parametrize("part", ["Here is one part", "Below are texts"])
def test_a_failed_call_makes_no_graph_and_only_what_is_missing_is_asked_again(failing, part, store, tmp_path):
    whole = Store(tmp_path / "whole")
    gor(ModelSimulator(llm=Chat())).build(corpus(*TEXTS), whole)

    def breaking(prompt):
        return failing if prompt.startswith(part) and "item7" in prompt else said(prompt)

    bad, again = Chat(write=breaking), Chat()
    with pytest.raises(UnfinishedRecordsError, match="Start again"):
        gor(ModelSimulator(llm=bad)).build(corpus(*TEXTS), store)
    gor(ModelSimulator(llm=again)).build(corpus(*TEXTS), store)
    assert len(again.asked) < 24
    assert contents(store.root) == contents(whole.root)


def test_texts_beyond_the_window_are_cut_and_counted_and_a_tiny_window_is_refused(store, tmp_path):
    long = [f"{text} {'so on ' * 100}" for text in TEXTS]
    gor(ModelSimulator(llm=Chat(limit=150))).build(corpus(*long), store)
    assert json.loads((stage(store, "gor_records") / "manifest.json").read_text())["facts"]["texts_cut"] > 0
    with pytest.raises(ConfigError, match="window is too small"):
        gor(ModelSimulator(llm=Chat(limit=5))).build(corpus(*long), Store(tmp_path / "other"))


def test_without_a_model_queries_and_responses_are_sentences_of_the_document(store):
    gor(retrieved=2).build(corpus(*TEXTS), store)
    sentences = {sentence for text in TEXTS for sentence in re.split(r"(?<=\.) ", text)}
    for row in records(store):
        assert row["query"] in sentences
        assert all(sentence in sentences for sentence in re.split(r"(?<=\.) ", row["response"]))


def test_equal_seeds_give_equal_bytes_whatever_the_threads(store, tmp_path):
    passages, threads = corpus(*TEXTS), torch.get_num_threads()
    stores = {name: Store(tmp_path / name) for name in ("one", "two", "other")}
    gor().build(passages, stores["one"])
    torch.set_num_threads(2 if threads == 1 else 1)
    try:
        gor().build(passages, stores["two"])
    finally:
        torch.set_num_threads(threads)
    gor(training=GraphTraining(epochs=8, heads=2, seed=1)).build(passages, stores["other"])
    assert contents(stores["one"].root) == contents(stores["two"].root)
    nodes = [np.load(stage(each, "gor_embeddings") / "nodes.npy") for each in stores.values()]
    assert np.array_equal(nodes[0], nodes[1]) and not np.array_equal(nodes[0], nodes[2])


def test_another_training_keeps_the_records(store):
    llm, passages = Chat(), corpus(*TEXTS)
    gor(ModelSimulator(llm=llm)).build(passages, store)
    calls = len(llm.asked)
    gor(ModelSimulator(llm=llm), GraphTraining(epochs=3, heads=1)).build(passages, store)
    assert len(llm.asked) == calls


def test_training_brings_the_source_of_a_query_to_its_front(store):
    passages = corpus(*TEXTS)
    gor(training=GraphTraining(epochs=120, heads=2, dropout=0.0, attention_dropout=0.0)).build(passages, store)
    graph, nodes = load_graph(stage(store, "gor_records")), np.load(stage(store, "gor_embeddings") / "nodes.npy")
    scores = graph.queries @ nodes.T
    ranks = [(scores[row] > scores[row, source]).sum() for row, source in enumerate(graph.sources)]
    assert np.mean(ranks) < 2


def test_attention_is_that_of_the_paper_written_out():
    torch.manual_seed(0)
    layer = Attention(3, 2, Shape(layers=1, heads=2, dropout=0.0, attention_dropout=0.0)).eval()
    nodes, edges = torch.randn(4, 3), edges_of(np.array([0, 1]), np.array([2, 2]), 4)
    found = layer(nodes, edges)
    neighbours = {0: [0, 2], 1: [1, 2], 2: [0, 1, 2], 3: [3]}
    weight = layer.project.weight.view(2, 2, 3)
    for node, around in neighbours.items():
        for head in range(2):
            hidden = nodes @ weight[head].T
            raw = torch.stack([
                hidden[other] @ layer.of_source[head] + hidden[node] @ layer.of_target[head] for other in around
            ])  # fmt: skip
            shares = torch.softmax(torch.nn.functional.leaky_relu(raw, 0.2), 0)
            expected = sum(share * hidden[other] for share, other in zip(shares, around, strict=True))
            torch.testing.assert_close(found[node, head], expected + layer.bias[head])


def test_the_losses_are_those_of_the_paper_written_out():
    nodes, queries = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), torch.tensor([[1.0, 0.5]])
    task = Task(queries, torch.tensor([[2, 0, 1]]), torch.tensor([[0.9, 0.5, 0.5]]))
    graph = Graph(nodes, edges_of(np.array([0]), np.array([2]), 3), task)
    contrast, ranking = losses(nodes, [graph])
    scores = [1.0, 1.0, 1.5]  # of the nodes
    assert float(contrast) == pytest.approx(-np.log(np.exp(1.5) / np.exp(scores).sum()))
    # the nodes of equal relevance are no pair
    assert float(ranking) == pytest.approx(np.log1p(np.exp(1.0 - 1.5)))
    twice, same = losses(torch.cat([nodes, nodes]), [graph, graph])
    assert float(twice) == pytest.approx(float(contrast) + np.log(2))  # the other graph's nodes are negatives
    assert float(same) == pytest.approx(float(ranking))


def test_several_graphs_as_one_are_embedded_as_they_are_alone():
    torch.manual_seed(0)
    network = Network(3, Shape(layers=2, heads=2, dropout=0.0, attention_dropout=0.0)).eval()
    task = Task(torch.zeros(1, 3), torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 1))
    graphs = [Graph(torch.randn(n, 3), edges_of(np.array([0]), np.array([n - 1]), n), task) for n in (2, 4)]
    alone = torch.cat([network(graph.nodes, graph.edges) for graph in graphs])
    torch.testing.assert_close(network(*joined(graphs)), alone)


@dataclass(frozen=True, kw_only=True)
class Meetings(Component):
    """Three documents of four chunks."""

    def load(self):
        passages = [Passage(f"m{i}", "", text, document=f"d{i // 4}") for i, text in enumerate(TEXTS)]
        return Benchmark("meetings", Passages(passages), ())

    def fingerprint(self):
        return {}


def test_one_network_is_trained_on_other_documents_where_they_are_given(store):
    method = GraphOfRecords(index=gor().index, training=QUICK, train_on=Meetings())
    for part in (TEXTS[:5], TEXTS[5:]):
        assert len(method.build(corpus(*part), store).search(["Which design?"], 9)[0].ids) == len(part)
    facts = json.loads((stage(store, "gor_network") / "manifest.json").read_text())["facts"]
    assert facts["documents"] == 3
    assert len(list((store.root / "stages" / "gor_embeddings").iterdir())) == 2
    with pytest.raises(InputError, match="belongs to a document"):
        GraphOfRecords(index=gor().index, training=QUICK, train_on=ToyLoader()).build(corpus(*TEXTS), store)


def test_a_batch_gives_what_single_questions_give(store):
    index = gor().build(corpus(*TEXTS), store)
    questions = ["What is the budget?", "Which design?", "remote screen"]
    assert index.search(questions, 5) == [index.search([question], 5)[0] for question in questions]
    assert index.search([], 5) == []
