"""A chat model of this process behind an OpenAI-compatible address: what clients get is what the model says here."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from psi.errors import ConfigError, InputError, ModelError
from psi.models.forms import form_of
from psi.models.protocols import Conversation, Form, Message, Reply
from psi.models.transformers_chat import TransformersChat

GATHERING = 0.05
"""Seconds from the first waiting request to the batch that takes it: others may join until then."""
LARGEST_BODY = 16 * 2**20


@dataclass(frozen=True)
class _Waiting:
    conversation: Conversation
    form: Form | None
    result: Future[Reply | ModelError] = field(default_factory=Future)


@dataclass(frozen=True)
class ChatServer:
    """Answers `/v1/chat/completions` and `/v1/models`; requests that wait at the same time are one batch.

    Replies are greedy, and their longest length is the model's own setting, so a request for anything else is refused
    instead of being answered otherwise than asked.

    chat: the model.
    name: what clients call it.
    batch: most requests in a batch.
    """

    chat: TransformersChat
    name: str
    batch: int
    waiting: queue.SimpleQueue[_Waiting | None] = field(default_factory=queue.SimpleQueue)

    @contextmanager
    def running(self, port: int) -> Iterator[str]:
        """Serve on the loopback interface inside the block; gives the address for `base_url`.

        Raises:
            ConfigError: the port is taken.
        """
        try:
            server = _Listener(("127.0.0.1", port), _handler(self))
        except OSError as error:
            raise ConfigError(f"cannot serve on port {port}: {error}. Take another one, or port=0.") from error
        threads = [threading.Thread(target=each, daemon=True) for each in (self._work, server.serve_forever)]
        for thread in threads:
            thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            server.server_close()
            self.waiting.put(None)
            threads[0].join()

    def completion(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to a request, once its batch is done.

        Raises:
            InputError: something is asked that this server does not do.
            ModelError: the model failed.
        """
        asked = _Waiting(_conversation(request), self._form(request))
        self.waiting.put(asked)
        reply = asked.result.result()
        if isinstance(reply, ModelError):
            raise reply
        return _completion(self.name, reply)

    def _form(self, request: Mapping[str, Any]) -> Form | None:
        longest = self.chat.max_new_tokens
        fixed = {"max_tokens": longest, "max_completion_tokens": longest, "temperature": 0, "n": 1, "stream": False}
        for key, value in fixed.items():
            if request.get(key, value) != value:
                raise InputError(f"{key}={request[key]!r} is not served here: it is always {value!r}.")
        for key in ("stop", "response_format", "grammar"):
            if request.get(key):
                raise InputError(f"{key} is not served here; forms are asked for with llm.constrain=regex.")
        regex = (request.get("structured_outputs") or {}).get("regex")
        return None if regex is None else form_of(regex, longest)

    def _work(self) -> None:
        """Answer batch after batch, until None is put into the queue."""
        ended = False
        while not ended:
            batch, ended = self._next_batch()
            try:
                for number, result in self.chat.ask(
                    [each.conversation for each in batch], [each.form for each in batch]
                ):
                    batch[number].result.set_result(result)
            except Exception as error:  # noqa: BLE001 - the clients of this batch hear of it, the next is worked on
                for each in batch:
                    if not each.result.done():
                        each.result.set_exception(error)

    def _next_batch(self) -> tuple[list[_Waiting], bool]:
        """What waits, and whether it was the last."""
        batch: list[_Waiting] = []
        end: float | None = None
        while len(batch) < self.batch:
            try:
                each = self.waiting.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
            except queue.Empty:
                break
            if each is None:
                return batch, True
            batch.append(each)
            end = end or time.monotonic() + GATHERING
        return batch, False


class _Listener(ThreadingHTTPServer):
    request_queue_size = 256  # as many clients may connect at once; the library's 5 resets those beyond


def _conversation(request: Mapping[str, Any]) -> Conversation:
    try:
        return tuple(Message(each["role"], each["content"]) for each in request["messages"])
    except (KeyError, TypeError) as error:
        raise InputError("messages: a list of objects with role and content is needed.") from error


def _completion(name: str, reply: Reply) -> dict[str, Any]:
    return {
        "id": "reply", "object": "chat.completion", "created": 0, "model": name,
        "choices": [{
            "index": 0, "message": {"role": "assistant", "content": reply.text},
            "finish_reason": "length" if reply.truncated else "stop",
        }],
        "usage": {
            "prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        },
    }  # fmt: skip


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self._send(200, {"object": "list", "data": [{"id": server.name, "object": "model"}]})
            else:
                self._refuse(404, f"nothing at {self.path}")

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            if length > LARGEST_BODY:
                self.close_connection = True  # its body is left unread
                self._refuse(413, f"more than {LARGEST_BODY} bytes")
                return
            body = self.rfile.read(length)
            if self.path != "/v1/chat/completions":
                self._refuse(404, f"nothing at {self.path}")
                return
            try:
                self._send(200, server.completion(_request(body)))
            except InputError as error:
                self._refuse(400, str(error))
            except Exception as error:  # noqa: BLE001 - whatever it is, the client hears of it
                self._refuse(500, f"{type(error).__name__}: {error}")

        def _refuse(self, code: int, message: str) -> None:
            self._send(code, {"error": {"message": message, "code": code}})

        def _send(self, code: int, content: Mapping[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of single requests."""

    return Handler


def _request(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise InputError(f"the request is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise InputError("the request is not a JSON object.")
    return found
