"""SproutRAG's training with a tiny random encoder: splits, examples, losses, and a kill in the middle."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from baselines.sproutrag import Encoder, Sprout, StoredTraining
from baselines.sproutrag import training as training_module
from baselines.sproutrag.chunks import SentenceChunks
from baselines.sproutrag.encoding import encode_document
from baselines.sproutrag.examples import corpus_of, examples_of
from baselines.sproutrag.losses import attention_loss, batch_losses
from baselines.sproutrag.split import PARTS, DocumentSplit
from baselines.sproutrag.threshold import information_efficiency
from baselines.sproutrag.training import Schedule, SproutTraining
from psi.component import Component
from psi.corpus.records import Benchmark, Passage, Passages, Question, Span
from psi.errors import ConfigError, InputError
from psi.retrieval.ranking import Ranking
from psi.store import Store

TOPICS = ["river", "castle", "violin", "bread", "goal", "ship", "bridge", "garden"]


@dataclass(frozen=True, kw_only=True)
class Toy(Component):
    """Eight documents of eight chunks; three questions each, with two supporting chunks."""

    documents: int = 8

    def load(self):
        passages, questions = [], []
        for number, topic in enumerate(TOPICS[: self.documents]):
            texts = [f"The {topic} has part {i} near the {TOPICS[(number + i) % 8]}. " for i in range(8)]
            starts = np.cumsum([0, *map(len, texts)]).tolist()
            passages += [
                Passage(f"{topic}#{i}", topic, text, topic, None, Span(topic, starts[i], starts[i + 1]))
                for i, text in enumerate(texts)
            ]
            questions += [
                Question(f"{topic}?{i}", f"What is part {i} of the {topic}?", gold=(f"{topic}#{i}", f"{topic}#{i + 3}"))
                for i in range(3)
            ]
        return Benchmark("toy", Passages(passages), tuple(questions))

    def fingerprint(self):
        return {"toy": "1"}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    folder = str(tmp_path_factory.mktemp("tiny"))
    tokenizer = AutoTokenizer.from_pretrained(Encoder()._source)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=128,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Encoder(model=folder, max_tokens=64)


def split(**settings):
    return DocumentSplit(dataset=Toy(), shares=(0.5, 0.25, 0.25), **settings)


def training(**settings):
    given = {"epochs": 2, "batch_size": 4, "micro_batch": 2, "encoder_rate": 1e-3, "scalar_rate": 0.05}
    return SproutTraining(datasets={"toy": split()}, checkpoint_every=2, **(given | settings))


def test_parts_share_no_document_and_together_are_the_whole():
    parts = [split().of(part).load() for part in PARTS]
    documents = [{passage.document for passage in part.passages} for part in parts]
    assert [len(each) for each in documents] == [4, 2, 2]
    assert set().union(*documents) == set(TOPICS)
    assert sum(len(part.questions) for part in parts) == 24
    for part in parts:
        assert all(gold in part.passages.position for question in part.questions for gold in question.gold)
    assert "4 of 8 documents, 12 of 24 questions; 0 questions" in parts[0].report.notes[-1]
    assert split(seed=1).load().passages.ids != parts[2].passages.ids


def test_impossible_splits_are_refused():
    with pytest.raises(ConfigError, match="sum to"):
        DocumentSplit(dataset=Toy(), shares=(0.5, 0.5, 0.5))
    with pytest.raises(InputError, match="2 documents"):
        DocumentSplit(dataset=Toy(documents=2)).load()
    assert {len(DocumentSplit(dataset=Toy(documents=3)).of(part).load().passages) for part in PARTS} == {8}


def test_hard_negatives_never_support_the_question(encoder, tmp_path):
    corpora = [corpus_of(split().of("train").load(), encoder)]
    examples = examples_of(corpora, 3, Store(tmp_path))
    assert len(examples) == 12
    for example in examples:
        assert example.positives and len(example.negatives) == 3
        for place, chunk in example.negatives:
            assert (place.document, chunk) not in example.gold
            assert chunk in corpora[0].windows(place.document)[place.window].chunks
        held = corpora[0].windows(example.place.document)[example.place.window].chunks
        assert set(example.positives) <= set(held.tolist())


def test_losses_are_those_of_the_formulas(encoder, tmp_path):
    import torch

    corpora = [corpus_of(split().of("train").load(), encoder)]
    example = next(e for e in examples_of(corpora, 2, Store(tmp_path)) if e.pairs)
    heads = torch.softmax(torch.tensor([0.0, 1.0, 2.0, 3.0]), dim=0)
    with torch.no_grad():
        losses = batch_losses([example], corpora, encoder, heads, temperature=0.05, in_batch=False)
        window = corpora[0].windows(example.place.document)[example.place.window]
        output = encoder.passed([window])[0]
    question = encoder.encode_questions([example.question])[0]

    def vector(place, chunk):
        where = corpora[0].windows(place.document)[place.window]
        with torch.no_grad():
            states = encoder.passed([where])[0].states.numpy()
        mean = states[where.chunks == chunk].mean(axis=0)
        return mean / np.linalg.norm(mean)

    near = [question @ vector(example.place, chunk) / 0.05 for chunk in example.positives]
    far = [question @ vector(place, chunk) / 0.05 for place, chunk in example.negatives]
    expected = np.mean([-p + np.log(np.exp(p) + np.exp(far).sum()) for p in near])
    assert float(losses.retrieval) == pytest.approx(expected, rel=1e-4)
    attention = sum(w * layer for w, layer in zip(heads.tolist(), torch.cat(output.attentions).numpy(), strict=True))
    logs = []
    for a in example.positives:
        for b in (chunk for chunk in example.positives if chunk > a):
            x, y = np.flatnonzero(window.chunks == a), np.flatnonzero(window.chunks == b)
            logs.append(np.log((attention[np.ix_(x, y)].mean() + attention[np.ix_(y, x)].mean()) / 2))
    assert losses.pairs == len(logs)
    assert float(losses.attention) == pytest.approx(-sum(logs), rel=1e-4)
    with torch.no_grad():
        assert float(attention_loss(window, output, example.positives, heads)) == pytest.approx(-sum(logs), rel=1e-4)


def test_in_batch_negatives_make_it_harder_and_no_supporting_chunk_is_one(encoder, tmp_path):
    import torch

    corpora = [corpus_of(split().of("train").load(), encoder)]
    examples = examples_of(corpora, 1, Store(tmp_path))[:3]
    with torch.no_grad():
        few, many = (
            float(batch_losses(examples, corpora, encoder, None, temperature=0.05, in_batch=b).retrieval)
            for b in (False, True)
        )
    assert many > few


def test_rates_rise_and_fall():
    schedule = Schedule(steps=10, rising=2)
    assert [round(schedule.share(step), 3) for step in range(10)] == [
        0.5,
        1,
        1,
        0.875,
        0.75,
        0.625,
        0.5,
        0.375,
        0.25,
        0.125,
    ]


def test_training_changes_what_it_should_and_is_found_again(encoder, tmp_path):
    store = Store(tmp_path)
    trained = training().obtain(encoder, store)
    folder = next((tmp_path / "stages" / "sprout_training").iterdir())
    rows = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6] and rows[-1]["loss"] < rows[0]["loss"]
    assert np.ptp(trained.scalars) > 0
    assert not list(folder.glob("*.log"))
    assert trained.encoder.identity() != encoder.identity()
    before = encode_document(split().load().passages[:8], encoder).vectors
    assert not np.allclose(before, encode_document(split().load().passages[:8], trained.encoder).vectors, atol=1e-3)
    assert training().obtain(encoder, store).encoder == trained.encoder


def test_a_method_trains_once_and_opens_weights_trained_elsewhere(encoder, tmp_path):
    store, corpus = Store(tmp_path), split().load()
    method = Sprout(encoder=encoder, trained=training(epochs=1))
    with store.recording() as used:
        found = method.build(corpus.passages, store).search(["What is the river?"], 4)
    assert {artifact.manifest["stage"] for artifact in used} == {"sprout_encoding", "sprout_trees"}
    folder = str(next((tmp_path / "stages" / "sprout_training").iterdir()))
    elsewhere = Sprout(encoder=encoder, trained=StoredTraining(folder=folder))
    assert elsewhere.build(corpus.passages, Store(tmp_path / "other")).search(["What is the river?"], 4) == found
    with pytest.raises(ConfigError, match="another encoder"):
        StoredTraining(folder=folder).obtain(Encoder(max_tokens=32), store)


def test_ablations_leave_out_what_they_say(encoder, tmp_path):
    unstructured = training(epochs=1, attention_weight=0.0).obtain(encoder, Store(tmp_path))
    assert not unstructured.scalars.any()
    rows = (next((tmp_path / "stages" / "sprout_training").iterdir()) / "curve.jsonl").read_text()
    assert json.loads(rows.splitlines()[0])["attention"] is None
    alone = training(epochs=1, retrieval_weight=0.0).obtain(encoder, Store(tmp_path))
    assert alone.scalars.any()
    fixed = training(epochs=1, aggregation="uniform").obtain(encoder, Store(tmp_path))
    assert not fixed.scalars.any()


def test_a_killed_training_ends_with_the_same_bytes(encoder, tmp_path, monkeypatch):
    training().obtain(encoder, Store(tmp_path / "whole"))
    original, calls = training_module._Loop._step, []

    def killed_once(self, step):
        calls.append(step)
        if len(calls) == 4:  # after three steps, one past the last state kept
            raise KeyboardInterrupt
        return original(self, step)

    monkeypatch.setattr(training_module._Loop, "_step", killed_once)
    with pytest.raises(KeyboardInterrupt):
        training().obtain(encoder, Store(tmp_path / "killed"))
    training().obtain(encoder, Store(tmp_path / "killed"))
    assert calls == [0, 1, 2, 3, 2, 3, 4, 5]
    whole, killed = (
        json.loads(
            next((tmp_path / name / "stages" / "sprout_training").iterdir()).joinpath("manifest.json").read_text()
        )
        for name in ("whole", "killed")
    )
    assert whole["files"] == killed["files"] and "encoder/model.safetensors" in whole["files"]


def test_nothing_to_learn_from_is_an_error(encoder, tmp_path):
    @dataclass(frozen=True, kw_only=True)
    class Unasked(Toy):
        def load(self):
            whole = super().load()
            return Benchmark("unasked", whole.passages, ())

    with pytest.raises(InputError, match="nothing to learn"):
        SproutTraining(datasets={"toy": DocumentSplit(dataset=Unasked())}).obtain(encoder, Store(tmp_path))


def test_information_efficiency():
    benchmark = Benchmark("b", Passages([Passage(x, "", x) for x in "abcdef"]), (Question("q", "?", gold=("a", "b")),))
    value = information_efficiency(benchmark, [Ranking(("a", "c", "b"), (3.0, 2.0, 1.0))])
    assert value == pytest.approx((1 / 2 * 1 + 1 * 2 / 3 + 1 * 2 / 5) / 3)


def test_passages_become_documents_of_chunks_and_nothing_is_lost():
    @dataclass(frozen=True, kw_only=True)
    class Passagewise(Toy):
        def load(self):
            text = "One is here. Two is there. Three is away.\nFour."
            passages = Passages([Passage("p", "T", text), Passage("q", "", "北京。")])
            return Benchmark("toy", passages, (Question("x", "?", gold=("p", "missing")),))

    benchmark = SentenceChunks(dataset=Passagewise()).load()
    assert [(c.id, c.title, c.document) for c in benchmark.passages] == [
        ("p#0000", "T", "p"), ("p#0001", "T", "p"), ("q#0000", "", "q"),
    ]  # fmt: skip
    chunks = [chunk for chunk in benchmark.passages if chunk.document == "p"]
    assert "".join(chunk.text for chunk in chunks) == Passagewise().load().passages[0].text
    assert [chunk.span for chunk in chunks] == [Span("p", 0, 27), Span("p", 27, 47)]
    assert benchmark.questions[0].gold == ("p#0000", "p#0001", "missing")
