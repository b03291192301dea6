"""A real HTTP server on the loopback interface that plays a script: one step a request."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Step:
    """What a request meets: a status with a body, `hang` (no reply in time) or `reset` (a torn connection)."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    trouble: str = ""


@dataclass
class Scripted:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorization: list[str | None] = field(default_factory=list)


def completion(text: str | None, *, finish: str = "stop") -> Step:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return Step(body={"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})


def embeddings(*vectors: list[float]) -> Step:
    data = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return Step(body={"object": "list", "model": "m", "data": data})


@contextmanager
def serving(*steps: Step, by: Callable[[dict[str, Any]], Step] | None = None) -> Iterator[Scripted]:
    """Serve the steps in order, the last one again and again; or what `by` makes of each request."""
    seen = Scripted("")
    lock = threading.Lock()
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                request = json.loads(body)
                step = by(request) if by else steps[min(len(seen.requests), len(steps) - 1)]
                seen.requests.append(request)
                seen.authorization.append(self.headers.get("Authorization"))
            if step.trouble == "hang":
                released.wait(5)
            elif step.trouble == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            else:
                self._send(step)

        def _send(self, step: Step) -> None:
            content = step.body if isinstance(step.body, str) else json.dumps(step.body)
            self.send_response(step.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content.encode())))
            for name, value in step.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # torn connections are part of the script
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    seen.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield seen
    finally:
        released.set()
        server.shutdown()
        server.server_close()
        thread.join()
