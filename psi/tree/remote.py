"""Bucket trees as Ray tasks over shards on disk, for corpora that one machine does not hold."""

from pathlib import Path

import numpy as np

from psi.errors import InputError, StoreError
from psi.tree.approximate import Approximate
from psi.tree.buckets import bucket_spanning_tree
from psi.tree.edges import Edges
from psi.tree.weights import Floats, Ids


def write_shards(rows: Floats, buckets: list[Ids], folder: Path) -> list[Path]:
    """One `.npy` file of rows for each bucket. Raises StoreError if the folder is not writable or not empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StoreError(f"{folder}: not empty; shards need a folder of their own, so choose another or clear it")
        paths = [folder / f"bucket-{number:06d}.npy" for number in range(len(buckets))]
        for path, ids in zip(paths, buckets, strict=True):
            np.save(path, rows[ids], allow_pickle=False)
    except OSError as error:
        raise StoreError(
            f"{folder}: shards cannot be written ({error.strerror}); free space or choose another"
        ) from error
    return paths


def shard_tree(path: str, builder: str, settings: Approximate) -> tuple[Ids, Ids, Floats]:
    """The spanning tree of one shard's rows, on one thread; arrays only, so that any pool can carry it."""
    rows = np.load(path, allow_pickle=False)
    tree = bucket_spanning_tree(rows, builder, settings)
    return tree.u, tree.v, tree.weight


def trees_by_ray(rows: Floats, buckets: list[Ids], builder: str, settings: Approximate) -> list[Edges]:
    """The spanning tree of each bucket, the same as locally, made by Ray tasks that read their shard from disk.

    Uses the running Ray session, or starts one on this machine and stops it at the end. Raises InputError if Ray is not
    installed.
    """
    try:
        import ray
    except ImportError as error:
        raise InputError("pool='ray' needs Ray: pip install 'psi-bench[ray]', or use pool='threads'") from error
    assert settings.shards is not None
    paths = write_shards(rows, buckets, settings.shards)
    own = not ray.is_initialized()
    if own:
        ray.init(include_dashboard=False, log_to_driver=False)
    try:
        task = ray.remote(num_cpus=1)(shard_tree)
        results = ray.get([task.remote(str(path), builder, settings) for path in paths])
        return [Edges(*arrays) for arrays in results]
    finally:
        if own:
            ray.shutdown()
