"""Stored trees come back as they were, or not at all."""

import json
import pickle

import numpy as np
import pytest

from psi.errors import InputError, StoreError
from psi.tree import beam_search, build_tree, load_tree, mean_vectors, save_tree
from tests.tree.corpora import corpus


@pytest.fixture
def stored(tmp_path):
    rows = corpus("clusters", 60, 8, 0)
    tree = build_tree(rows, max_children=5)
    return save_tree(tmp_path / "tree", tree, mean_vectors(tree, rows))


def test_round_trip(stored):
    rows = corpus("clusters", 60, 8, 0)
    tree = build_tree(rows, max_children=5)
    again, vectors = load_tree(stored)
    assert again.digest() == tree.digest()
    assert isinstance(again.parents, np.memmap)
    assert isinstance(vectors, np.memmap)
    for name in ("parents", "heights", "child_offsets", "child_ids"):
        np.testing.assert_array_equal(getattr(again, name), getattr(tree, name))
    for got, right in zip(
        beam_search(again, vectors, rows, normalised=True),
        beam_search(tree, mean_vectors(tree, rows), rows),
        strict=True,
    ):
        np.testing.assert_array_equal(got, right)


def test_without_vectors_and_one_leaf(tmp_path):
    tree = build_tree([[1.0]])
    assert load_tree(save_tree(tmp_path / "one", tree)).vectors is None
    assert load_tree(tmp_path / "one").tree.digest() == tree.digest()


@pytest.mark.parametrize("name", ["parents", "heights", "child_offsets", "child_ids", "vectors"])
def test_truncated_altered_missing(stored, name):
    path = stored / f"{name}.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(StoreError, match="truncated"):
        load_tree(stored)
    path.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
    with pytest.raises(StoreError, match="altered"):
        load_tree(stored)
    path.unlink()
    with pytest.raises(StoreError, match="missing"):
        load_tree(stored)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 2"),
        ({"schema": "other"}, "something else"),
        ({"arrays": None}, "list of arrays"),
        ({"arrays": {}}, "no array"),
        ({"digest": "0"}, "another tree"),
        ({"arrays": {"secrets": {}}}, "unknown array"),
        ({"arrays": {"parents": {"bytes": 3}}}, "lacks"),
    ],
)
def test_foreign_manifests(stored, change, message):
    manifest = json.loads((stored / "tree.json").read_text())
    (stored / "tree.json").write_text(json.dumps({**manifest, **change}))
    with pytest.raises(StoreError, match=message):
        load_tree(stored)


def test_other_files_are_refused(tmp_path, stored):
    pickled = tmp_path / "index.pkl"
    pickled.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(StoreError, match="is a file"):
        load_tree(pickled)
    with pytest.raises(StoreError, match="does not exist"):
        load_tree(tmp_path / "nowhere")
    (stored / "tree.json").write_text("{")
    with pytest.raises(StoreError, match="not valid JSON"):
        load_tree(stored)
    (stored / "tree.json").unlink()
    with pytest.raises(StoreError, match=r"no tree\.json"):
        load_tree(stored)


def test_nothing_is_overwritten(stored):
    tree = build_tree([[1.0]])
    with pytest.raises(StoreError, match="exists already"):
        save_tree(stored, tree)
    with pytest.raises(InputError, match="one a node"):
        save_tree(stored.parent / "other", tree, np.ones((3, 2)))
    assert not (stored.parent / "other").exists()


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(StoreError, match="No space left"):
        save_tree(tmp_path / "tree", build_tree([[1.0]]))
    assert list(tmp_path.iterdir()) == []
