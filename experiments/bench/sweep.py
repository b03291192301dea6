"""A sweep of 72 cells that benches start again and again, and what it leaves behind."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from psi.store import open_artifact

Launcher = Literal["basic", "joblib", "submitit_local", "ray"]
ROOT = Path(__file__).resolve().parents[2]
SWEEP = (
    "dataset=encyclopedia", "dataset.passages=200", "dataset.questions=60", "limit=30", "answers=6", "max_fail_rate=1",
    "method=bm25,dense,rrf,psi_tree,psi,links", "seed=0,1,2", "k=5,10", "context=2,4", "reader=generate",
    "llm=openai_compatible", "llm.model=echo", "llm.api_key_env=null",
)  # fmt: skip
CELLS = 6 * 3 * 2 * 2
TIMED = "timings.jsonl"
SLOTS = {"joblib": "n_jobs", "ray": "jobs"}  # the setting of a launcher that limits its cells at a time


class Echo(BaseHTTPRequestHandler):
    """A chat model whose reply depends on its prompt alone."""

    def do_POST(self) -> None:
        """Reply with a word made of the prompt's digest."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        word = hashlib.sha256(json.dumps(json.loads(body)["messages"]).encode()).hexdigest()[:6]
        message = {"role": "assistant", "content": f"Answer: {word}"}
        usage = {"prompt_tokens": len(body), "completion_tokens": 3, "total_tokens": len(body) + 3}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        content = json.dumps(
            {"id": "1", "object": "chat.completion", "model": "echo", "choices": choices, "usage": usage}
        )
        time.sleep(0.05)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client was killed
            self.wfile.write(content.encode())

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextlib.contextmanager
def echo_server() -> Iterator[str]:
    """The address of a running server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()


def start(store: Path, url: str, launcher: Launcher, *more: str, jobs: int = 2) -> subprocess.Popen[bytes]:
    """Start the sweep in a process group of its own, so many cells at a time where the launcher can; `more` settings."""
    arguments = ["-m", *SWEEP, f"llm.base_url={url}", f"store={store}", f"hydra/launcher={launcher}", *more]
    if launcher in SLOTS:
        arguments.append(f"hydra.launcher.{SLOTS[launcher]}={jobs}")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.run", *arguments], cwd=ROOT, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def files(store: Path) -> dict[str, str]:
    """sha256 of every result file of every stage, by its place; times left out."""
    found = {}
    for manifest in sorted(store.glob("stages/*/*/manifest.json")):
        artifact = open_artifact(manifest.parent)
        for name, facts in artifact.manifest["files"].items():
            if name != TIMED:
                found[f"{manifest.parent.relative_to(store)}/{name}"] = facts["sha256"]
    return found


def statuses(store: Path) -> dict[str, str]:
    """How every cell ended."""
    return {
        path.parent.name: json.loads(path.read_text())["status"] for path in sorted(store.glob("cells/*/*/*/cell.json"))
    }
