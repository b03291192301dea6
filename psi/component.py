"""Configurable parts of the system: validated when they are made, and able to say what they are.

A component is a frozen dataclass whose fields are its settings. Types and ranges stand in the annotations
(`beam: PositiveInt = 10`) and are checked on construction, from Python and from Hydra alike. `identity()` is the
component as plain data: the part of a stage's digest that belongs to it.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
from collections.abc import Iterable
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import core_schema

from psi.errors import ConfigError


def runtime(default: Any) -> Any:
    """Declare a setting that changes how fast or where work runs, never its result: it is left out of `identity()`."""
    return dataclasses.field(default=default, metadata={"identity": False})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Component:
    """Base of every configurable part. Subclasses are `@dataclass(frozen=True, kw_only=True)`.

    Raises:
        ConfigError: on construction, if a field has the wrong type or is out of range.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _validated(type(self), field.name, getattr(self, field.name)))

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> core_schema.CoreSchema:
        # as a setting of another component: an instance, already checked
        return core_schema.is_instance_schema(cls)

    def identity(self) -> dict[str, Any]:
        """Everything that changes the result, as JSON data: the class and its settings, nested components included."""
        settings = {
            field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self) if _in_identity(field)
        }
        return {"component": f"{type(self).__module__}.{type(self).__qualname__}", **settings}


def settings_of(component: type) -> list[str]:
    """Names of the settings that a component class (or any callable with named parameters) accepts."""
    if dataclasses.is_dataclass(component):
        return [field.name for field in dataclasses.fields(component) if field.init]
    return list(inspect.signature(component).parameters)


def required_settings(component: type) -> list[str]:
    """Names of the settings without a default."""
    parameters = inspect.signature(component).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in parameters if each.default is each.empty and each.kind not in variadic]


def did_you_mean(word: str, allowed: Iterable[str], *, shown: int = 3) -> str:
    """A closing sentence for an error about an unknown name: the nearest names, then all of them."""
    known = sorted(set(allowed))
    near = difflib.get_close_matches(word, known, n=shown, cutoff=0.6)
    hint = f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
    return f"{hint} Allowed: {', '.join(known)}."


@functools.cache
def _adapter(component: type, name: str) -> TypeAdapter[Any]:
    hint = get_type_hints(component, include_extras=True)[name]
    # pydantic takes no configuration for a class that could have its own
    if dataclasses.is_dataclass(hint):
        return TypeAdapter(hint)
    in_identity = _in_identity(next(field for field in dataclasses.fields(component) if field.name == name))
    # infinity and NaN cannot stand in a digest
    config = ConfigDict(strict=True, arbitrary_types_allowed=True, allow_inf_nan=not in_identity)
    return TypeAdapter(hint, config=config)


def _in_identity(field: dataclasses.Field[Any]) -> bool:
    return bool(field.metadata.get("identity", True))


def _validated(component: type, name: str, value: Any) -> Any:
    try:
        return _adapter(component, name).validate_python(_tuples(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join([name, *(str(part) for part in first["loc"] if isinstance(part, int))])
        # settings are written in YAML, which knows lists alone
        expected = first["msg"].replace("a valid tuple", "a list: [a, b]").replace("Tuple", "List")
        raise ConfigError(f"{component.__name__}: {where}={_lists(first['input'])!r}: {expected}.") from None


def _tuples(value: Any) -> Any:
    # settings that come from YAML hold lists; components are immutable
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _plain(value: Any) -> Any:
    if hasattr(value, "identity"):  # a component, or anything else that follows a protocol of ours
        return value.identity()
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
