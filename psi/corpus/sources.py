"""Where benchmark files come from (a local folder, then the Hugging Face hub) and how they are read.

Files are UTF-8, with or without a byte order mark, or refused. JSON Lines are split at line feeds alone: a
text may hold U+2028 and its like.
"""

from __future__ import annotations

import hashlib
import json
import logging
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from psi.errors import InputError, MissingFileError

log = logging.getLogger(__name__)
TOO_DEEP = "JSON nested too deeply to be a record"


class Source(NamedTuple):
    """A file's bytes and where they are from."""

    path: Path
    data: bytes

    @property
    def sha256(self) -> str:
        """Digest of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


class Hub(NamedTuple):
    """A dataset repository on the Hugging Face hub."""

    repository: str
    revision: str


def find_files(files: Sequence[str], folder: str | None, hub: Hub | None, key: str = "dataset") -> list[Path]:
    """Paths of `files`: in the local folder if it holds them all, otherwise downloaded from the hub (once).

    `key` is the configuration group that error messages point to.

    Raises:
        MissingFileError: they are in neither place; the message says where they were sought and what to do.
    """
    local = [Path(folder).expanduser() / file for file in files] if folder is not None else []
    missing = [path.name for path in local if not path.is_file()]
    if local and not missing:
        return local
    tried = f"{local[0].parent.resolve()} lacks {', '.join(missing)}" if local else "no folder is set"
    advice = (
        f"Set {key}.folder=/path/to/folder to a folder that holds {' and '.join(files)}, "
        "or the environment variable PSI_DATA to its parent folder"
    )
    if hub is None:
        raise MissingFileError(
            f"benchmark files not found: {tried}; no hub repository is set. {advice}; or set {key}.repository and "
            f"{key}.revision (a commit) to a dataset repository of the Hugging Face hub that holds them."
        )
    try:
        return [_download(hub, file) for file in files]
    except (OSError, ValueError) as error:  # from the hub or the network; a malformed name
        raise MissingFileError(
            f"benchmark files not found: {tried}; the hub dataset repository {hub.repository} at revision "
            f"{hub.revision} did not give {' and '.join(files)} ({_reason(error)}). "
            f"{advice}; or connect to the internet (with HF_HUB_OFFLINE unset); or set {key}.repository and "
            f"{key}.revision to a dataset repository that holds them."
        ) from error


def read(path: Path) -> Source:
    """A file's bytes.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return Source(path, path.read_bytes())
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{path}: cannot be read: {why}. Check the path and its permissions.") from error


def check_digest(source: Source, expected: Mapping[str, str]) -> None:
    """Refuse a file that is not the one pinned under its name.

    Raises:
        InputError: another digest is pinned.
    """
    pinned = expected.get(source.path.name)
    if pinned is not None and pinned != source.sha256:
        raise InputError(
            f"{source.path}: the file has changed: its sha256 is {source.sha256}, the configuration pins "
            f"{pinned}. Get the original file, or take the `sha256` entry out of the dataset's configuration "
            "(on the command line: ~dataset.sha256) to use this one knowingly."
        )


def text_of(source: Source) -> str:
    """The file's text, without a byte order mark.

    Raises:
        InputError: it is not UTF-8; the message names byte and line.
    """
    try:
        return source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # `error.object` lacks a byte order mark that the codec has taken off
        at = error.start + len(source.data) - len(error.object)
        line = source.data.count(b"\n", 0, at) + 1
        raise InputError(
            f"{source.path}, line {line}: not UTF-8 (byte 0x{source.data[at]:02x} at offset {at}). "
            "Convert the file to UTF-8."
        ) from None


def json_list(source: Source) -> list[Any]:
    """The items of a file that holds one JSON list.

    Raises:
        InputError: it is not UTF-8, not JSON or not a list.
    """
    value = _parse(text_of(source), str(source.path), first_line=1)
    if not isinstance(value, list):
        raise InputError(f"{source.path}: expected a JSON list of records, found {type(value).__name__}.")
    return value


def json_lines(source: Source) -> Iterator[tuple[int, Any]]:
    """The values of a JSON Lines file with their line numbers, from 1; blank lines are passed over.

    Raises:
        InputError: it is not UTF-8, or a line is not JSON.
    """
    text = text_of(source)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(" \t\r"):
            yield number, _parse(line, str(source.path), first_line=number)


def invalid(error: ValidationError) -> str:
    """What is wrong with a record: the key, what it should be, what it is."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"])) or "record"
    if first["type"] == "missing":
        return f"{key}: {first['msg']}"
    return f"{key}: {first['msg']}, found {reprlib.repr(first['input'])}"


def _parse(text: str, where: str, first_line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}, line {first_line + error.lineno - 1}, column {error.colno}: not JSON: {error.msg}. "
            "Correct that line."
        ) from None
    except ValueError as error:  # a key twice, or a number of thousands of digits
        line = f", line {first_line}" if "\n" not in text else ""
        raise InputError(f"{where}{line}: {error}. Correct the record.") from None
    except RecursionError:
        raise InputError(f"{where}, line {first_line}: {TOO_DEEP}.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, refused where it gives one key twice: JSON would keep the last value and say nothing."""
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise ValueError(f"the key {repeated!r} stands twice in one object")
    return found


def _download(hub: Hub, file: str) -> Path:
    import huggingface_hub

    log.info("looking for %s in the hub repository %s", file, hub.repository)
    path = huggingface_hub.hf_hub_download(hub.repository, file, repo_type="dataset", revision=hub.revision)
    return Path(path)


def _reason(error: BaseException) -> str:
    while error.__cause__ is not None:  # the first cause says more than the hub's advice about it
        error = error.__cause__
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"
