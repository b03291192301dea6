import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.corpus.gold import unmapped
from psi.corpus.records import Benchmark, LoadReport, Passage, Passages, Question
from psi.corpus.subset import subset
from psi.errors import ConfigError


def _benchmark(n: int = 100) -> Benchmark:
    """n questions in ten blocks of one kind each, two gold passages a question, four passages a question."""
    passages = [Passage(f"p{i}", "", f"text {i}") for i in range(4 * n)]
    questions = tuple(
        Question(f"q{i}", f"question {i}?", gold=(f"p{4 * i}", f"p{4 * i + 1}"), kind=f"block{i * 10 // n}")
        for i in range(n)
    )
    return Benchmark("toy", Passages(passages), questions)


def _ids(benchmark: Benchmark) -> list[str]:
    return [question.id for question in benchmark.questions]


def test_a_subset_spans_the_blocks_and_keeps_the_order() -> None:
    whole = _benchmark()
    part = subset(whole, 10, None, seed=0)
    assert len(part.questions) == 10
    assert len({question.kind for question in part.questions}) > 1
    assert list(part.questions) == [question for question in whole.questions if question in part.questions]
    assert part.passages.digest == whole.passages.digest
    assert any("limit=10, seed=0: 10 of 100" in note for note in part.report.notes)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 5), st.permutations(range(30)))
def test_subsets_nest_and_ignore_the_order_of_the_source(a: int, b: int, seed: int, order: list[int]) -> None:
    whole = _benchmark(30)
    small, large = sorted((a, b))
    chosen = set(_ids(subset(whole, small, None, seed)))
    assert chosen <= set(_ids(subset(whole, large, None, seed)))
    shuffled = dataclasses.replace(whole, questions=tuple(whole.questions[i] for i in order))
    assert set(_ids(subset(shuffled, small, None, seed))) == chosen


def test_seeds_differ_and_zero_is_a_seed() -> None:
    chosen = {seed: tuple(_ids(subset(_benchmark(), 10, None, seed))) for seed in (0, 1, 2)}
    assert len(set(chosen.values())) == 3


@given(st.integers(1, 30), st.integers(1, 130), st.integers(0, 3))
def test_every_gold_passage_stays(limit: int, corpus_limit: int, seed: int) -> None:
    part = subset(_benchmark(30), limit, corpus_limit, seed)
    needed = {gold for question in part.questions for gold in question.gold}
    assert needed <= set(part.passages.ids)
    assert len(part.passages) == max(len(needed), min(corpus_limit, 120))


def test_distractors_nest_too() -> None:
    whole = _benchmark()
    small, large = (set(subset(whole, 10, size, seed=3).passages.ids) for size in (50, 80))
    assert small < large


def test_passages_keep_ids_texts_and_order() -> None:
    whole = _benchmark()
    part = subset(whole, 10, 50, seed=0)
    positions = [whole.passages.position[id_] for id_ in part.passages.ids]
    assert positions == sorted(positions)
    assert all(whole.passages.by_id(passage.id) == passage for passage in part.passages)
    assert any("corpus_limit=50, seed=0: 50 of 400" in note for note in part.report.notes)


def test_limits_beyond_the_data_take_everything_and_say_so() -> None:
    part = subset(_benchmark(20), 21, 81, seed=0)
    assert (len(part.questions), len(part.passages)) == (20, 80)
    assert [note.split(":")[0] for note in part.report.notes] == ["limit=21", "corpus_limit=81"]


def test_more_gold_than_the_limit_stays_and_is_said() -> None:
    part = subset(_benchmark(), 10, 5, seed=0)
    assert len(part.passages) == 20
    assert "more than the limit" in part.report.notes[-1]


def test_no_limits_change_nothing() -> None:
    whole = _benchmark(5)
    assert subset(whole, None, None, seed=7) == whole


def test_documents_that_questions_are_scoped_to_stay_whole() -> None:
    passages = [Passage(f"p{i}", "", "x", document=f"d{i // 10}") for i in range(50)]
    whole = Benchmark("toy", Passages(passages), (Question("q", "?", document="d3"),))
    kept = subset(whole, None, 12, seed=0).passages
    assert len(kept) == 12
    assert {f"p{i}" for i in range(30, 40)} <= set(kept.ids)


def test_the_report_lists_unmapped_gold_of_the_chosen_questions_alone() -> None:
    questions = tuple(Question(f"q{i}", "?", gold=(unmapped(f"lost {i}"),)) for i in range(5))
    report = LoadReport(unmapped_gold=tuple(f"q{i}: lost {i}" for i in range(5)))
    part = subset(Benchmark("toy", Passages([Passage("p", "", "x")]), questions, report), 2, None, seed=0)
    assert part.report.unmapped_gold == tuple(f"{id_}: lost {id_[1:]}" for id_ in _ids(part))


@pytest.mark.parametrize("limits", [(0, None), (None, 0), (-1, None)])
def test_limits_below_one_are_refused(limits: tuple[int | None, int | None]) -> None:
    with pytest.raises(ConfigError, match="must be at least 1"):
        subset(_benchmark(3), *limits, seed=0)
