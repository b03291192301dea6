"""A stored tree: one directory of flat arrays that open by memory-map, and a manifest with their checksums.

    tree.json      schema, version, numbers of leaves and nodes, digest of the tree, and of each array: dtype, shape, bytes,
                   BLAKE2b checksum
    parents.npy    heights.npy    child_offsets.npy    child_ids.npy    [vectors.npy]

Arrays are NumPy's own `.npy` format, read with pickling refused.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from psi.errors import InputError, StoreError
from psi.tree.tree import Tree
from psi.tree.vectors import checked_rows
from psi.tree.weights import Floats

SCHEMA = "psi-tree"
VERSION = 1
MANIFEST = "tree.json"
STRUCTURE = {"parents": "<i8", "heights": "<i8", "child_offsets": "<i8", "child_ids": "<i8"}
VECTORS = "vectors"


class StoredTree(NamedTuple):
    """A tree on disk: its arrays and, if stored, one vector a node (n_nodes, d) are read-only memory-maps."""

    tree: Tree
    vectors: Floats | None


def save_tree(directory: str | os.PathLike[str], tree: Tree, node_vectors: npt.ArrayLike | None = None) -> Path:
    """Write the tree, and the vectors (n_nodes, d) if given, to a new directory; whole or not at all.

    Everything is written under a temporary name beside it and renamed at the end. Raises StoreError if the directory holds
    something already or cannot be written, InputError if there is not one vector a node.
    """
    target = Path(directory)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(f"{target}: exists already; choose another directory or remove it first")
    arrays: dict[str, npt.NDArray[np.generic]] = {
        name: getattr(tree, name).astype(kind) for name, kind in STRUCTURE.items()
    }
    if node_vectors is not None:
        arrays[VECTORS] = checked_rows(node_vectors, what="node_vectors").astype("<f4", copy=False)
        if len(arrays[VECTORS]) != tree.n_nodes:
            raise InputError(f"node_vectors: expected {tree.n_nodes} rows (one a node), got {len(arrays[VECTORS])}")
    part = target.with_name(f"{target.name}.part-{os.getpid()}")
    try:
        part.mkdir(parents=True)
        _write(part, tree, arrays)
        part.replace(target)  # replaces an empty directory, refuses any other
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StoreError(
            f"{target}: cannot be written ({error.strerror}); free space or choose another directory"
        ) from error
    return target


def _write(directory: Path, tree: Tree, arrays: dict[str, npt.NDArray[np.generic]]) -> None:
    entries = {}
    for name, array in arrays.items():
        path = directory / f"{name}.npy"
        np.save(path, array, allow_pickle=False)
        entries[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "bytes": path.stat().st_size,
            "blake2b": _checksum(path),
        }
    manifest = {
        "schema": SCHEMA,
        "version": VERSION,
        "n_leaves": tree.n_leaves,
        "n_nodes": tree.n_nodes,
        "digest": tree.digest(),
        "arrays": entries,
    }
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def load_tree(directory: str | os.PathLike[str], *, verify: bool = True) -> StoredTree:
    """Open a stored tree by memory-map.

    `verify` reads every file once to compare checksums and checks the tree's invariants; without it only the manifest, sizes,
    types and shapes are compared. Raises StoreError for a file that is missing, truncated, altered, of another version or
    not of this kind (pickles among them: they are never opened).
    """
    home = Path(directory)
    manifest = _manifest(home)
    arrays = {name: _opened(home, name, entry, verify) for name, entry in manifest["arrays"].items()}
    missing = set(STRUCTURE) - set(arrays)
    if missing:
        raise StoreError(f"{home / MANIFEST}: names no array {sorted(missing)[0]!r}; build and save the tree again")
    tree = Tree(int(manifest["n_leaves"]), *(arrays[name] for name in STRUCTURE))
    if verify:
        _check(home, tree, manifest)
    return StoredTree(tree, arrays.get(VECTORS))


def _check(home: Path, tree: Tree, manifest: dict[str, Any]) -> None:
    try:
        tree.check()
    except InputError as error:
        raise StoreError(f"{home}: not a valid tree ({error}); build and save it again") from error
    if tree.digest() != manifest["digest"]:
        raise StoreError(f"{home / MANIFEST}: its digest is of another tree; build and save the tree again")


def _manifest(home: Path) -> dict[str, Any]:
    path = home / MANIFEST
    if not home.is_dir():
        kind = "is a file, maybe an index of another program" if home.exists() else "does not exist"
        raise StoreError(f"{home}: {kind}; expected a directory written by save_tree; build the tree again")
    if not path.is_file():
        raise StoreError(
            f"{home}: has no {MANIFEST}, so it is not a stored tree or was not finished; build the tree again"
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(f"{path}: not valid JSON ({error}); build and save the tree again") from error
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise StoreError(f"{path}: expected schema {SCHEMA!r}; this directory was written by something else")
    if manifest.get("version") != VERSION:
        raise StoreError(
            f"{path}: version {manifest.get('version')!r}, this program reads {VERSION}; build the tree again"
        )
    if not isinstance(manifest.get("arrays"), dict) or not isinstance(manifest.get("n_leaves"), int):
        raise StoreError(f"{path}: lacks its list of arrays; build and save the tree again")
    return manifest


def _opened(home: Path, name: str, entry: dict[str, Any], verify: bool) -> npt.NDArray[Any]:
    if name not in STRUCTURE and name != VECTORS:
        raise StoreError(f"{home / MANIFEST}: names an unknown array {name!r}; it was written by another program")
    if not isinstance(entry, dict) or not {"bytes", "blake2b", "dtype", "shape"} <= set(entry):
        raise StoreError(f"{home / MANIFEST}: lacks facts about {name!r}; build and save the tree again")
    path = home / f"{name}.npy"
    if not path.is_file():
        raise StoreError(f"{path}: missing; build and save the tree again")
    if path.stat().st_size != entry["bytes"]:
        raise StoreError(
            f"{path}: {path.stat().st_size} bytes, expected {entry['bytes']}: truncated or replaced; save it again"
        )
    if verify and _checksum(path) != entry["blake2b"]:
        raise StoreError(f"{path}: its checksum does not match, so it was altered; build and save the tree again")
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise StoreError(f"{path}: not a NumPy array file ({error}); build and save the tree again") from error
    if array.dtype.str != entry["dtype"] or list(array.shape) != entry["shape"]:
        raise StoreError(
            f"{path}: {array.dtype.str} {array.shape} differs from the manifest; build and save the tree again"
        )
    return array


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
