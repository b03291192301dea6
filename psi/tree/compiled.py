"""A typed wrapper around numba's decorator, so that compiled functions keep their signatures for the type checker."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile for one thread; the machine code is cached on disk and the interpreter lock is released while it runs."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))
