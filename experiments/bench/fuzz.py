"""Malformed inputs by the thousand: everything that people or programs hand in must end in a named error or in sound data.

    python -m experiments.bench.fuzz inputs=3000 seed=0

Valid files, settings and replies are damaged at random (bytes cut, flipped, doubled; JSON values of other types, missing,
nested deeply, huge) and given to loaders, the configuration, the store, tree files, archives and parsers of replies. An input
passes if it is refused by one of the project's own errors, or accepted with data that holds what its type promises. Anything else
is printed with the seed that makes it again, and the exit code is 1.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException
from pydantic import NonNegativeInt, PositiveInt
from tqdm import tqdm

from baselines.hipporag.replies import entities_of, triples_of
from experiments.arguments import run_program, settings_from
from experiments.compose import run_from
from experiments.configuration import composed
from psi.agent.reply import parse_reply
from psi.component import Component
from psi.corpus.beir import Beir
from psi.corpus.contexts import ContextBenchmark
from psi.corpus.dragonball import DragonBall
from psi.corpus.files import FilesBenchmark
from psi.corpus.flashrag import FlashRag
from psi.corpus.hipporag import HippoRagBenchmark
from psi.corpus.multihoprag import MultiHopRag
from psi.corpus.narrativeqa import NarrativeQa
from psi.corpus.qmsum import QmSum
from psi.corpus.records import Benchmark
from psi.corpus.wcep import Wcep
from psi.errors import InputError, PsiError
from psi.index.abstract_replies import keywords_of, summary_of
from psi.models.forms import from_json
from psi.store import Stage, Store, read_rows
from psi.tree import build_tree, load_tree, save_tree

INSERTED = (b"\xef\xbb\xbf", b"\r\n", b"\0", b"}", b"]", b'"', b"\xff\xfe", b"[" * 20_000, b'{"a":' * 20_000)
SAMPLES = 3  # damages of one input at most
STRANGE: tuple[Any, ...] = (
    None, True, -1, 1.5, 10**30, "", " ", "x" * 5000, "\ud800", "a\x00b", "../../etc/passwd", "<script>", "北京", [], [[]], {},
    {"a": 1}, float("nan"), float("inf"), "NaN", "[1, 2", '["a"]', "CON", "\u2028", "\ufeff",
)  # fmt: skip
PARAGRAPH = {"title": "Paris", "text": "Paris is in France.", "is_supporting": True}
ROWS: Mapping[str, Mapping[str, Any]] = {
    "hotpotqa": {
        "_id": "q", "type": "bridge", "question": "Where is Paris?", "answer": "France",
        "context": [["Paris", ["Paris is in France."]]], "supporting_facts": [["Paris", 0]],
    },
    "musique": {
        "id": "2hop__1", "question": "Where is Paris?", "answer": "France", "answer_aliases": ["Gaul"], "answerable": True,
        "paragraphs": [{"title": "Paris", "paragraph_text": "Paris is in France.", "is_supporting": True}],
        "question_decomposition": [{"question": "Paris >> place", "answer": "France"}],
    },
    "popqa": {
        "id": 1, "question": "Where is Paris?", "prop": "country", "obj": "France", "possible_answers": '["France", "Gaul"]',
        "o_wiki_title": "France", "o_aliases": '["Gaul"]', "paragraphs": [PARAGRAPH],
    },
    "nq": {"id": "1", "question": "Where is Paris?", "reference": ["France"], "contexts": [PARAGRAPH]},
}  # fmt: skip
CORPUS = [{"title": "Paris", "text": "Paris is in France."}, {"title": "Rome", "text": "Rome is in Italy."}]
TURNS = [{"speaker": "Ann", "content": "Paris is in France."}, {"speaker": "Bob", "content": "Yes."}]
ASKED = {"query": "Where is Paris?", "answer": "France"}
FACT = {"title": "Paris", "fact": "Paris is in France"}
LAYOUTS: Sequence[tuple[Any, Mapping[str, Sequence[Any]]]] = (  # loader without its folder; rows by file, JSON lines or a list
    (partial(QmSum, queries="all"), {"qmsum.jsonl": [{
        "meeting_transcripts": TURNS, "general_query_list": [ASKED],
        "specific_query_list": [{**ASKED, "relevant_text_span": [["0", "1"]]}],
    }]}),
    (MultiHopRag, {
        "MultiHopRAG.json": [{**ASKED, "question_type": "inference_query", "evidence_list": [FACT]}],
        "corpus.json": [{"title": "Paris", "category": "places", "body": "Paris is in France. Rome is in Italy."}],
    }),
    (partial(ContextBenchmark, file="f.jsonl", records="infinitebench"), {
        "f.jsonl": [{"id": 1, "context": "Paris is in France.", "input": "Where?", "answer": ["France"]}],
    }),
    (partial(ContextBenchmark, file="f.jsonl", records="longbench"), {
        "f.jsonl": [{"_id": "a", "context": "Paris is in France.", "input": "Where?", "answers": ["France"], "dataset": "d"}],
    }),
    (NarrativeQa, {
        "narrativeqa_dev_10_doc.json": [{"question": "Where?", "answer": ["France"], "document": {"id": "d"}}],
        "narrativeqa_dev_10_doc_corpus.json": [{"idx": "d_0", "title": "Paris", "text": "Paris is in France."}],
    }),
    (partial(Wcep, least_words=1), {"wcep.jsonl": [{"document": ["Paris is in France."], "summary": "Paris."}]}),
    (partial(DragonBall, sentences=2), {
        "dragonball_docs.jsonl": [{"doc_id": 1, "language": "en", "domain": "d", "content": "Paris is in France."}],
        "dragonball_queries.jsonl": [{
            "language": "en", "query": {"query_id": 1, "query_type": "t", "content": "Where?"},
            "ground_truth": {"doc_ids": [1], "content": "France", "references": ["in France"]},
        }],
    }),
    (partial(FlashRag, questions_file="q.jsonl", corpus_file="c.jsonl"), {
        "q.jsonl": [{"id": "q", "question": "Where?", "golden_answers": ["France"]}],
        "c.jsonl": [{"id": "1", "contents": "Paris\nParis is in France."}],
    }),
    (Beir, {
        "corpus.jsonl": [{"_id": "d", "title": "Paris", "text": "Paris is in France."}],
        "queries.jsonl": [{"_id": "q", "text": "Where?"}], "qrels/test.tsv": [["q", "d", "1"]],
    }),
)  # fmt: skip
REPLIES = (
    "Thought: I know.\nAnswer: Paris", "Retrieve: capital of France",
    '```json\n{"answer": "Paris"}\n```', "<think>x</think>Answer: y",
    '{"named_entities": ["Paris", "France"]}', '{"triples": [["Paris", "is in", "France"]]}', "keyword one, keyword two, Paris",
)  # fmt: skip
KEYS = (
    "k", "beam", "limit", "corpus_limit", "answers", "context", "seed", "metrics", "max_fail_rate", "embedder.model",
    "embedder.dtype", "embedder.batch_size",
    "method.retriever.pool", "method.retriever.constant", "method._target_", "dataset.passages",
    "dataset.questions", "reader.window", "llm.max_new_tokens", "budget.calls", "max_hours", "locks", "prices.hour", "hop_budget",
)  # fmt: skip


VALUES = (
    "0", "-1", "1.5", "abc", "true", "null", "[1,2]", "{a: 1}", "1e400", "nan", "''", "${store}", "${nothing}", "os.path.join",
    "5",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request(Component):
    """How many inputs in all, from which seed on."""

    inputs: PositiveInt = 3000
    seed: NonNegativeInt = 0


class Target(Protocol):
    """Damages a valid input and hands it in. Returns whether it was accepted; raises what the project raises."""

    def __call__(self, chance: random.Random, folder: Path) -> bool:
        """One input, with a folder of its own."""
        ...


class UnsoundError(Exception):
    """A damaged input was accepted with data that does not hold what its type promises."""


def damaged_json(value: Any, chance: random.Random) -> Any:
    """The value with one to three places in it changed."""
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, SAMPLES)):
        places = list(_places(value))
        if not places:
            return chance.choice(STRANGE)
        container, key = chance.choice(places)
        action = chance.random()
        if action < 0.2 and isinstance(container, dict):
            del container[key]
        elif action < 0.3:
            container[key] = _nested(chance.randint(5, 300))
        elif action < 0.4 and isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[key] = copy.deepcopy(chance.choice(STRANGE))
    return value


def damaged_bytes(content: bytes, chance: random.Random) -> bytes:
    """The bytes cut, flipped, doubled or filled up at one to three places."""
    for _ in range(chance.randint(1, SAMPLES)):
        at = chance.randrange(len(content) + 1)
        action = chance.randrange(5)
        if action == 0:
            content = content[:at]
        elif action == 1 and content:
            at = min(at, len(content) - 1)
            content = content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]
        elif action == 2:
            content = content[:at] + content[at // 2 :]
        elif action == 3:
            content = content[:at] + chance.randbytes(chance.randint(1, 40)) + content[at:]
        else:
            content = content[:at] + chance.choice(INSERTED) + content[at:]
    return content


def _places(value: Any) -> Any:
    if isinstance(value, dict):
        items: Any = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return
    for key, item in items:
        yield value, key
        yield from _places(item)


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _damaged_text(rows: Sequence[Any], chance: random.Random, *, lines: bool) -> bytes:
    """Rows as JSON or JSON lines, damaged in their values or in their bytes."""
    if chance.random() < 0.6:
        rows = damaged_json(list(rows), chance)
    texts = [json.dumps(row) for row in rows] if lines and isinstance(rows, list) else [json.dumps(rows)]
    content = "\n".join(texts).encode()
    return damaged_bytes(content, chance) if chance.random() < 0.5 else content


def _sound(benchmark: Benchmark) -> bool:
    """Raises UnsoundError unless every field of every record is of its type and can be written as UTF-8."""
    for record in (*benchmark.passages, *benchmark.questions):
        for name, value in dataclasses.asdict(record).items():
            for text in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(text, str):
                    text.encode("utf-8")
                    if "\0" in text:
                        raise UnsoundError(f"{name} of {record.id!r} holds a NUL")
        if not isinstance(record.id, str) or not record.text.strip():
            raise UnsoundError(f"a record with the id {record.id!r} and the text {record.text!r}")
    return True


def own_files(chance: random.Random, folder: Path) -> bool:
    """JSON lines of passages and questions."""
    passages = [{"id": str(n), "title": row["title"], "text": row["text"]} for n, row in enumerate(CORPUS)]
    questions = [{"id": "q", "question": "Where?", "answers": ["France"], "gold": ["0"], "hops": 1, "answerable": True}]
    (folder / "corpus.jsonl").write_bytes(_damaged_text(passages, chance, lines=True))
    (folder / "questions.jsonl").write_bytes(_damaged_text(questions, chance, lines=True))
    loader = FilesBenchmark(corpus=str(folder / "corpus.jsonl"), questions=str(folder / "questions.jsonl"))
    return _sound(loader.load())


def published_files(chance: random.Random, folder: Path) -> bool:
    """Questions and corpora in the published layouts."""
    kind: Any = chance.choice(list(ROWS))
    broken = chance.random() < 0.7
    good = json.dumps([ROWS[kind]]).encode()
    (folder / "q.json").write_bytes(_damaged_text([ROWS[kind]], chance, lines=False) if broken else good)
    (folder / "c.json").write_bytes(
        json.dumps(CORPUS).encode() if broken else _damaged_text(CORPUS, chance, lines=False)
    )
    loader = HippoRagBenchmark(
        name="f", records=kind, questions_file="q.json", corpus_file="c.json", folder=str(folder)
    )
    return _sound(loader.load())


def other_layouts(chance: random.Random, folder: Path) -> bool:
    """Files of all other published benchmarks, one of them damaged."""
    loader, files = chance.choice(LAYOUTS)
    broken = chance.choice(list(files))
    (folder / "qrels").mkdir(exist_ok=True)
    for name, rows in files.items():
        lines = not name.endswith(".json")
        (folder / name).write_bytes(
            _damaged_text(rows, chance, lines=lines) if name == broken else _whole_text(rows, name, lines=lines)
        )
    return _sound(loader(name="f", folder=str(folder)).load())


def _whole_text(rows: Sequence[Any], name: str, *, lines: bool) -> bytes:
    if name.endswith(".tsv"):
        return "\n".join("\t".join(row) for row in rows).encode()
    return ("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)).encode()


def settings(chance: random.Random, folder: Path) -> bool:
    """Overrides of a run's settings."""
    given = [f"{chance.choice(KEYS)}={chance.choice(VALUES)}" for _ in range(chance.randint(1, 2))]
    try:
        run = run_from(composed(["dataset=encyclopedia", "method=psi", f"store={folder}", *given]))
    except (HydraException, OmegaConfBaseException) as error:  # explained where commands are read
        raise InputError(str(error)) from error
    json.dumps(run.identity(), allow_nan=False)
    return True


