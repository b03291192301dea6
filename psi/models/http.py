"""Calls to OpenAI-compatible servers: retries, waiting, and failures as typed values without secrets."""

from __future__ import annotations

import email.utils
import json
import logging
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import Field, NonNegativeInt, PositiveFloat

from psi.component import Component, runtime
from psi.errors import ConfigError, ModelError
from psi.models.endpoints import Endpoint, Endpoints

if TYPE_CHECKING:
    from openai import OpenAI

log = logging.getLogger(__name__)
Result = TypeVar("Result")

RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
FIRST_WAIT_SECONDS = 0.5
CHECK_SECONDS = 10.0
NO_LIST = frozenset({"http_404", "http_405", "http_501"})  # of a server that works but can't tell its models


@dataclass(frozen=True, kw_only=True)
class HttpServer(Component):
    """What every backend on an OpenAI-compatible server needs.

    base_url: address with its version part, such as `http://localhost:8000/v1`, without user name, password or query.
    replicas: addresses of further servers of the same model; calls go to the least busy one that works.
    model: the server's name of the model.
    api_key_env: name of the environment variable that holds the key; None: the server wants no key.
    timeout: seconds until a call counts as failed.
    retries: further calls after a failure that may pass: a time-out, a lost connection, an unreadable reply, or status
        408, 409, 425, 429 or 5xx.
    longest_wait: most seconds between two calls, whatever the server asks for in `Retry-After`.
    """

    base_url: str
    replicas: tuple[str, ...] = runtime(())
    model: str
    api_key_env: str | None = None
    timeout: PositiveFloat = runtime(120.0)
    retries: NonNegativeInt = runtime(4)
    longest_wait: Annotated[float, Field(ge=0)] = runtime(60.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for address in self.addresses:
            _check_address(type(self).__name__, address)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of all servers."""
        return (self.base_url, *self.replicas)

    def identity(self) -> dict[str, Any]:
        """The settings; which variable holds the key changes nothing."""
        identity = super().identity()
        del identity["api_key_env"]
        return identity

    def call(self, request: Callable[[OpenAI], Result]) -> tuple[Result, int]:
        """The request's result and the number of calls it took.

        Raises:
            ModelError: a failure that no retry can mend, or the last of all retries; the message holds no secret.
        """
        from openai import OpenAIError

        attempt = 0
        while True:
            attempt += 1
            with self._endpoints.one() as endpoint:
                try:
                    return request(endpoint.client), attempt
                except (OpenAIError, UnreadableReplyError, json.JSONDecodeError, RecursionError) as error:
                    failure = self._failure(endpoint.address, error, attempt)
                    if not failure.retryable or attempt > self.retries:
                        raise failure from None
                    wait = 0.0 if self._endpoints.failed(endpoint, failure) else self._wait(error, attempt)
            log.warning("%s Trying again in %.1f s (%d of %d).", failure, wait, attempt, self.retries)
            time.sleep(wait)

    def check(self) -> dict[str, str | None]:
        """Ask every server which models it has: what is wrong with it by its address, None where nothing is.

        Raises:
            ConfigError: the variable named by api_key_env is not set.
        """
        return {endpoint.address: self._trouble(endpoint) for endpoint in self._endpoints}

    def _trouble(self, endpoint: Endpoint) -> str | None:
        from openai import OpenAIError

        try:
            models = [each.id for each in endpoint.client.with_options(timeout=CHECK_SECONDS).models.list()]
        except (OpenAIError, json.JSONDecodeError, RecursionError) as error:
            failure = self._failure(endpoint.address, error, 1)
            return None if failure.kind in NO_LIST else str(failure)
        there = self.model in models or f"{self.model}:latest" in models  # as Ollama calls it
        return None if there else f"it has no model {self.model!r} but {', '.join(sorted(models)) or 'none'}"

    @cached_property
    def _key(self) -> str | None:
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env)
        if not key:
            raise ConfigError(
                f"the environment variable {self.api_key_env!r} (api_key_env) is not set. Export it with the key of "
                f"{self.base_url}, or set api_key_env to null where the server wants none."
            )
        return key

    @cached_property
    def _endpoints(self) -> Endpoints:
        return Endpoints(self.addresses, self._connect)

    def _connect(self, address: str) -> OpenAI:
        from openai import OpenAI

        # a key is always given: without one the client would send OPENAI_API_KEY to whatever server this is
        return OpenAI(base_url=address, api_key=self._key or "none", timeout=self.timeout, max_retries=0)

    def _failure(self, address: str, error: Exception, attempt: int) -> ModelError:
        kind, retryable = _kind(error)
        detail = f"{type(error).__name__}: {error}"
        if self._key:
            detail = detail.replace(self._key, "***")
        message = f"{self.model} at {address} failed ({kind}): {detail[:300]}"
        return ModelError(message, kind=kind, retryable=retryable, attempts=attempt)

    def _wait(self, error: Exception, attempt: int) -> float:
        asked = _retry_after(error)
        # full jitter: clients that failed together must not come back together
        wait = asked if asked is not None else random.uniform(0.5, 1.0) * FIRST_WAIT_SECONDS * 2 ** (attempt - 1)
        return min(wait, self.longest_wait)


def _check_address(component: str, address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"{component}: base_url must look like http://localhost:8000/v1.")
    if parts.username or parts.password or parts.query:
        raise ConfigError(
            f"{component}: base_url holds a user name, password or query. Keep secrets out of settings: "
            "put the key into an environment variable and its name into api_key_env."
        )


class UnreadableReplyError(Exception):
    """A reply with status 200 whose content is not what the protocol promises."""


def _kind(error: Exception) -> tuple[str, bool]:
    """A stable word for what went wrong, and whether calling again may help."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return "timeout", True
    if isinstance(error, openai.APIConnectionError):
        return "connection", True
    if isinstance(error, openai.APIStatusError):
        return f"http_{error.status_code}", error.status_code in RETRYABLE_STATUS or error.status_code >= 500
    return "bad_response", True


def _retry_after(error: Exception) -> float | None:
    """Seconds that the server asks to wait (`Retry-After`: a number or a date), if it says so."""
    response = getattr(error, "response", None)
    value = response.headers.get("retry-after") if response is not None else None
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
