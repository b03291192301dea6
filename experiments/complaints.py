"""Configuration errors of Hydra and OmegaConf, said so that the next step is clear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from experiments.compose import known_keys
from psi.component import did_you_mean

CONF = Path(__file__).resolve().parent.parent / "conf"
_UNKNOWN_KEY = re.compile(
    r"Could not override '([^']+)'|Could not delete from config[^']*'([^']+)'|Key '([^']+)' is not in"
)
_UNKNOWN_CHOICE = re.compile(r"Could not find '([^']*)/([^/']*)'")


def explained(error: Exception, arguments: Sequence[str]) -> str:
    """One paragraph for an error: what is wrong, where, what is allowed."""
    message = str(error)
    if choice := _UNKNOWN_CHOICE.search(message):
        return _unknown_choice(*choice.groups())
    if key := _UNKNOWN_KEY.search(message):
        return _unknown_key(next(group for group in key.groups() if group), arguments)
    if isinstance(error, OverrideParseException):
        return (
            f"cannot read {error.override!r}. Settings are written key=value; a value with spaces or other special "
            "characters is put in quotes that the shell leaves alone: 'key=\"a value\"'; write $HOME for ~."
        )
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key} is not given. Set it: {error.full_key}=VALUE."
    if isinstance(error, OmegaConfBaseException):
        where = f"{error.full_key}: " if error.full_key else ""
        return f"{where}{message.splitlines()[0]}."
    if is_about_groups(error):
        return "a group such as dataset or method takes a name: method=bm25. Look at every setting with another value."
    if isinstance(error, HydraException) and error.__cause__:
        return f"{message}: {str(error.__cause__).splitlines()[0]}."
    return message


def is_about_groups(error: Exception) -> bool:
    """Whether Hydra found something other than a name as the choice of a group; it doesn't say of which."""
    return isinstance(error, ValueError) and str(error).startswith("Config group override must be")


def choices(group: str) -> list[str]:
    """Names that a configuration group offers."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def _unknown_choice(group: str, name: str) -> str:
    while not choices(group) and "/" in group:  # a name with slashes
        group, _, rest = group.rpartition("/")
        name = f"{rest}/{name}"
    return f"unknown {group} {name!r}.{did_you_mean(name, choices(group))} (files in conf/{group})"


def _unknown_key(name: str, arguments: Sequence[str]) -> str:
    """Names the first part of a dotted key that is not there, and what is on its level."""
    level, above = _composed(arguments), ""
    for part in name.split("."):
        allowed = [f"{above}{key}" for key in known_keys(level) if key != "_target_"]
        if not allowed and above:
            return f"unknown setting {name!r}: {above[:-1]} has no settings of its own."
        if f"{above}{part}" not in allowed:
            return f"unknown setting {name!r}.{did_you_mean(f'{above}{part}', allowed)}"
        level, above = _below(level, part), f"{above}{part}."
    return f"{name!r} has no value in the configuration yet. Add it with a plus: +{name}=VALUE."


def _below(level: Any, part: str) -> Any:
    return level[int(part)] if isinstance(level, list) else level.get(part)


def _composed(arguments: Sequence[str]) -> Any:
    kept = [each for each in arguments if each.startswith("hydra.searchpath=") or _is_choice(each)]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        try:
            config = compose("config", overrides=kept)
        except HydraException:
            config = compose("config")
    return OmegaConf.to_container(config, resolve=False)


def _is_choice(argument: str) -> bool:
    return re.fullmatch(r"[\w/]+=\w+", argument) is not None and (CONF / argument.split("=")[0]).is_dir()
