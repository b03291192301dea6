"""Typed wrappers around numba's decorators, so that compiled functions keep their signatures for the type checker."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile for one thread; the machine code is cached on disk and the interpreter lock is released."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def compiled_parallel(function: F) -> F:
    """Compile with `numba.prange` loops spread over the threads; each iteration must own what it writes."""
    return cast(F, numba.njit(cache=True, nogil=True, parallel=True)(function))