def stored_stages(chance: random.Random, folder: Path) -> bool:
    """A stage's files, altered behind the store's back: they are found out, or still what was written."""
    store, stage = Store(folder), Stage("rankings", 1, {"k": 1})

    def make(place: Path) -> None:
        (place / "rankings.jsonl").write_text('{"question": "q", "passages": ["a"], "scores": [0.5]}\n')

    path = store.obtain(stage, make).path
    before = read_rows(path / "rankings.jsonl")
    altered = path / chance.choice(("manifest.json", "rankings.jsonl"))
    altered.write_bytes(damaged_bytes(altered.read_bytes(), chance))
    found = store.find(stage)
    if found is not None and read_rows(found.path / "rankings.jsonl") != before:
        raise UnsoundError("other rows than were written")
    return True


def tree_files(chance: random.Random, folder: Path) -> bool:
    """A stored tree with altered files: it is refused, or the tree that was stored."""
    vectors = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)
    tree = build_tree(vectors, threads=1)
    save_tree(folder / "tree", tree)
    altered = chance.choice(sorted(path for path in (folder / "tree").rglob("*") if path.is_file()))
    altered.write_bytes(damaged_bytes(altered.read_bytes(), chance))
    if not np.array_equal(load_tree(folder / "tree").tree.parents, tree.parents):
        raise UnsoundError("another tree than was stored")
    return True


