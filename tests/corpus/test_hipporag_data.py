"""The loader on real benchmark files: counts, spot rows, and gold against an independent mapping."""

import json
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from psi.corpus.hipporag import HippoRagBenchmark
from psi.corpus.records import Benchmark

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
DATASETS = {
    "twowiki": ("2wikimultihopqa", 6119, 1000),
    "hotpotqa_train": ("hotpotqa_train", 994, 100),
    "musique_train": ("musique_train", 1890, 100),
    "popqa": ("popqa", 5215, 1000),
    "nq_oracle": ("nq_open_oracle", 2600, 2655),
}
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no benchmark files in ../shared/data")


def _loader(name: str) -> HippoRagBenchmark:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSI_DATA", str(DATA))
        loader = instantiate(OmegaConf.load(ROOT / "conf" / "dataset" / f"{name}.yaml"), _convert_="all")
    assert isinstance(loader, HippoRagBenchmark)
    return loader


@cache
def _benchmark(name: str) -> Benchmark:
    return _loader(name).load()


def _raw(name: str) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    stem = DATASETS[name][0]
    questions, corpus = (json.loads((DATA / stem / f"{stem}{end}.json").read_text("utf-8")) for end in ("", "_corpus"))
    return questions, corpus


@pytest.mark.parametrize(
    "name", ["nq", "popqa", "hotpotqa", "twowiki", "musique", "hotpotqa_train", "musique_train", "nq_oracle"]
)
def test_every_configuration_is_complete(name: str) -> None:
    loader = _loader(name)
    assert loader.name == name
    assert set(OmegaConf.load(ROOT / "conf" / "dataset" / f"{name}.yaml")) - {"_target_"} == set(vars(loader))


@needs_data
@pytest.mark.parametrize("name", DATASETS)
def test_counts(name: str) -> None:
    benchmark = _benchmark(name)
    _, passages, questions = DATASETS[name]
    assert (len(benchmark.passages), len(benchmark.questions)) == (passages, questions)
    assert benchmark.passages.ids == tuple(f"{i:05d}" for i in range(passages))
    assert benchmark.report.unmapped_gold == ()
    assert benchmark.report.skipped_empty == ()
    assert all(question.answers and question.gold for question in benchmark.questions)


@needs_data
@pytest.mark.parametrize(
    ("name", "position", "title", "text"),
    [
        ("twowiki", 0, "Teutberga", "Teutberga( died 11 November 875) was a queen of Lotharingia"),
        ("hotpotqa_train", 0, "Demon Dice", "Demon Dice, originally published as Chaos Progenitus"),
        (
            "musique_train",
            0,
            "Journal of Mathematical Physics",
            "The Journal of Mathematical Physics is a peer-reviewed",
        ),
        ("popqa", 0, "Rankin (name) - People with the last name", "the Communist Party of Canada-Manitoba"),
    ],
)
def test_first_passages(name: str, position: int, title: str, text: str) -> None:
    passage = _benchmark(name).passages[position]
    assert passage.title == title
    assert passage.text.startswith(text)


@needs_data
@pytest.mark.parametrize("name", DATASETS)
def test_first_middle_and_last_rows_are_those_of_the_files(name: str) -> None:
    benchmark = _benchmark(name)
    questions, corpus = _raw(name)
    for at in (0, len(corpus) // 2, len(corpus) - 1):
        assert benchmark.passages[at].title.split() == corpus[at]["title"].split()
        assert benchmark.passages[at].text.split() == corpus[at]["text"].split()
    for at in (0, len(questions) // 2, len(questions) - 1):
        row, question = questions[at], benchmark.questions[at]
        assert question.text == row["question"].strip()
        assert question.id == str(row.get("id", row.get("_id")))
        assert question.answers[0] == (row.get("obj") or row["answer"] if name != "nq_oracle" else row["answer"][0])


@needs_data
@pytest.mark.parametrize("name", DATASETS)
def test_gold_is_what_an_independent_mapping_gives(name: str) -> None:
    def key(text: str) -> str:
        return unicodedata.normalize("NFC", text).strip()

    questions, corpus = _raw(name)
    titles = [key(passage["title"]) for passage in corpus]
    for row, question in zip(questions, _benchmark(name).questions, strict=True):
        if "supporting_facts" in row:
            wanted = {key(title) for title, _ in row["supporting_facts"]}
            expected = {f"{i:05d}" for i, title in enumerate(titles) if title in wanted}
        else:
            pairs = [
                (p["title"], p.get("text", p.get("paragraph_text"))) for p in row["paragraphs"] if p["is_supporting"]
            ]
            expected = {_position(name, key(title), key(text)) for title, text in pairs}
        assert set(question.gold) == expected


@cache
def _positions(name: str) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for i, row in enumerate(_raw(name)[1]):
        pair = tuple(unicodedata.normalize("NFC", row[part]).strip() for part in ("title", "text"))
        found.setdefault((pair[0], pair[1]), f"{i:05d}")
    return found


def _position(name: str, title: str, text: str) -> str:
    return _positions(name)[title, text]


@needs_data
@pytest.mark.parametrize(
    ("name", "hops", "kinds"),
    [
        ("twowiki", {2: 765, 4: 235}, {"compositional", "comparison", "bridge_comparison", "inference"}),
        ("hotpotqa_train", {2: 100}, {"bridge", "comparison"}),
        ("musique_train", {2: 68, 3: 27, 4: 5}, {"2hop", "3hop1", "3hop2", "4hop1", "4hop3"}),
        ("popqa", {1: 1000}, {"occupation", "place of birth"}),
        ("nq_oracle", {1: 2655}, {""}),
    ],
)
def test_hops_and_kinds(name: str, hops: dict[int, int], kinds: set[str]) -> None:
    questions = _benchmark(name).questions
    assert {n: sum(question.hops == n for question in questions) for n in hops} == hops
    assert {question.kind for question in questions} == kinds


@needs_data
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("twowiki", ("Lothair II mother", "Ermengarde of Tours date of death")),
        (
            "musique_train",
            (
                "What company published Journal of Psychotherapy Integration?",
                "Who was the first president of American Psychological Association ?",
            ),
        ),
    ],
)
def test_gold_sub_questions(name: str, steps: tuple[str, ...]) -> None:
    questions = _benchmark(name).questions
    assert questions[0].steps == steps
    assert all(question.steps and not any("#" in step for step in question.steps) for question in questions)


@needs_data
def test_popqa_aliases_are_parsed() -> None:
    questions = _benchmark("popqa").questions
    assert not any(answer.startswith(("[", '"')) for question in questions for answer in question.answers)
    assert questions[0].answers[:5] == ("politician", "political leader", "political figure", "polit.", "pol")


@needs_data
def test_the_published_2wiki_corpus_is_the_pinned_one() -> None:
    loader = _loader("twowiki")
    assert loader.fingerprint()["2wikimultihopqa_corpus.json"] == loader.sha256["2wikimultihopqa_corpus.json"]
