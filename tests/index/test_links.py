import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError
from psi.index.links import LinkIndexer
from psi.index.mentions import Trie, names, phrases, words
from psi.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def passages(*titled):
    return Passages([Passage(f"p{number}", title, text) for number, (title, text) in enumerate(titled)])


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Lilu (mythology)", "It is a spirit.", [("title", "Lilu")]),
        ("The Siller Gun", "It is a work.", [("title", "The Siller Gun"), ("article", "Siller Gun")]),
        ("Mackay, Queensland", "It lies north.", [("title", "Mackay Queensland"), ("comma", "Mackay")]),
        ("John Mayne", "John D. Mayne (1759–1836) was a poet.", [("title", "John Mayne"), ("head", "John D Mayne")]),
        (
            "Lady X",
            "Lady X, born Ann Lee Holm, sings.",
            [("title", "Lady X"), ("head", "Lady X"), ("alias", "Ann Lee Holm")],
        ),
        ("May", "It is a month.", []),
        ("Ai", "It is a poet.", []),
        ("politics", "It is an art.", []),
        ("Monday (song)", "The song", []),
        ("Ten words are one more than any key may have", "It is long.", []),
        ("", "Ada Holm was a poet.", []),
    ],
)
def test_names_of_a_passage(title, text, expected):
    assert names(Passage("p", title, text)) == [(kind, tuple(name.split())) for kind, name in expected]


def test_phrases_are_runs_of_capitalised_words():
    text = "In 1780 Ada Holm's mill at Port Vell burnt; Élise Ålund-Smith saw it. A cat did not."
    assert phrases(text) == {"In", "Ada Holm", "Port Vell", "Élise Ålund-Smith"}
    assert phrases("nothing here is a name") == set()


def naive(keys, text):
    found, place = [], 0
    while place < len(text):
        lengths = [length for length in range(len(text) - place, 0, -1) if tuple(text[place : place + length]) in keys]
        if lengths:
            found.append(keys.index(tuple(text[place : place + lengths[0]])))
        place += lengths[0] if lengths else 1
    return found


WORDS = st.sampled_from(["Ada", "Holm", "Tarsk", "of"])


@given(st.lists(st.lists(WORDS, min_size=1, max_size=3).map(tuple), unique=True), st.lists(WORDS, max_size=12))
def test_the_trie_finds_what_trying_every_length_finds(keys, text):
    assert Trie(keys).find(text) == naive(keys, text)


def test_words_keep_capitals():
    assert words("Lothair II's mother, 835–869") == ["Lothair", "II", "s", "mother", "835", "869"]


CORPUS = passages(
    ("Lake Orrin", "the lake lies near Tarsk and was mapped by Ada Holm"),
    ("Tarsk", "a town by the Blue River"),
    ("Ada Holm", "a surveyor of the Blue River"),
    ("Ada Holm (poet)", "another person"),
)


def test_edges_by_name_follow_the_formula(store):
    edges = LinkIndexer(phrase=0).build(CORPUS, store).edges.toarray()
    shared = 1 / math.sqrt(2)  # two passages are called Ada Holm
    ahead, back = 1 / (1 + 0.05 * 3), 0.25 / (1 + 0.05)
    expected = np.zeros((4, 4))
    expected[0] = 0, ahead, shared * ahead, shared * ahead
    expected[:, 0] = 0, back, shared * back, shared * back
    assert edges == pytest.approx(expected)


def test_phrases_link_by_how_many_passages_hold_them(store):
    edges = LinkIndexer(title=0, head=0).build(CORPUS, store).edges.toarray()
    assert edges[1, 2] == edges[2, 1] == pytest.approx(0.5)  # Blue River, in two passages
    assert edges[0, 1] == pytest.approx(0.5)  # Tarsk: the title counts
    assert edges[2, 3] == pytest.approx(0.5 / (1 + math.log(2)))  # Ada Holm, in three
    assert edges[1, 3] == 0


def test_a_passage_named_in_two_ways_counts_the_surest(store):
    corpus = passages(("Ada Holm, Queen", "Ada Holm was a queen."), ("Mill", "built by Ada Holm"))
    index = LinkIndexer(comma=0.95, phrase=0).build(corpus, store)
    assert index.edges[1, 0] == pytest.approx(0.95 / 1.05)


@pytest.mark.parametrize(("others", "linked"), [(2, True), (3, False)])
def test_phrases_of_more_than_the_common_number_link_nothing(others, linked, store):
    corpus = passages(*[("", f"text {i} from the Blue River") for i in range(others)])
    assert bool(LinkIndexer(common=2).build(corpus, store).edges.nnz) == linked


def test_without_titles_phrases_alone_link(store):
    index = LinkIndexer().build(passages(("", "it lies by the Blue River"), ("", "a Blue River boat")), store)
    assert index.named.shape == (0, 2)
    assert index.edges.toarray().tolist() == [[0.0, 0.5], [0.5, 0.0]]


@pytest.mark.parametrize("texts", [["nothing"], ["nothing", "at all"]])
def test_a_corpus_without_capitals_has_no_links(texts, store):
    assert LinkIndexer().build(passages(*[("", text) for text in texts]), store).edges.nnz == 0


def test_links_are_stored_as_plain_arrays_and_made_alike_each_time(tmp_path):
    corpus = passages(("Ada Holm", "of Tarsk"), ("Tarsk", "home of Ada Holm"), ("Mill", "in Tarsk"))
    files = []
    for name in ("first", "second"):
        store = Store(tmp_path / name)
        with store.recording() as made:
            LinkIndexer().build(corpus, store)
        files.append({path.name: path.read_bytes() for path in made[0].path.iterdir() if path.name != "manifest.json"})
    assert files[0] == files[1]
    assert {name.rsplit(".", 1)[1] for name in files[0]} == {"npy", "json"}
    assert json.loads(files[0]["keys.json"]) == [["Ada", "Holm"], ["Mill"], ["Tarsk"]]


@pytest.mark.parametrize("setting", [{"title": 1.5}, {"hub": -0.1}, {"common": 1}])
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(ConfigError, match=next(iter(setting))):
        LinkIndexer(**setting)
