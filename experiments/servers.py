"""Are the model servers of a run there? Asked before it begins, so that a sweep does not end in thousands of failures."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator

from experiments.plan import plan
from experiments.settings import Run
from psi.component import Component
from psi.errors import ConfigError
from psi.models.http import HttpServer

log = logging.getLogger(__name__)


def check_servers(run: Run, dataset: str) -> None:
    """Ask every server of the run's models, if there is work left; a replica that is down is only told of.

    Raises:
        ConfigError: no server of a model works.
    """
    servers = list(_servers(run))
    if not servers or not plan(run, dataset).stages:
        return
    for server in servers:
        troubles = server.check()
        for address, trouble in troubles.items():
            if trouble is not None:
                log.warning("server %s: %s", address, trouble)
        if all(troubles.values()):
            raise ConfigError(
                f"{type(server).__name__}: no server of the model {server.model!r} works: {next(iter(troubles.values()))} "
                "Start it (vllm serve MODEL --port 8000, ollama serve), or set check_servers=false."
            )


def _servers(component: Component) -> Iterator[HttpServer]:
    if isinstance(component, HttpServer):
        yield component
    for field in dataclasses.fields(component):
        value = getattr(component, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Component):
                yield from _servers(each)
