"""TREC files: what is written comes back, and trec_eval's order of it is ours."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.errors import InputError
from psi.metrics import metric
from psi.metrics.trec import read_qrels, read_run, write_qrels, write_run

IDS = st.text(min_size=1, max_size=6).filter(lambda text: text.isprintable() or " " in text or "\u2003" in text)
RANKINGS = st.dictionaries(IDS, st.lists(IDS, unique=True, min_size=1, max_size=8), max_size=4)


def in_the_order_of_trec_eval(path: Path) -> dict[str, list[str]]:
    """By score as a 32-bit number, ties to the larger id; the rank is ignored."""
    import numpy as np

    rows: dict[str, list[tuple[np.float32, str]]] = {}
    for line in path.read_text().splitlines():
        question, _, passage, _, score, _ = line.split(" ")
        rows.setdefault(question, []).append((np.float32(score), passage))
    return {question: [passage for _, passage in sorted(own, reverse=True)] for question, own in rows.items()}


@given(RANKINGS)
def test_what_is_written_comes_back(rankings: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder) / "run", rankings, "a method [k=5]")
        write_qrels(Path(folder) / "qrels", rankings)
        assert read_run(Path(folder) / "run") == rankings
        assert read_qrels(Path(folder) / "qrels") == rankings


def test_other_tools_see_our_order(tmp_path: Path) -> None:
    rankings = {f"q{i}": random.Random(i).sample([f"d{j:04}" for j in range(2000)], 1000) for i in range(3)}
    write_run(tmp_path / "run", rankings, "m")
    assert in_the_order_of_trec_eval(tmp_path / "run") == rankings


def test_scores_are_those_of_trec_eval(tmp_path: Path) -> None:
    """trec_eval itself, through pytrec_eval, where it is installed."""
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    rng = random.Random(1)
    ids = [f"d{i:02}" for i in range(40)]
    gold = {f"q{i}": rng.sample(ids, rng.randint(1, 6)) for i in range(80)}
    ranked = {question: rng.sample(ids, rng.randint(1, 30)) for question in gold}
    write_run(tmp_path / "run", ranked, "m")
    write_qrels(tmp_path / "qrels", gold)
    with (tmp_path / "run").open() as run, (tmp_path / "qrels").open() as qrels:
        evaluator = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(qrels), {"recall.1,5,10", "P.5", "ndcg_cut.5,10", "recip_rank", "success.5"}
        )
        theirs = evaluator.evaluate(pytrec_eval.parse_run(run))
    names = {
        "recall@1": "recall_1", "recall@5": "recall_5", "recall@10": "recall_10", "precision@5": "P_5",
        "ndcg@5": "ndcg_cut_5", "ndcg@10": "ndcg_cut_10", "mrr": "recip_rank", "hit@5": "success_5",
    }  # fmt: skip
    for name, official in names.items():
        for question, passages in ranked.items():
            ours = metric(name).score(passages, gold[question])
            assert ours == pytest.approx(theirs[question][official], abs=1e-9), (name, question)


def test_ties_of_a_foreign_run_go_to_the_smaller_id(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 b 1 0.5 m\n\nq Q0 a 2 0.5 m\nq\tQ0 c 3 7e-1 m\r\n")
    assert read_run(tmp_path / "run") == {"q": ["c", "a", "b"]}


def test_irrelevant_and_graded_passages(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 0\nq 0 b 2\nq 0 b 1\nnone 0 a -1\n")
    assert read_qrels(tmp_path / "qrels") == {"q": ["b"], "none": []}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 a 1 0.5", "line 1: 5 fields"), ("q Q0 a 1 nan m", "'nan' is no finite"), ("q Q0 a 1 x m", "'x' is no"),
        ("q Q0 a 1 1 m\nq Q0 a 2 0 m", "line 2: .*twice"),
    ],
)  # fmt: skip
def test_malformed_runs_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run").write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "run")


def test_what_the_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty id"):
        write_qrels(tmp_path / "qrels", {"q": [""]})
    with pytest.raises(InputError, match="twice"):
        write_run(tmp_path / "run", {"q": ["a", "a"]}, "m")
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path / "absent")