def vectors(chance: random.Random, folder: Path) -> bool:
    """Vectors of odd values and shapes: a tree over all of them, or a refusal."""
    rows = chance.randint(0, 6)
    values = np.random.default_rng(chance.randrange(2**32)).standard_normal((rows, chance.randint(0, 4)))
    for _ in range(chance.randint(0, 3)):
        if values.size:
            values[chance.randrange(rows), chance.randrange(values.shape[1])] = chance.choice(
                (np.nan, np.inf, 0.0, 1e38, -1e-40)
            )
    shape = chance.choice((values, values.astype(np.float32), values.reshape(-1), values.astype(str), values.tolist()))
    tree = build_tree(shape, threads=1, max_children=max(2, chance.randint(1, 5)))
    if tree.n_leaves != rows:
        raise UnsoundError(f"{tree.n_leaves} leaves of {rows} vectors")
    return True


def replies(chance: random.Random, folder: Path) -> bool:
    """Replies of language models: whatever they say, parsing gives a value of its type."""
    text = chance.choice(REPLIES)
    text = damaged_bytes(text.encode(), chance).decode("utf-8", "replace") * chance.choice((1, 1, 1, 50))
    if chance.random() < 0.1:
        text = "[" * chance.randint(1, 5000) + text
    for value in (parse_reply(text).text, summary_of(text, 20), keywords_of(text, 5), from_json(text)):
        if not isinstance(value, str):
            raise UnsoundError(f"{value!r} of the reply {text[:80]!r}")
    entities_of(text)
    triples_of(text)
    return True


