"""LightRAG (Guo et al. 2024, arXiv 2410.05779) through its own package, `lightrag-hku`, on our models."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PositiveInt

from baselines.external.packages import Calls, Documents, FourCharacters, imported, version
from psi.component import Component, runtime
from psi.corpus.records import Passages
from psi.errors import InputError
from psi.models.protocols import ChatModel, Conversation, Embedder, Message
from psi.retrieval.ranking import Ranking
from psi.retrieval.top_k import check_k, check_questions
from psi.store import Stage, Store

VERSION = 1
EXTRA = "lightrag"
NEVER = 10**9  # seconds: the package's own time limits; models have theirs


@dataclass(frozen=True, kw_only=True)
class LightRag(Component):
    """A graph of entities and relations that the model finds, searched by keywords that it finds in the question.

    mode: `hybrid` is the paper's dual-level retrieval: `local` by the question's details, `global` by its themes;
        `mix` adds the passages nearest to the question, `naive` has those alone.
    top_k: entities (local) or relations (global) looked up.
    chunk_top_k: passages kept; more where k is larger.
    gleanings: times the model is asked for what it has missed in a passage.
    """

    embedder: Embedder
    llm: ChatModel
    mode: Literal["local", "global", "hybrid", "mix", "naive"] = "hybrid"
    top_k: PositiveInt = 40
    chunk_top_k: PositiveInt = 20
    gleanings: NonNegativeInt = 1
    language: Annotated[str, Field(min_length=1)] = "English"
    concurrency: PositiveInt = runtime(8)

    def build(self, passages: Passages, store: Store) -> LightRagIndex:
        """Have the package index the corpus, or open what the store has.

        Raises:
            ConfigError: the package is missing.
            ModelError: a call failed; the next start asks for it again, replies that came are in the call cache.
        """
        settings = {
            "embedder": self.embedder.identity(), "llm": self.llm.identity(), "gleanings": self.gleanings,
            "language": self.language, "package": version("lightrag-hku"),
        }  # fmt: skip
        imported("lightrag", EXTRA)
        stage = Stage("lightrag", VERSION, settings, {"passages": passages.digest})
        artifact = store.obtain(stage, lambda folder: self._make(passages, folder))
        return LightRagIndex(self, Documents(passages), artifact.path)

    def _make(self, passages: Passages, folder: Path) -> Mapping[str, Any]:
        calls, documents = Calls(self.llm), Documents(passages)

        async def index() -> None:
            async with opened(self, folder, calls) as rag:
                names = list(documents.texts)
                await rag.ainsert(list(documents.texts.values()), ids=names, file_paths=names)

        asyncio.run(index())
        calls.check()
        chunks = imported("lightrag.utils", EXTRA).load_json(str(folder / "kv_store_text_chunks.json")) or {}
        missing = set(documents.texts) - {chunk["full_doc_id"] for chunk in chunks.values()}
        if missing:
            raise InputError(
                f"LightRAG left out {len(missing)} of {len(documents.texts)} texts, such as that of "
                f"{documents.ranking([min(missing)], 1).ids[0]!r}. Its log says why."
            )
        return {"texts": len(documents.texts), "chunks": len(chunks), **calls.facts()}


class LightRagIndex:
    """A corpus in LightRAG's files."""

    def __init__(self, config: LightRag, documents: Documents, folder: Path):
        self._config, self._documents, self._folder = config, documents, folder

    def search(self, questions: Sequence[str], k: int) -> list[Ranking]:
        """The passages that LightRAG would give its model for each question, in its order.

        Raises:
            ModelError: the model failed to find the keywords of a question.
        """
        check_k(k)
        check_questions(tuple(questions))
        return asyncio.run(self._searched(questions, k)) if questions else []

    async def _searched(self, questions: Sequence[str], k: int) -> list[Ranking]:
        calls = Calls(self._config.llm)
        async with opened(self._config, self._folder, calls) as rag:
            rankings = []
            for question in questions:
                found = await rag.aquery_data(question, self._parameters(k))
                calls.check()
                names = [chunk["file_path"] for chunk in (found.get("data") or {}).get("chunks", [])]
                rankings.append(self._documents.ranking(names, k, calls.spent()))
        return rankings

    def _parameters(self, k: int) -> Any:
        return imported("lightrag", EXTRA).QueryParam(
            mode=self._config.mode,
            top_k=self._config.top_k,
            chunk_top_k=max(k, self._config.chunk_top_k),
            enable_rerank=False,
        )


@asynccontextmanager
async def opened(config: LightRag, folder: Path, calls: Calls) -> AsyncIterator[Any]:
    """LightRAG with our models, on files in a folder; without caches of its own, so that a search writes nothing."""
    package, utils = imported("lightrag", EXTRA), imported("lightrag.utils", EXTRA)
    for noisy in ("lightrag", "nano-vectordb"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    rag = package.LightRAG(
        working_dir=str(folder),
        workspace="",
        llm_model_func=_chat(calls),
        llm_model_max_async=config.concurrency,
        default_llm_timeout=NEVER,
        embedding_func=utils.EmbeddingFunc(
            embedding_dim=config.embedder.encode_questions(["width"]).shape[1],
            func=_embedding(config.embedder),
            supports_asymmetric=True,
        ),
        embedding_func_max_async=1,
        default_embedding_timeout=NEVER,
        max_parallel_insert=config.concurrency,
        entity_extract_max_gleaning=config.gleanings,
        addon_params={"language": config.language},
        tokenizer=utils.Tokenizer("four characters", FourCharacters()),
        enable_llm_cache=False,
        enable_llm_cache_for_entity_extract=False,
    )
    await rag.initialize_storages()
    try:
        yield rag
    finally:
        await rag.finalize_storages()
        # what it has opened it keeps for the whole process, under names that do not tell one folder from another
        imported("lightrag.kg.shared_storage", EXTRA).finalize_share_data()


def _chat(calls: Calls) -> Callable[..., Awaitable[str]]:
    async def chat(prompt: str, system_prompt: str | None = None, history_messages: Any = (), **_: Any) -> str:
        system = (Message("system", system_prompt),) if system_prompt else ()
        history = tuple(Message(each["role"], each["content"]) for each in history_messages or ())
        conversation: Conversation = (*system, *history, Message("user", prompt))
        return await calls.ask(conversation)

    return chat


def _embedding(embedder: Embedder) -> Callable[..., Awaitable[NDArray[np.float32]]]:
    async def embed(texts: list[str], context: str = "document", **_: Any) -> NDArray[np.float32]:
        return embedder.encode_questions(texts) if context == "query" else embedder.encode_passages(texts)

    return embed
