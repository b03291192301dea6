"""Serve the bundled language model, or any GGUF file, as an OpenAI-compatible server on this machine.

    python -m experiments.serve port=8123
    python -m experiments.serve model=FILE.gguf name=llama context=16384 parallel=8

Then: python -m experiments.run reader=generate llm=openai_compatible llm.base_url=http://127.0.0.1:8123/v1
llm.model=smollm2 llm.api_key_env=null. It listens on the loopback interface alone, and ends with Ctrl-C.

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
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import NonNegativeInt, PositiveInt

from psi.component import Component, did_you_mean, settings_of
from psi.errors import ConfigError, PsiError
from psi.models.bundled import BUNDLED, smollm2_gguf


@dataclass(frozen=True, kw_only=True)
class Serve(Component):
    """A llama.cpp engine behind HTTP (package xllamacpp, extra `serve`).

    model: `bundled` (SmolLM2-135M-Instruct) or a GGUF file.
    name: the model's name, as clients say it.
    port: 0 takes a free one.
    context: tokens of prompt and reply together, for each conversation.
    parallel: conversations at a time.
    threads: of the processor; None: as many as it has.
    """

    model: str = BUNDLED
    name: str = "smollm2"
    port: NonNegativeInt = 8123
    context: PositiveInt = 4096
    parallel: PositiveInt = 2
    threads: PositiveInt | None = None

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serve inside the block; gives the address for `base_url`.

        Raises:
            ConfigError: xllamacpp is not installed, the file is not there, or the engine refused it.
        """
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
