"""A report as JSON sections, each of which the page unpacks when it is first looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.costs import cost_columns, cost_text
from analysis.failures import LABELS, RULES
from analysis.report.records import Outcome, Report, ReportDataset, ReportRun, ReportTree, Visit
from psi.corpus.records import Question
from psi.errors import ConfigError
from psi.metrics import Summary, metric

Json = Any
_DIGITS = 5  # of scores and similarities


def sections(report: Report) -> Iterator[tuple[str, Json]]:
    """Names and contents of all sections: `core`, then `dataset-N`, `run-N` and `tree-N`."""
    yield "core", _core(report)
    places = {dataset.name: at for at, dataset in enumerate(report.datasets)}
    for at, dataset in enumerate(report.datasets):
        yield f"dataset-{at}", _dataset(dataset)
    for at, run in enumerate(report.runs):
        yield f"run-{at}", _run(run, report.datasets[places[run.scores.dataset]])
    for at, tree in enumerate(report.trees):
        yield f"tree-{at}", _tree(tree)


def _core(report: Report) -> Json:
    metrics = list(dict.fromkeys(name for run in report.runs for name in run.scores.summaries))
    places = {dataset.name: at for at, dataset in enumerate(report.datasets)}
    costs = cost_columns(tuple(dict.fromkeys(name for run in report.runs for name in run.scores.costs)))
    return {
        "title": report.title,
        "notes": list(report.notes),
        "metrics": [_metric(name) for name in metrics],
        "costs": list(costs),
        "datasets": [
            {"name": each.name, "passages": each.passages, "questions": len(each.questions)} for each in report.datasets
        ],
        "runs": [_summary(run, places[run.scores.dataset], costs) for run in report.runs],
        "trees": [
            {"name": each.name, "nodes": len(each.parents), "leaves": len(each.passages), "abstract": each.abstract}
            for each in report.trees
        ],
        "figures": [{"title": each.title, "text": each.text} for each in report.figures],
        "buckets": {name: {"label": LABELS[name], "rule": RULES[name]} for name in RULES},
    }


def _metric(name: str) -> Json:
    try:
        known = metric(name)
    except ConfigError:  # of another package, or another version
        return {"name": name, "label": name, "of": "ranking" if "@" in name else "answer"}
    return {"name": name, "label": known.label, "of": known.of}


def _summary(run: ReportRun, dataset: int, costs: Mapping[str, Sequence[str]]) -> Json:
    scores = run.scores
    return {
        "dataset": dataset, "method": scores.method, "seed": scores.seed, "status": scores.outcome,
        "ok": scores.status == "ok", "note": scores.note,
        "metrics": {name: _numbers(summary) for name, summary in scores.summaries.items()},
        "costs": [_cost([scores.costs.get(name) for name in names]) for names in costs.values()],
        "command": run.command, "store": run.store, "digest": run.digest, "stages": list(run.stages),
        "settings": run.settings, "tree": run.tree, "beam": run.beam,
    }  # fmt: skip


def _numbers(summary: Summary) -> Json:
    return [summary.mean, summary.low, summary.high, summary.n, summary.n_failed, summary.n_excluded]


def _cost(values: Sequence[float | None]) -> Json:
    """The text of a cost, and the number by which it is sorted."""
    known = [value for value in values if value is not None]
    return [cost_text(values), sum(known) if known else None]


def _dataset(dataset: ReportDataset) -> Json:
    place = {passage.id: at for at, passage in enumerate(dataset.shown)}
    return {
        "questions": [_question(question, place) for question in dataset.questions],
        "passages": [[passage.id, passage.title, passage.text] for passage in dataset.shown],
    }


def _question(question: Question, place: Mapping[str, int]) -> Json:
    return {
        "id": question.id, "text": question.text, "answers": list(question.answers),
        "gold": [place[id_] for id_ in question.gold if id_ in place],
        "lost": [id_ for id_ in question.gold if id_ not in place],
        "hops": question.hops, "kind": question.kind, "answerable": question.answerable, "document": question.document,
    }  # fmt: skip


def _run(run: ReportRun, dataset: ReportDataset) -> Json:
    """One entry a question, in the order of the dataset's questions; None where the run has none."""
    place = {passage.id: at for at, passage in enumerate(dataset.shown)}
    names = list(dict.fromkeys(name for outcome in run.outcomes.values() for name in outcome.metrics))
    return {
        "metrics": names,
        "outcomes": [_outcome(run.outcomes.get(question.id), names, place) for question in dataset.questions],
        "descents": [_descent(run.descents.get(question.id)) for question in dataset.questions] if run.descents else [],
    }


def _outcome(outcome: Outcome | None, names: Sequence[str], place: Mapping[str, int]) -> Json:
    if outcome is None:
        return None
    return {
        "ranking": [place[id_] for id_, _ in outcome.ranking],
        "scores": [round(score, _DIGITS) for _, score in outcome.ranking],
        "values": [_rounded(outcome.metrics.get(name)) for name in names],
        "answer": outcome.answer, "status": outcome.status, "error": outcome.error, "bucket": outcome.bucket,
        "trace": outcome.trace,
    }  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _descent(visits: Sequence[Visit] | None) -> Json:
    if visits is None:
        return None
    return [
        [visit.height, visit.compared, [node for node, _ in visit.kept], [round(s, _DIGITS) for _, s in visit.kept]]
        for visit in visits
    ]


def _tree(tree: ReportTree) -> Json:
    return {"parents": list(tree.parents), "labels": list(tree.labels), "passages": list(tree.passages)}
