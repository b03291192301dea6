"""Approximate builders: valid trees, reproducible, near the exact one; Ray gives what threads give."""

import numpy as np
import pytest

from psi.errors import InputError, StoreError
from psi.tree import Approximate, agreement, build_tree, build_tree_with_report, spanning_edges, unit_rows
from psi.tree.buckets import split_into_buckets
from psi.tree.oracle import all_pair_weights
from psi.tree.remote import shard_tree, write_shards
from tests.tree.corpora import KINDS, corpus

BUILDERS = ["hnsw", "buckets", "buckets+hnsw"]
SMALL_BUCKETS = Approximate(bucket_size=40, neighbours=4)


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_valid_and_reproducible(builder, kind):
    for n in (1, 2, 9, 200):
        rows = corpus(kind, n, 12, 0)
        tree = build_tree(rows, builder=builder, approximate=SMALL_BUCKETS, max_children=6)
        tree.check(6)
        again = build_tree(rows, builder=builder, approximate=SMALL_BUCKETS, max_children=6, threads=1)
        assert again.digest() == tree.digest()


@pytest.mark.parametrize("builder", BUILDERS)
def test_near_the_exact_tree(builder):
    rows = corpus("clusters", 1500, 24, 0)
    exact, report = build_tree_with_report(rows, rebalance="none")
    tree, made = build_tree_with_report(
        rows, builder=builder, rebalance="none", approximate=Approximate(bucket_size=400)
    )
    equal, cost = agreement(tree, made.edges, exact, report.edges, rows)
    assert equal > (0.95 if builder == "hnsw" else 0.5)
    assert 0.5 < cost < 1.2
    assert agreement(exact, report.edges, exact, report.edges, rows) == (1.0, 1.0)


def test_leftover_components_are_joined_by_their_best_pairs():
    """Far clusters larger than the neighbour lists: the graph falls apart, the joins must still be exact."""
    rows = np.concatenate(
        [corpus("gaussian", 60, 6, seed) * 0.05 + np.eye(6, dtype=np.float32)[seed] for seed in range(5)]
    )
    exact = spanning_edges(rows)
    ours = spanning_edges(rows, builder="hnsw", approximate=Approximate(neighbours=4, ef_search=200))
    weights = all_pair_weights(rows)
    home = np.arange(300) // 60
    between = home[exact.u] != home[exact.v]
    assert between.sum() == 4
    mine = home[ours.u] != home[ours.v]
    assert set(zip(ours.u[mine], ours.v[mine], strict=True)) == set(
        zip(exact.u[between], exact.v[between], strict=True)
    )
    np.testing.assert_array_equal(ours.weight, weights[ours.u, ours.v])


def test_buckets_are_bounded_and_cover_everything():
    rows = unit_rows(corpus("near copies", 500, 8, 0))
    buckets = split_into_buckets(rows, Approximate(bucket_size=30))
    assert max(map(len, buckets)) <= 30
    assert sorted(np.concatenate(buckets).tolist()) == list(range(500))
    same = split_into_buckets(np.ones((100, 4), np.float32), Approximate(bucket_size=30))
    assert max(map(len, same)) <= 30


def test_one_bucket_is_the_exact_tree():
    rows = corpus("copies", 200, 8, 0)
    one = build_tree(rows, builder="buckets", approximate=Approximate(bucket_size=1000))
    assert one.digest() == build_tree(rows).digest()


def test_shards(tmp_path):
    rows = unit_rows(corpus("clusters", 120, 8, 0))
    buckets = split_into_buckets(rows, Approximate(bucket_size=50))
    paths = write_shards(rows, buckets, tmp_path / "shards")
    for path, ids in zip(paths, buckets, strict=True):
        for got, right in zip(shard_tree(str(path), "buckets", Approximate()), spanning_edges(rows[ids]), strict=True):
            np.testing.assert_array_equal(got, right)
    with pytest.raises(StoreError, match="not empty"):
        write_shards(rows, buckets, tmp_path / "shards")


def test_ray_gives_what_threads_give(tmp_path):
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    rows = corpus("clusters", 300, 8, 0)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        remote = Approximate(bucket_size=80, pool="ray", shards=tmp_path / "shards")
        over_ray = build_tree(rows, builder="buckets", approximate=remote)
    finally:
        ray.shutdown()
    assert over_ray.digest() == build_tree(rows, builder="buckets", approximate=Approximate(bucket_size=80)).digest()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bucket_size": 1}, "bucket_size=1"),
        ({"neighbours": 0}, "neighbours=0"),
        ({"pool": "dask"}, "'ray'"),
        ({"pool": "ray"}, "shards"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        Approximate(**settings)
