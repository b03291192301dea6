"""Configuration errors of Hydra and OmegaConf, said so that the next step is clear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf

from experiments.compose import known_keys
from psi.component import did_you_mean

CONF = Path(__file__).resolve().parent.parent / "conf"
_UNKNOWN_KEY = re.compile(
    r"Could not override '([^']+)'|Could not delete from config[^']*'([^']+)'|Key '([^']+)' is not in"
)
_UNKNOWN_CHOICE = re.compile(r"Could not find '([\w/]+)/([^/']+)'")


def explained(error: Exception, arguments: Sequence[str]) -> str:
    """One paragraph for an error: what is wrong, where, what is allowed."""
    message = str(error)
    if choice := _UNKNOWN_CHOICE.search(message):
        group, name = choice.groups()
        return f"unknown {group} {name!r}.{did_you_mean(name, choices(group))} (files in conf/{group})"
    if key := _UNKNOWN_KEY.search(message):
        name = next(group for group in key.groups() if group)
        return f"unknown setting {name!r}.{did_you_mean(name, _nearby(name, arguments))}"
    return f"{type(error).__name__}: {message}"


def choices(group: str) -> list[str]:
    """Names that a configuration group offers."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def _nearby(name: str, arguments: Sequence[str]) -> list[str]:
    """Keys on the level where the unknown one was given, for the chosen groups as far as they are valid."""
    keys = list(known_keys(_composed(arguments)))
    parent = name.rpartition(".")[0]
    level = [key for key in keys if key.rpartition(".")[0] == parent]
    return level if parent and level else [key for key in keys if "." not in key]


def _composed(arguments: Sequence[str]) -> object:
    groups = [each for each in arguments if re.fullmatch(r"[\w/]+=\w+", each) and (CONF / each.split("=")[0]).is_dir()]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        try:
            config = compose("config", overrides=groups)
        except HydraException:
            config = compose("config")
    return OmegaConf.to_container(config, resolve=False)
