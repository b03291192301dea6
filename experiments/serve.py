"""Serve the bundled language model, or any GGUF file, as an OpenAI-compatible server on this machine.

    python -m experiments.serve port=8123
    python -m experiments.serve model=FILE.gguf name=llama context=16384 parallel=8
    python -m experiments.serve engine=transformers parallel=16

Then: python -m experiments.run reader=generate llm=openai_compatible llm.base_url=http://127.0.0.1:8123/v1
llm.model=smollm2 llm.api_key_env=null. With engine=transformers the weights and the replies are those of llm=smollm2 in
this process (llm.max_tokens=96 llm.constrain=regex). It listens on the loopback interface alone, and ends with Ctrl-C.

Exit codes: 0 ended by hand, 2 the settings were refused or the model could not be loaded.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import NonNegativeInt, PositiveInt

from experiments.chat_server import ChatServer
from psi.component import Component, did_you_mean, settings_of
from psi.errors import ConfigError, PsiError
from psi.models.bundled import BUNDLED, smollm2_gguf
from psi.models.protocols import Form, Message
from psi.models.transformers_chat import TransformersChat


@dataclass(frozen=True, kw_only=True)
class Serve(Component):
    """A model behind HTTP.

    engine: `llama_cpp` (package xllamacpp, extra `serve`; GGUF files), or `transformers`: greedy replies of the same
        weights and code as in this process, without an extra.
    model: `bundled` (SmolLM2-135M-Instruct), a GGUF file, or for transformers a name or folder.
    name: the model's name, as clients say it.
    port: 0 takes a free one.
    context: tokens of prompt and reply together, for each conversation.
    parallel: conversations at a time.
    threads: of the processor; None: as many as it has.
    max_tokens: longest reply with transformers; clients of llama.cpp say it themselves.
    """

    engine: Literal["llama_cpp", "transformers"] = "llama_cpp"
    model: str = BUNDLED
    name: str = "smollm2"
    port: NonNegativeInt = 8123
    context: PositiveInt = 4096
    parallel: PositiveInt = 2
    threads: PositiveInt | None = None
    max_tokens: PositiveInt = 96

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serve inside the block; gives the address for `base_url`.

        Raises:
            ConfigError: xllamacpp is not installed, the model is not there, the port is taken, or the engine refused it.
        """
        with self._transformers() if self.engine == "transformers" else self._llama_cpp() as address:
            yield address

    @contextmanager
    def _transformers(self) -> Iterator[str]:
        import torch

        torch.set_num_threads(self.threads or os.cpu_count() or 1)
        chat = TransformersChat(
            model=self.model, context_tokens=self.context, max_new_tokens=self.max_tokens, repetition_penalty=1.0,
            constrain=True, batch_size=self.parallel,
        )  # fmt: skip
        try:
            chat.reply([(Message("user", "Hello"),)], [Form(("Answer",))])  # loads all before anybody waits for it
        except OSError as error:
            raise ConfigError(f"cannot load model={self.model!r}: {error}") from error
        with ChatServer(chat, self.name, self.parallel).running(self.port) as address:
            yield address

    @contextmanager
    def _llama_cpp(self) -> Iterator[str]:
        try:
            import xllamacpp
        except ImportError:
            raise ConfigError("serving needs the package xllamacpp: pip install -e '.[serve]'.") from None
        try:
            server = xllamacpp.Server(self._parameters(xllamacpp))
        except RuntimeError as error:
            raise ConfigError(f"cannot serve {self.model} on port {self.port}: {error}") from error
        try:
            yield f"{server.listening_address}/v1"
        finally:
            del server  # its destructor ends the engine

    def _parameters(self, xllamacpp: Any) -> Any:
        path = smollm2_gguf() if self.model == BUNDLED else Path(self.model)
        if not path.is_file():
            raise ConfigError(f"model={self.model!r}: no such file. Give a GGUF file, or {BUNDLED!r}.")
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.model_alias = {self.name}
        parameters.port = self.port
        parameters.n_parallel = self.parallel
        parameters.n_ctx = self.context * self.parallel  # the engine shares it out
        parameters.cpuparams.n_threads = self.threads or os.cpu_count() or 1
        parameters.verbosity = 0
        parameters.ui = False
        return parameters


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C; returns the exit code."""
    try:
        with serve_from(arguments).running() as address:
            sys.stdout.write(f"serving at {address} (Ctrl-C ends it)\n")
            sys.stdout.flush()
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    except (OmegaConfBaseException, PsiError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def serve_from(arguments: Sequence[str]) -> Serve:
    """The settings of a command line of `name=value`.

    Raises:
        ConfigError: a setting is unknown or its value not allowed.
    """
    given = OmegaConf.to_container(OmegaConf.from_dotlist(list(arguments)))
    assert isinstance(given, dict)
    allowed = settings_of(Serve)
    for key in given:
        if key not in allowed:
            raise ConfigError(f"unknown setting {str(key)!r}.{did_you_mean(str(key), allowed)}")
    return Serve(**{str(key): value for key, value in given.items()})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
