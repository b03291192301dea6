"""From a composed configuration to a `Run`: every key is checked against the code that will receive it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hydra.utils import get_object
from omegaconf import DictConfig, OmegaConf

from experiments.settings import Run
from psi.component import did_you_mean, settings_of
from psi.errors import ConfigError, PsiError

# keys of the composed configuration that components refer to by interpolation
SHARED = ("embedder", "llm", "abstracts", "beam", "hop_budget")
_SECRET = re.compile(r"(?i)(key|token|secret|password)s?$")


def run_from(config: DictConfig) -> Run:
    """The typed run of a composed configuration.

    Raises:
        ConfigError: a key is unknown, a value has the wrong type or is out of range, a class can't be found; the
            message holds the path of the key.
    """
    settings = {str(key) for key in config} - set(SHARED)
    _check_keys("", settings, settings_of(Run), also=SHARED)
    plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)
    return Run(**{str(key): _made(str(key), value) for key, value in plain.items() if key not in SHARED})


def unused(config: DictConfig) -> list[str]:
    """Shared keys that nothing in this run refers to: changing them has no effect."""
    text = str(OmegaConf.to_container(config, resolve=False))
    return [key for key in SHARED if key in config and not re.search(r"\$\{" + key + r"[.}]", text)]


def masked(config: DictConfig) -> str:
    """The resolved configuration as YAML, values that look like secrets replaced."""
    return OmegaConf.to_yaml(OmegaConf.create(_mask(OmegaConf.to_container(config, resolve=True))))


def known_keys(node: Any, prefix: str = "") -> Iterator[str]:
    """Dotted paths of every key in a plain configuration."""
    if isinstance(node, dict):
        for key, value in node.items():
            path = f"{prefix}{key}"
            yield path
            yield from known_keys(value, f"{path}.")


def _made(path: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_made(f"{path}[{i}]", item) for i, item in enumerate(value)]
    if not isinstance(value, dict) or "_target_" not in value:
        return value
    settings = {str(key): item for key, item in value.items() if key != "_target_"}
    target = _target(path, value["_target_"])
    _check_keys(path, settings, settings_of(target))
    made = {key: _made(f"{path}.{key}", item) for key, item in settings.items()}
    try:
        return target(**made)
    except (PsiError, TypeError) as error:  # TypeError: a setting without default is not given
        raise ConfigError(f"{path}: {error}") from error


def _target(path: str, name: str) -> Any:
    try:
        return get_object(name)
    except Exception as error:
        raise ConfigError(f"{path}._target_: cannot import {name!r} ({error}). Check its spelling.") from error


def _check_keys(path: str, given: Any, allowed: list[str], also: tuple[str, ...] = ()) -> None:
    for key in given:
        if key not in allowed:
            where = f"{path}.{key}" if path else str(key)
            raise ConfigError(f"unknown setting {where!r}.{did_you_mean(str(key), [*allowed, *also])}")


def _mask(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _masked_value(str(key), value) for key, value in node.items()}
    return [_mask(item) for item in node] if isinstance(node, list) else node


def _masked_value(key: str, value: Any) -> Any:
    return "***" if _SECRET.search(key) and isinstance(value, str) else _mask(value)
