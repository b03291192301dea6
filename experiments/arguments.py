"""Command lines of `key=value` settings, checked against the component that receives them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from omegaconf import OmegaConf

from psi.component import Component, did_you_mean, required_settings, settings_of
from psi.errors import ConfigError, PsiError

Settings = TypeVar("Settings", bound=Component)


def settings_from(arguments: Sequence[str], component: type[Settings], usage: str | None) -> Settings:
    """The component that the arguments describe. `-h` and `--help` print the usage and end the program.

    Raises:
        ConfigError: an argument that is no `key=value`, an unknown or missing key, a value of the wrong type.
    """
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(usage or "")
        raise SystemExit(0)
    try:
        given = OmegaConf.to_container(OmegaConf.from_dotlist(list(arguments)))
    except Exception as error:  # of the YAML parser, in as many types as it has
        raise ConfigError(f"cannot read {' '.join(arguments)}: settings are written key=value or key=[a,b].") from error
    assert isinstance(given, dict)
    for key in given:
        if key not in settings_of(component):
            raise ConfigError(f"unknown setting {key!r}.{did_you_mean(str(key), settings_of(component))}")
    for key in required_settings(component):
        if key not in given:
            raise ConfigError(f"{key} is not given. Set it: {key}=VALUE.")
    return component(**{str(key): value for key, value in given.items()})


def run_program(main: Callable[[Sequence[str]], int | None]) -> NoReturn:
    """Run `main` on the command line and end with its exit code (None: 0), or with a message and 2 where it cannot go on."""
    try:
        code = main(sys.argv[1:])
    except PsiError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    except OSError as error:
        if error.filename is None:
            raise
        sys.stderr.write(f"cannot use {error.filename}: {error.strerror}. Choose another place.\n")
        raise SystemExit(2) from None
    raise SystemExit(code)
