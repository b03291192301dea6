"""The wrapped packages on real files of theirs, made with a chat model that follows rules. Skipped where one is absent."""

import asyncio
import dataclasses
from importlib.util import find_spec

import pytest

from baselines.external import packages
from baselines.external.packages import Calls, Documents, FourCharacters
from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError, InputError, ModelError
from psi.models.protocols import Message, Usage
from psi.store import Store
from tests.baselines.external_toys import PASSAGES, RETRIEVERS, RuleChat


def needs(name):
    missing = find_spec(name) is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"needs pip install 'psi-bench[{name}]'"))


INSTALLED = [needs(name) for name in RETRIEVERS]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    return {name: Store(tmp_path_factory.mktemp(name)) for name in RETRIEVERS}


@pytest.mark.parametrize("name", INSTALLED)
def test_passages_come_back_by_their_own_ids(name, stores):
    with stores[name].recording() as used:
        index = RETRIEVERS[name].build(PASSAGES, stores[name])
    facts = used[0].facts
    assert facts["texts"] == 4  # one of five is there twice
    assert (facts["calls"], facts["prompt_tokens"]) == (facts["calls"], 10 * facts["calls"])
    assert facts["calls"] >= 4
    assert facts["cut_replies"] == 0
    oslo, genoa = index.search(["Where is Oslo?", "Where is Genoa?"], 10)
    assert set(oslo.ids) <= set(PASSAGES.ids)
    assert "北京" in oslo.ids
    assert {"b b", "d"} <= set(genoa.ids)
    assert list(genoa.scores) == sorted(genoa.scores, reverse=True)
    assert index.search(["Where is Oslo?"], 2)[0].ids == oslo.ids[:2]
    assert index.search([], 3) == []


@pytest.mark.parametrize("name", INSTALLED)
def test_a_second_build_opens_what_is_stored_and_a_search_leaves_it_alone(name, stores, monkeypatch):
    first = RETRIEVERS[name].build(PASSAGES, stores[name]).search(["Where is Oslo?"], 3)
    monkeypatch.setattr(Store, "_make", lambda *_: pytest.fail("built again"))
    again = RETRIEVERS[name].build(PASSAGES, Store(stores[name].root)).search(["Where is Oslo?"], 3)
    assert again == first  # a changed file would have been refused


@pytest.mark.parametrize("name", INSTALLED)
def test_two_corpora_in_one_process_do_not_mix(name, stores, tmp_path):
    other = Passages([Passage("x", "", "Lima lies in Peru."), Passage("y", "", "Peru has Lima and Cusco.")])
    index = RETRIEVERS[name].build(PASSAGES, stores[name])
    small = RETRIEVERS[name].build(other, Store(tmp_path))
    assert set(small.search(["Where is Lima?"], 5)[0].ids) == {"x", "y"}
    assert not {"x", "y"} & set(index.search(["Where is Lima?"], 5)[0].ids)


@pytest.mark.parametrize("name", INSTALLED)
def test_a_model_that_fails_stops_the_index_and_a_later_start_makes_it(name, tmp_path):
    broken = tmp_path / "broken"
    broken.touch()
    rule = RETRIEVERS[name].llm.rule
    retriever = dataclasses.replace(RETRIEVERS[name], llm=RuleChat(rule=rule, broken=str(broken)))
    store = Store(tmp_path / "store")
    with pytest.raises(ModelError, match="the server is down"):
        retriever.build(PASSAGES, store)
    assert not list((tmp_path / "store").rglob("manifest.json"))
    broken.unlink()
    assert "北京" in retriever.build(PASSAGES, store).search(["Where is Oslo?"], 5)[0].ids


@pytest.mark.parametrize("name", INSTALLED)
def test_bad_calls_are_refused(name, stores):
    index = RETRIEVERS[name].build(PASSAGES, stores[name])
    with pytest.raises(ConfigError, match="k=0"):
        index.search(["cat"], 0)
    with pytest.raises(InputError, match="question 1"):
        index.search(["cat", " \n"], 3)


@pytest.mark.skipif(find_spec("lightrag") is None, reason="needs pip install 'psi-bench[lightrag]'")
def test_keywords_of_a_question_cost_one_call_each(stores, tmp_path):
    broken = tmp_path / "broken"
    retriever = dataclasses.replace(RETRIEVERS["lightrag"], llm=RuleChat(rule="light_rag", broken=str(broken)))
    index = retriever.build(PASSAGES, stores["lightrag"])
    rankings = index.search(["Where is Oslo?", "Where is Genoa?"], 5)
    assert [ranking.usage for ranking in rankings] == [Usage(1, 10, 2)] * 2
    naive = dataclasses.replace(retriever, mode="naive").build(PASSAGES, stores["lightrag"])
    assert naive.search(["Where is Oslo?"], 5)[0].usage == Usage()
    broken.touch()
    with pytest.raises(ModelError, match="the server is down"):
        index.search(["Where is Rome?"], 5)


@pytest.mark.parametrize("name", RETRIEVERS)
def test_without_the_package_the_remedy_is_named(name, tmp_path, monkeypatch):
    def absent(_):
        raise ImportError("No module named 'it'")

    monkeypatch.setattr(packages.importlib, "import_module", absent)
    with pytest.raises(ConfigError, match=rf"pip install 'psi-bench\[{name}\]'"):
        RETRIEVERS[name].build(PASSAGES, Store(tmp_path))


def test_replies_that_were_cut_are_counted(caplog):
    class Cut(RuleChat):
        def reply(self, conversations, forms=None):
            return [reply._replace(truncated=True) for reply in super().reply(conversations)]

    async def asked():
        return await asyncio.gather(*(calls.ask((Message("user", "?"),)) for _ in range(3)))

    calls = Calls(Cut(rule="light_rag"))
    assert asyncio.run(asked()) == ["<|COMPLETE|>"] * 3
    assert calls.facts() == {"calls": 3, "prompt_tokens": 30, "completion_tokens": 6, "cut_replies": 3}
    assert "3 of 3 replies were cut" in caplog.text
    assert calls.facts() == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cut_replies": 0}


def test_texts_are_given_once_and_stand_for_all_passages_that_hold_them():
    documents = Documents(PASSAGES)
    by_text = {text: name for name, text in documents.texts.items()}
    assert len(by_text) == 4
    twice, oslo = by_text["Paris lies in France."], by_text["Oslo\nOslo is in Norway."]
    ranking = documents.ranking([oslo, "unknown", twice, oslo], 10)
    assert ranking.ids == ("北京", "a", "c")
    assert ranking.scores == (1, 1 / 2, 1 / 3)
    assert documents.ranking([twice, oslo], 2).ids == ("a", "c")


@pytest.mark.parametrize("text", ["", "a", "abcd", "Hello wörld 👩‍👩‍👧 北京 x\n", "a\0"])
def test_the_token_counter_brings_texts_back(text):
    counter = FourCharacters()
    assert counter.decode(counter.encode(text)) == text
    assert len(counter.encode(text)) == -(-len(text) // 4)
