"""Tables of what benchmarks and trees look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from analysis.tables import Column, Entry, Table, Value
from psi.corpus.records import Benchmark
from psi.tree import Tree

Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """A benchmark in numbers. Words are split at white space; hops count questions by the passages they need."""

    documents: int
    passages: int
    words: int
    words_a_passage: float
    questions: int
    null_questions: int
    scoped_questions: int
    answers_a_question: float
    gold_a_question: float
    unmapped_gold: int
    hops: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """The trees of one index in numbers: one tree, or one a document (then sums, and the highest and widest)."""

    trees: int
    layers: tuple[int, ...]
    inner_nodes: int
    height: int
    children: float
    most_children: int
    seconds: float


def dataset_facts(benchmark: Benchmark) -> DatasetFacts:
    """Count what a benchmark holds."""
    passages, questions = benchmark.passages, benchmark.questions
    words = [len(passage.content.split()) for passage in passages]
    # a passage without a document is one
    documents = {passage.document or passage.id for passage in passages}
    return DatasetFacts(
        documents=len(documents), passages=len(passages), words=sum(words), words_a_passage=fmean(words),
        questions=len(questions), null_questions=sum(not question.answerable for question in questions),
        scoped_questions=sum(question.document is not None for question in questions),
        answers_a_question=fmean([len(question.answers) for question in questions]),
        gold_a_question=fmean([len(question.gold) for question in questions]),
        unmapped_gold=len(benchmark.report.unmapped_gold),
        hops=dict(sorted(Counter(question.hops for question in questions if question.hops).items())),
    )  # fmt: skip


def tree_facts(trees: Sequence[Tree], seconds: float) -> TreeFacts:
    """Count what trees hold; `seconds` is the time it took to build them."""
    sizes = [tree.layer_sizes() for tree in trees]
    children = [int(count) for tree in trees for count in tree.child_counts() if count]
    return TreeFacts(
        trees=len(trees),
        layers=tuple(sum(layer) for layer in zip(*(_padded(size, max(map(len, sizes))) for size in sizes), strict=True)),
        inner_nodes=len(children), height=max(tree.height for tree in trees),
        children=fmean(children) if children else 0.0, most_children=max(children, default=0), seconds=seconds,
    )  # fmt: skip


def _padded(sizes: Sequence[int], length: int) -> list[int]:
    return [*sizes, *[0] * (length - len(sizes))]


def datasets_table(rows: Sequence[tuple[str, DatasetFacts]], title: str = "") -> Table:
    """One row a dataset."""
    formats: dict[str, tuple[str, Format]] = {
        "documents": ("Documents", _count), "passages": ("Passages", _count), "words": ("Words", _count),
        "words_a_passage": ("Words/passage", _decimal), "questions": ("Questions", _count),
        "null_questions": ("Null", _count), "scoped_questions": ("Of one document", _count),
        "answers_a_question": ("Answers/question", _decimal), "gold_a_question": ("Gold/question", _decimal),
        "unmapped_gold": ("Gold not in corpus", _count),
    }  # fmt: skip
    names = [[("Dataset", "dataset", name)] for name, _ in rows]
    hops = [_hops(facts.hops) for _, facts in rows]
    notes = (
        "Words are split at white space. Null: questions that the corpus does not answer. Hops: questions by hops.",
    )
    return _table(names, [asdict(facts) for _, facts in rows], formats, ("Hops", "hops", hops), notes, title)


def trees_table(rows: Sequence[tuple[str, str, TreeFacts]], title: str = "") -> Table:
    """One row a dataset and method."""
    formats: dict[str, tuple[str, Format]] = {
        "trees": ("Trees", _count), "inner_nodes": ("Inner nodes", _count), "height": ("Height", _count),
        "children": ("Children/node", _decimal), "most_children": ("Most children", _count),
        "seconds": ("Build (s)", lambda value: f"{value:.2f}"),
    }  # fmt: skip
    names = [[("Dataset", "dataset", dataset), ("Method", "method", method)] for dataset, method, _ in rows]
    layers = ["/".join(map(str, facts.layers)) for _, _, facts in rows]
    notes = ("Layers: nodes a layer, leaves first. Build: the tree alone, without embeddings and abstracts.",)
    return _table(names, [asdict(facts) for _, _, facts in rows], formats, ("Layers", "layers", layers), notes, title)


def _table(
    names: Sequence[Sequence[tuple[str, str, str]]],
    facts: Sequence[Mapping[str, float]],
    formats: Mapping[str, tuple[str, Format]],
    last: tuple[str, str, Sequence[str]],
    notes: tuple[str, ...],
    title: str,
) -> Table:
    """Columns of names, of numbers, and one of texts; columns that are zero in all rows are kept for the CSV alone."""
    columns = (
        *(Column(heading, "row", numeric=False) for heading, _, _ in names[0]),
        *(Column(heading, "score", shown=any(row[key] for row in facts)) for key, (heading, _) in formats.items()),
        Column(last[0], "score", numeric=False, shown=any(last[2])),
    )
    rows = tuple(
        (
            *(Entry(text, data={key: text}) for _, key, text in name),
            *(_number(key, numbers[key], form) for key, (_, form) in formats.items()),
            Entry(text, data={last[1]: text}),
        )
        for name, numbers, text in zip(names, facts, last[2], strict=True)
    )
    return Table(columns, rows, notes, title)


def _number(key: str, value: Value, form: Format) -> Entry:
    assert isinstance(value, (int, float))
    return Entry(form(value), data={key: value})


def _hops(hops: Mapping[int, int]) -> str:
    return ", ".join(f"{number}: {count}" for number, count in hops.items())


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _decimal(value: float) -> str:
    return f"{value:,.1f}"
