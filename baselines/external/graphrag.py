"""GraphRAG (Edge et al. 2024, arXiv 2404.16130) through Microsoft's own package, `graphrag`, on our models."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveInt

from baselines.external.packages import Calls, Documents, imported, version
from psi.component import Component, runtime
from psi.corpus.records import Passages
from psi.errors import InputError
from psi.models.protocols import ChatModel, Conversation, Embedder, Message
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Stage, Store

VERSION = 1
EXTRA = "graphrag"
TABLES = ("entities", "communities", "community_reports", "text_units", "relationships")


@dataclass(frozen=True, kw_only=True)
class GraphRag(Component):
    """A graph that the model finds, its communities and their reports; questions are searched locally.

    Local search looks up the entities nearest to a question, then ranks the text units that they come from. No model is
    asked for that. Global search ranks no passages (the model reads all reports), so it is none of this.

    method: `standard`: the model finds entities and relations; `fast`: noun phrases do, the model writes reports alone.
    gleanings: times the model is asked for what it has missed in a passage.
    largest_component: find communities in the largest connected part of the graph alone, as the package does unless told
        otherwise. Entities outside have none, and local search then never finds them.
    community_level: deepest level of communities that counts.
    entities, relationships: looked up for a question.
    context_tokens: of the prompt that local search would write; `text_share` of it are text units.
    """

    embedder: Embedder
    llm: ChatModel
    method: Literal["standard", "fast"] = "standard"
    gleanings: NonNegativeInt = 1
    entity_types: tuple[str, ...] = ("organization", "person", "geo", "event")
    largest_component: bool = True
    community_level: NonNegativeInt = 2
    entities: PositiveInt = 10
    relationships: PositiveInt = 10
    context_tokens: PositiveInt = 12000
    text_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    concurrency: PositiveInt = runtime(8)

    def build(self, passages: Passages, store: Store) -> GraphRagIndex:
        """Have the package index the corpus, or open what the store has.

        Raises:
            ConfigError: the package is missing.
            ModelError: a call failed; the next start asks for it again, replies that came are in the call cache.
        """
        settings = {
            "embedder": self.embedder.identity(), "llm": self.llm.identity(), "method": self.method,
            "gleanings": self.gleanings, "entity_types": list(self.entity_types),
            "largest_component": self.largest_component, "package": version("graphrag"),
        }  # fmt: skip
        _package("graphrag")
        stage = Stage("graphrag", VERSION, settings, {"passages": passages.digest})
        artifact = store.obtain(stage, lambda folder: self._make(passages, folder))
        return GraphRagIndex(self, Documents(passages), artifact.path)

    def _make(self, passages: Passages, folder: Path) -> Mapping[str, Any]:
        import pandas as pd

        calls, documents = Calls(self.llm), Documents(passages)
        names = list(documents.texts)
        frame = pd.DataFrame({
            "id": names, "human_readable_id": range(len(names)), "title": names,
            "text": list(documents.texts.values()), "creation_date": "", "raw_data": None,
        })  # fmt: skip
        settings = configuration(self, folder, calls, self.embedder.encode_passages)
        results = asyncio.run(
            _package("graphrag.api").build_index(settings, method=self.method, input_documents=frame)
        )  # fmt: skip
        calls.check()
        failed = [result for result in results if result.error is not None]
        if failed:
            raise InputError(f"GraphRAG failed in its step {failed[0].workflow}: {failed[0].error}") from failed[
                0
            ].error
        units = len(pd.read_parquet(folder / "output" / "text_units.parquet"))
        return {"texts": len(names), "text_units": units, **calls.facts()}


class GraphRagIndex:
    """A corpus in GraphRAG's tables."""

    def __init__(self, config: GraphRag, documents: Documents, folder: Path):
        self._config, self._documents, self._folder = config, documents, folder

    @cached_property
    def _tables(self) -> dict[str, Any]:
        return read_tables(self._folder / "output")

    @cached_property
    def _names(self) -> dict[str, str]:
        units = self._tables["text_units"]
        return dict(zip(units["human_readable_id"].astype(str), units["document_id"], strict=True))

    @cached_property
    def _engine(self) -> Any:
        config = self._config
        settings = configuration(config, self._folder, Calls(config.llm), config.embedder.encode_questions)
        return _local_engine(config, settings, self._tables)

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """The passages of the text units that local search would give its model, in its order."""
        check_k(k)
        check_questions(tuple(questions))
        return [self._documents.ranking(self._found(question), k) for question in questions]

    def _found(self, question: str) -> list[str]:
        engine = self._engine
        context = engine.context_builder.build_context(query=question, **engine.context_builder_params)
        sources = context.context_records.get("sources")
        if sources is None or "id" not in sources:
            return []
        return [self._names[unit] for unit in sources["id"].astype(str)]


def read_tables(folder: Path) -> dict[str, Any]:
    """GraphRAG's tables in a folder, as data frames.

    Raises:
        InputError: one is missing.
    """
    import pandas as pd

    missing = [name for name in TABLES if not (folder / f"{name}.parquet").exists()]
    if missing:
        raise InputError(
            f"{folder} lacks {missing[0]}.parquet. GraphRAG's output folder holds the tables {', '.join(TABLES)}. "
            "Delete the stage's folder and start again."
        )
    return {name: pd.read_parquet(folder / f"{name}.parquet") for name in TABLES}


