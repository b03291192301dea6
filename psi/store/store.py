"""The store: stages whose outputs are found again by the digest of everything that determines them.

A stage's output is a folder `<root>/stages/<name>/<digest>`. It is built under `<digest>.partial` and renamed when
whole, with a `manifest.json` inside; a folder without the suffix is therefore complete.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, LeaseCompromise, SoftFileLease, Timeout

from psi.errors import StoreError
from psi.store.digest import digest, file_digest
from psi.store.manifest import environment
from psi.store.memory import Memory, Peaks
from psi.store.paths import safe_name

log = logging.getLogger(__name__)
Locking = Literal["system", "lease"]
SCHEMA = 1
MANIFEST = "manifest.json"
LEASE = 60.0  # seconds
HASHED = 2**28  # bytes: larger files are compared by their size alone, so that they open in no time
_DISK_TROUBLE = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
}


@dataclass(frozen=True)
class Stage:
    """A pure function of its settings and inputs, by name.

    `version` is raised when the stage's code changes what it writes. `config` is the part of the configuration that
    matters to it; `inputs` are digests of what it reads.
    """

    name: str
    version: int
    config: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """sha256 of name, version, settings and inputs."""
        return digest({
            "stage": self.name, "version": self.version, "config": dict(self.config), "inputs": dict(self.inputs),
        })  # fmt: skip


@dataclass(frozen=True)
class Artifact:
    """A finished stage output: its folder, its digest, its manifest; `made` tells whether it was made just now."""

    path: Path
    digest: str
    manifest: Mapping[str, Any]
    made: bool = False

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the stage reported about itself: counts, tokens."""
        return self.manifest["facts"]  # type: ignore[no-any-return]

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes at the most: `main` of the process, `gpu` of its tensors there. Empty where it was not recorded."""
        return self.manifest.get("memory", {})  # type: ignore[no-any-return]

    @property
    def seconds(self) -> float:
        """Wall time of the making, in seconds (of the last attempt, where `facts` says that it was resumed)."""
        return float(self.manifest["seconds"])


class Store:
    """A folder of artefacts.

    Args:
        root: where artefacts live; created on first use.
        locks: `system`: the file system's own locks, which end with the process that holds them, however it ends.
            `lease`: files that their holder keeps fresh and that others take over after LEASE seconds of silence, for
            shared file systems on which locks do not reach other machines.
    """

    def __init__(self, root: str | os.PathLike[str], *, locks: Locking = "system"):
        self.root, self._locks = Path(root), locks
        self._recordings: list[list[Artifact]] = []
        self._peaks = Peaks()

    @classmethod
    @contextlib.contextmanager
    def temporary(cls) -> Iterator[Store]:
        """A store that is gone afterwards, for use of retrievers as a library."""
        with tempfile.TemporaryDirectory(prefix="psi-") as folder:
            yield cls(folder)

    def path(self, stage: Stage) -> Path:
        """Where the stage's output is, or would be."""
        return self.root / "stages" / safe_name(stage.name) / stage.digest[:16]

    def find(self, stage: Stage) -> Artifact | None:
        """The stage's finished output, or None.

        Raises:
            StoreError: the folder is there but damaged, or belongs to another stage.
        """
        path = self.path(stage)
        try:
            there = path.exists()
        except OSError as error:
            raise _unreadable(path, error) from error
        return _open(path, stage) if there else None

    def obtain(
        self, stage: Stage, make: Callable[[Path], Mapping[str, Any] | None], *, resumable: bool = False
    ) -> Artifact:
        """The stage's output: found, or made by `make(folder)` and kept.

        Only one process makes it; others that ask meanwhile wait and then find it. `make` may return facts for the
        manifest. With `resumable`, `make` gets the folder that a killed or failed attempt left. Files that end in
        `.log` are there for that alone: they go when the output is whole.

        Raises:
            StoreError: the folder can't be written, or holds a damaged output.
        """
        artifact = self.find(stage)
        if artifact is None:
            with self.lock(f"{stage.name}-{stage.digest[:16]}", wait=True):
                artifact = self.find(stage) or self._make(stage, make, resumable)
        for recording in self._recordings:
            recording.append(artifact)
        return artifact

    @contextlib.contextmanager
    def recording(self) -> Iterator[list[Artifact]]:
        """Collect every artefact that is obtained inside the block: what a piece of work depends on."""
        artifacts: list[Artifact] = []
        self._recordings.append(artifacts)
        try:
            yield artifacts
        finally:
            self._recordings.pop()

    @contextlib.contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Obtain inside the block what no recording is to count: work that is done once for all corpora."""
        recordings, self._recordings = self._recordings, []
        try:
            yield
        finally:
            self._recordings = recordings

    @contextlib.contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[None]:
        """Hold a named lock. It is freed when the process ends, however it ends.

        Raises:
            StoreError: it is held by another process and `wait` is false (the message names the process).
        """
        path = self.root / "locks" / f"{safe_name(name)}.lock"
        with writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        owner = path.with_suffix(".owner")
        lock = FileLock(path) if self._locks == "system" else _lease(path.with_suffix(".lease"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            holder = owner.read_text() if owner.exists() else "another process"
            if not wait:
                raise StoreError(
                    f"{name} is being run by {holder}. Wait for it, or stop it; its work will be continued."
                ) from None
            log.info("waiting for %s, which is being made by %s", name, holder)
            lock.acquire()
        try:
            owner.write_text(f"process {os.getpid()} on {os.uname().nodename}")
            yield
        finally:
            lock.release()

    def _make(self, stage: Stage, make: Callable[[Path], Mapping[str, Any] | None], resumable: bool) -> Artifact:
        final = self.path(stage)
        work = final.with_name(final.name + ".partial")
        with writing(work):
            if not (work / MANIFEST).exists():  # it does where a process was killed just before renaming
                _fill(work, stage, make, resumable, self._peaks)
            for path in _logs(work):
                path.unlink()
            work.replace(final)
        artifact = replace(_open(final, stage), made=True)
        log.info("made %s in %.1f s", stage.name, artifact.seconds)
        return artifact


def _lease(path: Path) -> SoftFileLease:
    def lost(compromise: LeaseCompromise) -> None:
        log.error(
            "the lease %s was lost (%s): another process may be at the same work, so this one stops", path, compromise
        )
        _thread.interrupt_main()

    return SoftFileLease(path, lease_duration=LEASE, on_compromise=lost)


def _fill(
    work: Path, stage: Stage, make: Callable[[Path], Mapping[str, Any] | None], resumable: bool, peaks: Peaks
) -> None:
    """Make the output; the manifest comes last, at once and whole."""
    if not resumable:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    resumed, start = any(work.iterdir()), time.perf_counter()
    with peaks.watching() as memory:
        facts = dict(make(work) or {}, resumed=resumed)
    manifest = _manifest(stage, work, facts, time.perf_counter() - start, memory)
    temporary = work / f"{MANIFEST}.log"
    temporary.write_text(json.dumps(manifest, indent=1, sort_keys=True), encoding="utf-8")
    temporary.replace(work / MANIFEST)


def _logs(work: Path) -> list[Path]:
    """Files from which a killed process goes on; they are no part of the output."""
    return [path for path in work.rglob("*.log") if path.is_file()]


def _manifest(stage: Stage, work: Path, facts: Mapping[str, Any], seconds: float, memory: Memory) -> dict[str, Any]:
    left_out = _logs(work)
    files = {
        path.relative_to(work).as_posix(): {"bytes": path.stat().st_size, "sha256": file_digest(path)}
        for path in sorted(work.rglob("*"))
        if path.is_file() and path not in left_out
    }
    return {
        "schema": SCHEMA, "stage": stage.name, "version": stage.version, "digest": stage.digest,
        "config": dict(stage.config), "inputs": dict(stage.inputs), "files": files, "facts": dict(facts),
        "seconds": round(seconds, 3), "memory": asdict(memory),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"), **environment(),
    }  # fmt: skip


def open_artifact(path: Path) -> Artifact:
    """The finished stage output in a folder.

    Raises:
        StoreError: it is incomplete, or its files are not those that were written.
    """
    remedy = f"Delete the folder {path} and start again: the stage will be made anew."
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        if manifest["schema"] != SCHEMA:
            raise StoreError(f"{path} has the schema {manifest['schema']}, not {SCHEMA}. {remedy}")
        for name, facts in manifest["files"].items():
            _check_file(path / name, facts, remedy)
        return Artifact(path, manifest["digest"], manifest)
    except PermissionError as error:
        raise _unreadable(path, error) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path} is incomplete or altered ({error}). {remedy}") from error


def _unreadable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"cannot read {path}: {error.strerror}. Check its permissions, or choose another store.")


def _check_file(path: Path, facts: Mapping[str, Any], remedy: str) -> None:
    size = path.stat().st_size
    if size != facts["bytes"]:
        raise StoreError(f"{path} has {size} bytes, not {facts['bytes']} as written. {remedy}")
    if size <= HASHED and file_digest(path) != facts["sha256"]:
        raise StoreError(f"{path} has been altered since it was written. {remedy}")


def _open(path: Path, stage: Stage) -> Artifact:
    artifact = open_artifact(path)
    if artifact.digest != stage.digest:
        raise StoreError(f"{path} holds another stage than asked for. Delete the folder {path} and start again.")
    return artifact


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what to do where the disk can't be written to.

    Raises:
        StoreError: in place of the system's error.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_TROUBLE:  # not about the store: a model that is not there, say
            raise
        raise StoreError(
            f"cannot write {error.filename or path}: {error.strerror}. "
            "Free the disk or choose another folder with store=PATH; finished work is kept."
        ) from error
