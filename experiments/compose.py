"""From a composed configuration to a `Run`: every key is checked against the code that will receive it."""

from __future__ import annotations

import copy
import importlib
import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from experiments.settings import Run
from psi.component import Component, did_you_mean, required_settings, settings_of
from psi.errors import ConfigError, PsiError

# keys of the composed configuration that components refer to by interpolation
SHARED = ("budget", "embedder", "llm", "abstracts", "reranker", "beam", "hop_budget")
_SECRET = re.compile(r"(?i)(key|token|secret|password)s?$")


def run_from(config: DictConfig) -> Run:
    """The typed run of a composed configuration.

    Raises:
        ConfigError: a key is unknown, a value has the wrong type or is out of range, a class can't be found; the
            message holds the path of the key.
    """
    settings = {str(key) for key in config} - set(SHARED)
    _check_keys("", settings, settings_of(Run), also=SHARED)
    if config.get("hop_budget") == "auto":
        config = _with_discriminator(config)
    plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)
    components: dict[str, Component] = {}
    made = {str(key): _made(str(key), value, components) for key, value in plain.items() if key not in SHARED}
    _check_given("", made, Run)
    return Run(**made)


def _with_discriminator(config: DictConfig) -> DictConfig:
    """The configuration with the hop budget of conf/hops/auto.yaml."""
    auto = OmegaConf.load(Path(__file__).resolve().parent.parent / "conf" / "hops" / "auto.yaml")
    assert isinstance(auto, DictConfig)
    found = copy.deepcopy(config)
    OmegaConf.update(found, "hop_budget", auto.hop_budget, force_add=True)
    return found


def component_of(config: DictConfig, key: str) -> Component:
    """The component that stands under a key of the composed configuration.

    Raises:
        ConfigError: as `run_from`.
    """
    node = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(node, dict)
    return _component(key, node[key], {})


def unused(config: DictConfig) -> list[str]:
    """Shared keys that nothing in this run refers to: changing them has no effect."""
    text = str(OmegaConf.to_container(config, resolve=False))
    return [key for key in SHARED if key in config and not re.search(r"\$\{" + key + r"[.}]", text)]


def masked(config: DictConfig) -> str:
    """The resolved configuration as YAML, values that look like secrets replaced."""
    return OmegaConf.to_yaml(OmegaConf.create(_mask(OmegaConf.to_container(config, resolve=True))))


def again(overrides: Sequence[str]) -> str:
    """The command of a cell with these overrides, without the place where results are kept; secrets are replaced."""
    kept = [each for each in overrides if each.lstrip("+~").partition("=")[0] not in ("store", "dry_run")]
    return shlex.join(["python", "-m", "experiments.run", *map(_mask_override, kept)])


def _mask_override(override: str) -> str:
    key, sign, value = override.partition("=")
    plain = re.fullmatch(r"null|true|false|[-+\d.e]*", value)  # llm.max_tokens=64 is no secret
    return f"{key}=***" if sign and _SECRET.search(key) and not plain else override


def known_keys(node: Any) -> list[str]:
    """What can be set below a node of a plain configuration: its keys, the settings of its class, its places."""
    if isinstance(node, list):
        return [str(place) for place in range(len(node))]
    if not isinstance(node, dict):
        return []
    settings = settings_of(target_of(node)) if "_target_" in node else []
    return list(dict.fromkeys([*map(str, node), *settings]))


def target_of(node: Mapping[str, Any], path: str = "") -> type[Component]:
    """The component class that a node of the configuration names.

    Raises:
        ConfigError: it can't be imported, or is no component.
    """
    name = node["_target_"]
    where = f"{path}._target_" if path else "_target_"
    try:
        module, _, attribute = name.rpartition(".")
        target = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:  # ValueError: no module is named
        raise ConfigError(f"{where}: cannot import {name!r} ({error}). Check its spelling.") from error
    if not (isinstance(target, type) and issubclass(target, Component)):
        raise ConfigError(f"{where}: {name!r} is no psi.component.Component.")
    return target


def _made(path: str, value: Any, components: dict[str, Component]) -> Any:
    """The value with every component in it made; equal configurations give one object, which loads its model once."""
    if isinstance(value, list):
        return [_made(f"{path}[{i}]", item, components) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "_target_" not in value:
        return {key: _made(f"{path}.{key}", item, components) for key, item in value.items()}
    same = json.dumps(value, sort_keys=True)
    if same not in components:
        components[same] = _component(path, value, components)
    return components[same]


def _component(path: str, node: Mapping[str, Any], components: dict[str, Component]) -> Component:
    settings = {str(key): item for key, item in node.items() if key != "_target_"}
    target = target_of(node, path)
    _check_keys(path, settings, settings_of(target))
    _check_given(path, settings, target)
    made = {key: _made(f"{path}.{key}", item, components) for key, item in settings.items()}
    try:
        return target(**made)
    except PsiError as error:
        raise ConfigError(f"{path}: {error}") from error


def _check_keys(path: str, given: Any, allowed: list[str], also: tuple[str, ...] = ()) -> None:
    for key in given:
        if key not in allowed:
            where = f"{path}.{key}" if path else str(key)
            raise ConfigError(f"unknown setting {where!r}.{did_you_mean(str(key), [*allowed, *also])}")


def _check_given(path: str, given: Collection[str], target: Any) -> None:
    for key in required_settings(target):
        if key not in given:
            where = f"{path}.{key}" if path else key
            raise ConfigError(f"{where} is not given. Set it: {where}=VALUE.")


def _mask(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _masked_value(str(key), value) for key, value in node.items()}
    return [_mask(item) for item in node] if isinstance(node, list) else node


def _masked_value(key: str, value: Any) -> Any:
    return "***" if _SECRET.search(key) and isinstance(value, str) else _mask(value)