def configuration(
    config: GraphRag, folder: Path, calls: Calls, encode: Callable[[Sequence[str]], NDArray[np.float32]]
) -> Any:
    """The package's own configuration, with our models behind its factories."""
    kind = f"psi-{id(calls)}"  # the factories are the process's: a name for each use
    _package("graphrag_llm.completion").register_completion(kind, _completion(calls))
    _package("graphrag_llm.embedding").register_embedding(kind, _embedding(encode))
    model = {"type": kind, "model_provider": "psi", "model": "psi", "metrics": None}
    width = encode(["width"]).shape[1]
    return _package("graphrag.config.models.graph_rag_config").GraphRagConfig(
        completion_models={"default_completion_model": model},
        embedding_models={"default_embedding_model": model},
        concurrent_requests=config.concurrency,
        input_storage={"type": "file", "base_dir": str(folder / "input")},
        output_storage={"type": "file", "base_dir": str(folder / "output")},
        reporting={"type": "file", "base_dir": str(folder / "reporting")},
        cache={"type": "none", "storage": {"type": "file", "base_dir": str(folder / "cache")}},
        vector_store={"type": "lancedb", "db_uri": str(folder / "lancedb"), "vector_size": width},
        extract_graph={"max_gleanings": config.gleanings, "entity_types": list(config.entity_types)},
        cluster_graph={"use_lcc": config.largest_component},
        local_search={
            "top_k_entities": config.entities, "top_k_relationships": config.relationships,
            "max_context_tokens": config.context_tokens, "text_unit_prop": config.text_share, "community_prop": 0.0,
        },
    )  # fmt: skip


def _local_engine(config: GraphRag, settings: Any, tables: Mapping[str, Any]) -> Any:
    adapters, level = _package("graphrag.query.indexer_adapters"), config.community_level
    store = _package("graphrag.utils.api").get_embedding_store(
        config=settings.vector_store, embedding_name=_package("graphrag.config.embeddings").entity_description_embedding
    )
    return _package("graphrag.query.factory").get_local_search_engine(
        config=settings,
        reports=adapters.read_indexer_reports(tables["community_reports"], tables["communities"], level),
        text_units=adapters.read_indexer_text_units(tables["text_units"]),
        entities=adapters.read_indexer_entities(tables["entities"], tables["communities"], level),
        relationships=adapters.read_indexer_relationships(tables["relationships"]),
        covariates={},
        description_embedding_store=store,
        response_type="single phrase",
    )


def _completion(calls: Calls) -> Callable[..., Any]:
    base, utils = _package("graphrag_llm.completion").LLMCompletion, _package("graphrag_llm.utils")

    class OurChat(base):  # type: ignore[misc, valid-type]
        """A chat model of ours, as the package wants it."""

        def __init__(self, *, tokenizer: Any, metrics_store: Any, **_: Any):
            self._tokenizer, self._metrics = tokenizer, metrics_store

        tokenizer = property(lambda self: self._tokenizer)
        metrics_store = property(lambda self: self._metrics)

        def completion(self, /, **arguments: Any) -> Any:
            return asyncio.run(self.completion_async(**arguments))

        async def completion_async(self, /, **arguments: Any) -> Any:
            response = utils.create_completion_response(await calls.ask(_conversation(arguments["messages"])))
            form = arguments.get("response_format")
            if form is not None:
                response.formatted_response = utils.structure_completion_response(response.content, form)
            return response

    return OurChat


def _embedding(encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> Callable[..., Any]:
    base, utils = _package("graphrag_llm.embedding").LLMEmbedding, _package("graphrag_llm.utils")

    class OurEmbedder(base):  # type: ignore[misc, valid-type]
        """An embedder of ours, as the package wants it."""

        def __init__(self, *, tokenizer: Any, metrics_store: Any, **_: Any):
            self._tokenizer, self._metrics = tokenizer, metrics_store

        tokenizer = property(lambda self: self._tokenizer)
        metrics_store = property(lambda self: self._metrics)

        def embedding(self, /, **arguments: Any) -> Any:
            vectors = encode(arguments["input"])
            response = utils.create_embedding_response([0.0], batch_size=len(vectors))
            for item, vector in zip(response.data, vectors, strict=True):
                item.embedding = vector.tolist()
            return response

        async def embedding_async(self, /, **arguments: Any) -> Any:
            return self.embedding(**arguments)

    return OurEmbedder


def _conversation(messages: Any) -> Conversation:
    if isinstance(messages, str):
        return (Message("user", messages),)
    turns = [each if isinstance(each, dict) else each.model_dump() for each in messages]
    return tuple(Message(turn["role"], turn["content"]) for turn in turns)


def _package(module: str) -> Any:
    # litellm, which it imports, would ask the network for a table of prices; lance warns of every table that is new
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LANCEDB_LOG", "error")
    found = imported(module, EXTRA)
    logging.getLogger("graphrag").propagate = False  # it keeps a log file of its own, and sets its own level
    return found
