"""Failures from the command line: runs of a store, sheets, labels."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from experiments.cell import run_cell
from experiments.failures import main
from experiments.import_predictions import Request, import_predictions
from experiments.settings import Method, Run
from psi.errors import InputError
from psi.index.abstracts import MeanAbstracts
from psi.index.psi_index import TreeIndexer
from psi.retrieval.tree import TreeRetriever
from tests.toys import ToyLoader, ToyReader, ToyRetriever, WordEmbedder


def run_of(folder: Path, retriever: Any, **more: Any) -> Run:
    reader = ToyReader(calls=str(folder / "calls"))
    return Run(
        dataset=ToyLoader(), method=Method(name="m", retriever=retriever), reader=reader, store=str(folder / "store"),
        metrics=("em",), **more,
    )  # fmt: skip


def test_runs_and_imported_predictions_are_looked_into_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = TreeRetriever(index=TreeIndexer(embedder=WordEmbedder(), abstracts=MeanAbstracts()))
    run = run_of(tmp_path, tree)
    assert run_cell(run, "toy", "").status == "ok"
    rows = ({"question": "q0", "answer": "Rome", "passages": ["p0"]}, {"question": "q1", "answer": "Not mentioned"})
    path = tmp_path / "p.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    import_predictions(Request(file=str(path), method="theirs", store=run.store), "toy", run)
    main([f"store={run.store}", f"out={tmp_path / 'out'}"])
    printed = capsys.readouterr().out
    assert "Not mentioned" in printed and "Reader miss" in printed
    names = sorted(path.name for path in (tmp_path / "out").glob("*-sheet.csv"))
    assert [name.partition("-")[2][:1] for name in names] == ["m", "t"]
    (cases,) = (tmp_path / "out").glob("*theirs*-cases.csv")
    assert [row["bucket"] for row in csv.DictReader(cases.open(newline=""))] == ["reader_miss", "not_mentioned"]
    (sheet,) = (tmp_path / "out").glob("*theirs*-sheet.csv")
    lines = sheet.read_text().replace("q0,,", "q0,reader_miss,").replace("q1,,", "q1,hallucination,")
    sheet.write_text(lines)
    main([f"labels={sheet}", f"second={sheet}"])
    printed = capsys.readouterr().out
    assert "with the rules: 50.0 % of 2 cases alike" in printed and "kappa 1.00" in printed


def test_sheets_of_trees_say_where_passages_hang(tmp_path: Path) -> None:
    tree = TreeRetriever(index=TreeIndexer(embedder=WordEmbedder(), abstracts=MeanAbstracts()))
    run = run_of(tmp_path, tree)
    run_cell(run, "toy", "")
    main([f"store={run.store}", f"out={tmp_path / 'out'}", "metric=f1", "threshold=1.0"])
    (cases,) = (tmp_path / "out").glob("*-cases.csv")
    (sheet,) = (tmp_path / "out").glob("*-sheet.csv")
    wrong = [row for row in csv.DictReader(cases.open(newline="")) if row["bucket"] != "correct"]
    rows = list(csv.DictReader(sheet.open(newline="")))
    assert len(rows) == len(wrong)
    assert all("p0: node" in row["tree_path"] and "height 1" in row["tree_path"] for row in rows)


def test_what_cannot_be_looked_into_is_named(tmp_path: Path) -> None:
    run = run_of(tmp_path, ToyRetriever(), answers=0)
    run_cell(run, "toy", "")
    with pytest.raises(InputError, match=r"no run below .* has finished answers"):
        main([f"store={run.store}"])
    with pytest.raises(InputError, match="m on toy has no finished answers"):
        main([f"store={run.store}", "methods=[m]"])
    empty = tmp_path / "sheet.csv"
    empty.write_text("question,label,bucket\nq0,,reader_miss\n")
    with pytest.raises(InputError, match="holds no label"):
        main([f"labels={empty}"])