TARGETS: Mapping[str, Target] = {
    "files": own_files, "published files": published_files, "other layouts": other_layouts, "settings": settings,
    "stages": stored_stages, "trees": tree_files, "vectors": vectors, "replies": replies,
}  # fmt: skip


def fuzz(
    inputs: int, seed: int, told: Callable[[], object] = lambda: None
) -> tuple[dict[str, Counter[str]], list[str]]:
    """Hand in so many inputs, in turn to all targets: outcomes by target, and a line for each that did not pass."""
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in TARGETS}
    trouble = []
    names = list(TARGETS)
    with tempfile.TemporaryDirectory(prefix="psi-fuzz-") as root:
        for number in range(inputs):
            name, folder = names[number % len(names)], Path(root) / "input"
            folder.mkdir()
            try:
                TARGETS[name](random.Random(f"{seed}-{number}"), folder)
                outcome = "accepted"
            except PsiError as error:
                outcome = type(error).__name__
                if not str(error).strip():
                    trouble.append(f"{name} {seed}-{number}: an error without a message")
            except Exception as error:  # noqa: BLE001 - what this looks for
                outcome = "BROKEN"
                trouble.append(f"{name} {seed}-{number}: {type(error).__name__}: {str(error)[:200]}")
            outcomes[name][outcome] += 1
            shutil.rmtree(folder)
            told()
    return outcomes, trouble


def main(arguments: Sequence[str]) -> int:
    """Hand in, and tell."""
    request = settings_from(arguments, Request, __doc__)
    logging.disable(logging.WARNING)
    with tqdm(total=request.inputs, desc="inputs", unit="input", disable=None) as bar:
        outcomes, trouble = fuzz(request.inputs, request.seed, bar.update)
    for name, counts in outcomes.items():
        sys.stdout.write(f"{name}: {', '.join(f'{outcome} {count}' for outcome, count in sorted(counts.items()))}\n")
    sys.stdout.write("\n".join([*trouble, f"{len(trouble)} of {request.inputs} inputs did not pass"]) + "\n")
    return 1 if trouble else 0


if __name__ == "__main__":
    run_program(main)
