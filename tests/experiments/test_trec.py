"""TREC files from the command line."""

import json
from pathlib import Path

import pytest

from experiments.cell import run_cell
from experiments.settings import Method, Run
from experiments.trec import main
from psi.errors import ConfigError
from tests.toys import ToyLoader, ToyReader, ToyRetriever


def test_runs_are_written_and_score_as_they_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(
        dataset=ToyLoader(), method=Method(name="m", retriever=ToyRetriever()), metrics=("recall@1", "mrr"), answers=0,
        reader=ToyReader(calls=str(tmp_path / "calls")), store=str(tmp_path / "store"),
    )  # fmt: skip
    cell = run_cell(run, "toy", "")
    assert cell.error is None
    main([f"store={run.store}", f"out={tmp_path / 'out'}"])
    qrels, written = capsys.readouterr().out.split()
    main([f"run={written}", f"qrels={qrels}", "metrics=[recall@1,mrr]"])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    summary = json.loads((Path(run.store) / cell.stages["scores"] / "summary.json").read_text())
    assert {name: mean for name, mean, _ in rows} == {name: f"{each['mean']:.4f}" for name, each in summary.items()}


@pytest.mark.parametrize("arguments", [[], ["run=a"], ["out=a", "run=b", "qrels=c"]])
def test_unclear_requests_are_refused(arguments: list[str]) -> None:
    with pytest.raises(ConfigError):
        main(arguments)
