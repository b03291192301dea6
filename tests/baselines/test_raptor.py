"""RAPTOR: what is clustered, what breaks elsewhere, and what stands for what in a ranking."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from baselines.leaf_scores import best_leaves, over_ancestors
from baselines.raptor import (
    Clustering,
    CollapsedTree,
    GaussianMixtures,
    KMeans,
    Layers,
    Raptor,
    RaptorIndexer,
    TreeTraversal,
    load_raptor,
)
from baselines.raptor import clusters as clusters_module
from baselines.raptor.partition import Fit, least_bic, spherical_bic
from psi.component import Component
from psi.errors import InputError, ModelError
from psi.index.abstracts import ExtractiveAbstracts, MeanAbstracts
from psi.index.text_abstracts import SummaryAbstracts, UnfinishedAbstractsError
from psi.retrieval.dense import Dense
from psi.store import Store
from tests.index.test_text_abstracts import ScriptedChat
from tests.toys import WordEmbedder, corpus

TOPICS = ["river bank water", "stone wall castle", "violin concert opera", "goal match league", "bread oven flour"]


def texts(n):
    return [f"{TOPICS[i % 5]} {TOPICS[i % 5]} about{i % 9} item{i}" for i in range(n)]


def raptor(abstracts=None, search=None, **clustering):
    index = RaptorIndexer(
        embedder=WordEmbedder(), abstracts=abstracts or MeanAbstracts(), clustering=Clustering(**clustering)
    )
    return Raptor(index=index, search=search or CollapsedTree())


def stages(store, name):
    return sorted((store.root / "stages" / name).iterdir())


def facts(folder):
    return json.loads((folder / "manifest.json").read_text())["facts"]


def contents(root):
    """Bytes of every file of RAPTOR's stages, manifests aside: they hold times."""
    paths = sorted(path for path in root.glob("stages/raptor*/*/*") if path.name != "manifest.json")
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Sixty passages with UMAP and mixtures: a store, and the opened index."""
    store = Store(tmp_path_factory.mktemp("built"))
    return store, raptor().index.build(corpus(*texts(60)), store)


@pytest.fixture
def first_coordinates(monkeypatch):
    """The first dimensions in the place of UMAP's, where clusters themselves are the point."""
    monkeypatch.setattr(clusters_module, "reduced", lambda vectors, neighbours, dimensions, seed: vectors[:, :2])


@pytest.fixture
def no_umap(monkeypatch):
    monkeypatch.setattr(clusters_module, "reduced", lambda *_: pytest.fail("UMAP was asked"))


@pytest.mark.parametrize("search", [CollapsedTree(), TreeTraversal()])
@pytest.mark.parametrize("n", range(1, 11))
def test_up_to_ten_passages_are_searched_without_clusters(n, search, store, no_umap):
    ranking = raptor(search=search).build(corpus(*texts(n)), store).search(["stone castle"], 10)[0]
    assert sorted(ranking.ids) == sorted(f"p{i}" for i in range(n))
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


def test_five_hundred_identical_texts_have_no_clusters_and_stand_by_id(store, no_umap):
    index = raptor().build(corpus(*["one text"] * 500), store)
    assert index.search(["one"], 4)[0].ids == ("p0", "p1", "p10", "p100")
    assert load_raptor(stages(store, "raptor")[0]).layers.layer_sizes() == (500,)


def test_twelve_to_fourteen_passages_build(store):
    for n in (12, 13, 14):
        ranking = raptor().build(corpus(*texts(n)), store).search(["castle"], 20)[0]
        assert len(set(ranking.ids)) == n


def test_topics_become_clusters_and_every_node_has_a_parent(built):
    _, index = built
    layers = index.layers
    assert layers.layer_sizes()[0] == 60 and len(layers.layer_sizes()) > 1
    assert all(len(layers.parents(node)) for layer in layers.layers()[:-1] for node in layer)
    assert index.vectors.shape == (layers.n_nodes, 64)
    ids = corpus(*texts(60)).ids
    for node in layers.layers()[1]:
        assert len({int(ids[leaf][1:]) % 5 for leaf in layers.leaves_under(int(node))}) == 1


def test_the_same_seed_gives_the_same_bytes_in_another_process_with_other_threads(built, tmp_path):
    script = (
        f"from tests.baselines.test_raptor import *\nraptor().index.build(corpus(*texts(60)), Store({str(tmp_path)!r}))"
    )
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "2")
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, **threads}, cwd=Path.cwd())
    assert contents(tmp_path) == contents(built[0].root)


def test_another_seed_is_another_index(built, store):
    raptor(seed=1).index.build(corpus(*texts(60)), store)
    assert contents(store.root).keys() != contents(built[0].root).keys()


def test_equal_vectors_share_all_their_clusters(built, store):
    twice = [text for text in texts(60) for _ in range(2)]
    layers = raptor().index.build(corpus(*twice), store).layers
    position = {f"p{i}": place for place, i in enumerate(sorted(range(120), key=lambda i: f"p{i}"))}
    for i in range(0, 120, 2):
        first, second = position[f"p{i}"], position[f"p{i + 1}"]
        np.testing.assert_array_equal(layers.parents(first), layers.parents(second))


@dataclass(frozen=True, kw_only=True)
class AllButOne(Component):
    """The worst of overlapping groups: each leaves one point out."""

    def groups(self, points, seed):
        return [np.delete(np.arange(len(points)), place) for place in range(3)]


@dataclass(frozen=True, kw_only=True)
class Together(Component):
    def groups(self, points, seed):
        return [np.arange(len(points))]


@dataclass(frozen=True, kw_only=True)
class Halves(Component):
    def groups(self, points, seed):
        order = np.argsort(points[:, 0], kind="stable")
        return [np.sort(part) for part in np.array_split(order, 2)]


def line(n):
    angle = np.linspace(0.1, 1.4, n)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


@pytest.mark.parametrize("partition", [AllButOne(), Together()])
def test_clustering_again_ends_where_it_makes_nothing_smaller(partition, first_coordinates):
    found = Clustering(partition=partition, most_tokens=1).clusters(line(40), np.full(40, 100))
    assert found.too_long == len(found.members) < 40


def test_no_layer_is_made_that_has_as_many_nodes_as_the_one_below(first_coordinates):
    @dataclass(frozen=True, kw_only=True)
    class Pairs(Component):
        def groups(self, points, seed):
            return [np.array([i, (i + 1) % len(points)]) for i in range(len(points))]

    assert Clustering(partition=Pairs()).clusters(line(20), None).members == []


def test_clusters_of_long_texts_are_divided_and_short_ones_are_not(first_coordinates):
    clustering = Clustering(partition=Halves(), most_tokens=1000, dimensions=2)
    long, short = (clustering.clusters(line(64), np.full(64, size)) for size in (100, 1))
    assert len(short.members) == 4  # halves of halves
    assert long.too_long == 0 and max(100 * len(each) for each in long.members) <= 1000
    without_text = clustering.clusters(line(64), None)
    assert [each.tolist() for each in without_text.members] == [each.tolist() for each in short.members]


def test_the_rounds_bound_how_often_a_cluster_is_divided(first_coordinates):
    clustering = Clustering(partition=Halves(), most_tokens=1, dimensions=2, rounds=0)
    found = clustering.clusters(line(64), np.full(64, 100))
    assert len(found.members) == found.too_long == 4


def test_a_point_between_two_gaussians_is_in_both_and_every_point_is_in_one():
    random = np.random.default_rng(0)
    blobs = np.concatenate([random.normal(centre, 1.0, (200, 2)) for centre in (-4, 4)])
    points = np.concatenate([blobs, [[0.0, 0.0]]])
    groups = GaussianMixtures(most=4).groups(points, 0)
    assert len(groups) == 2
    assert all(400 in group for group in groups)
    assert set(np.concatenate(groups).tolist()) == set(range(401))
    strict = GaussianMixtures(most=4, threshold=0.999).groups(points, 0)
    assert sum(400 in group for group in strict) == 1


@pytest.mark.parametrize("partition", [GaussianMixtures(most=12), KMeans(most=12)])
def test_as_many_groups_as_there_are_blobs_with_both_searches(partition):
    random = np.random.default_rng(1)
    points = np.concatenate([random.normal(5 * random.normal(size=3), 0.3, (60, 3)) for _ in range(6)])
    groups = partition.groups(points, 0)
    assert sorted(map(len, groups)) == [60] * 6
    every = type(partition)(most=12, counts="all").groups(points, 0)
    assert [group.tolist() for group in every] == [group.tolist() for group in groups]


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_coarse_search_finds_the_least_of_a_falling_and_rising_criterion(most, least):
    tried = []

    def fit(count):
        tried.append(count)
        return Fit(float((count - least) ** 2), count)

    assert least_bic(fit, most, "coarse").model == least_bic(fit, most, "all").model == min(most, least)
    assert max(tried) <= most


def test_the_spherical_criterion_is_the_likelihood_written_out():
    random = np.random.default_rng(2)
    points, labels = random.normal(size=(30, 3)), np.repeat([0, 1, 2], [15, 10, 5])
    means = np.array([points[labels == group].mean(axis=0) for group in range(3)])
    inertia = float(((points - means[labels]) ** 2).sum())
    variance = inertia / (3 * (30 - 3))
    likelihood = sum(
        np.log(np.mean(labels == label)) + multivariate_normal.logpdf(point, means[label], variance * np.eye(3))
        for point, label in zip(points, labels, strict=True)
    )
    parameters = 2 + 3 * 3 + 1
    assert spherical_bic(points, labels, inertia) == pytest.approx(-2 * likelihood + parameters * np.log(30))


def test_another_description_keeps_the_first_clusters(built, store):
    passages = corpus(*texts(60))
    raptor().index.build(passages, store)
    before = {path.name for path in stages(store, "raptor_clusters")}
    raptor(ExtractiveAbstracts()).index.build(passages, store)
    first = [path for path in stages(store, "raptor_clusters") if facts(path)["nodes"] == 60]
    assert len(first) == 1 and first[0].name in before


def test_extractive_abstracts_name_the_topic(built, store):
    index = raptor(ExtractiveAbstracts()).index.build(corpus(*texts(60)), store)
    assert len(index.texts) == index.layers.n_nodes - 60
    ids = corpus(*texts(60)).ids
    for node, text in zip(index.layers.layers()[1], index.texts, strict=False):
        topics = {int(ids[leaf][1:]) % 5 for leaf in index.layers.leaves_under(int(node))}
        assert all(set(TOPICS[topic].split()) & set(text.replace(",", "").split()) for topic in topics)


def test_summaries_are_resumed_counted_and_written_from_the_layer_below(built, store):
    passages = corpus(*texts(60))
    topic = {words.split()[0]: words for words in TOPICS}

    def write(prompt):
        return "about " + " ".join(word for word in topic if word in prompt)

    def breaking(prompt):
        return ModelError("down.", kind="connection") if "violin" in prompt else write(prompt)

    with pytest.raises(UnfinishedAbstractsError, match="connection"):
        raptor(SummaryAbstracts(llm=ScriptedChat(write=breaking))).index.build(passages, store)
    again = ScriptedChat(write=write)
    index = raptor(SummaryAbstracts(llm=again)).index.build(passages, store)
    assert 0 < len(again.asked[0]) < len(index.layers.layers()[1])
    calls = sum(facts(path)["calls"] for path in stages(store, "raptor_abstracts"))
    assert calls == index.layers.n_nodes - 60 == len(index.texts)
    for prompts in list(again.asked.values())[1:]:
        assert all("about " in prompt and "item" not in prompt for prompt in prompts)


def test_texts_beyond_the_models_window_are_cut_and_counted(store):
    long = [f"{text} {'and so on ' * 60}" for text in texts(40)]
    llm = ScriptedChat(write=lambda _: "a summary", limit=400)
    raptor(SummaryAbstracts(llm=llm)).index.build(corpus(*long), store)
    assert sum(facts(path)["nodes_cut"] for path in stages(store, "raptor_abstracts")) > 0


def test_what_is_stored_can_be_read_by_studies(built):
    store, index = built
    stored = load_raptor(stages(store, "raptor")[0])
    for name in ("layer_offsets", "child_offsets", "child_ids"):
        np.testing.assert_array_equal(getattr(stored.layers, name), getattr(index.layers, name))
    assert stored.layers.leaf_sets.shape == (index.layers.n_nodes, 60)


@st.composite
def layered(draw):
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    layers = [
        [np.array(sorted(draw(st.sets(st.integers(0, below - 1), min_size=1)))) for _ in range(size)]
        for below, size in pairwise(sizes)
    ]
    return Layers.of(sizes[0], layers)


def slow_leaves(layers, node):
    children = layers.children(node).tolist()
    return sorted({leaf for child in children for leaf in slow_leaves(layers, child)}) if children else [node]


@given(layered())
def test_layers_know_their_leaves_and_parents(layers):
    for node in range(layers.n_nodes):
        assert layers.leaves_under(node).tolist() == (slow_leaves(layers, node) if node >= layers.n_leaves else [node])
        assert layers.parents(node).tolist() == [n for n in range(layers.n_nodes) if node in layers.children(n)]
        assert all(node in layers.parents(int(child)) for child in layers.children(node))
    assert np.concatenate(layers.layers()).tolist() == list(range(layers.n_nodes))


@given(layered(), st.data())
def test_a_ranking_is_the_walk_over_nodes_that_lists_the_leaves_of_each(layers, data):
    values = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=layers.n_nodes, max_size=layers.n_nodes)
    near, k = np.array(data.draw(values)), data.draw(st.integers(1, 8))
    n, walked = layers.n_leaves, []
    for score in sorted(set(near), reverse=True):  # nodes of one score count as one
        new = {leaf for node in np.flatnonzero(near == score) for leaf in layers.leaves_under(int(node)).tolist()}
        walked += sorted(new - set(walked), key=lambda leaf: (-near[leaf], leaf))
    best = over_ancestors(near[None], n, layers.child_offsets, layers.child_ids)[0]
    order, scores = best_leaves(best, near[:n], k)
    assert order.tolist() == walked[:k]
    for (first, second), (a, b) in zip(pairwise(order), pairwise(scores), strict=True):
        equal = best[first] == best[second] and near[first] == near[second]
        assert a == b if equal else a > b


def test_a_cluster_that_names_what_is_not_there_is_refused():
    with pytest.raises(InputError, match="layer 1"):
        Layers.of(2, [[np.array([0, 2])]])


def test_the_token_limit_ends_a_ranking_and_never_empties_it(built):
    store, _ = built
    passages = corpus(*texts(60))
    whole = raptor(search=CollapsedTree(tokens=None)).build(passages, store).search(["castle"], 60)[0]
    assert len(whole.ids) == 60
    limited = raptor(search=CollapsedTree(tokens=30)).build(passages, store).search(["castle"], 60)[0]
    assert limited.ids == whole.ids[: len(limited.ids)] and 0 < len(limited.ids) < 5
    assert len(raptor(search=CollapsedTree(tokens=1)).build(passages, store).search(["castle"], 60)[0].ids) == 1


def test_a_traversal_that_keeps_everything_is_dense_retrieval(built):
    store, _ = built
    passages, questions = corpus(*texts(60)), ["stone castle", "item7 bread", "league opera"]
    wide = raptor(search=TreeTraversal(beam=1000)).build(passages, store).search(questions, 10)
    dense = Dense(embedder=WordEmbedder()).build(passages, store).search(questions, 10)
    for ours, theirs in zip(wide, dense, strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-6)
    narrow = raptor(search=TreeTraversal(beam=1)).build(passages, store).search(questions, 3)
    assert all(len(set(ranking.ids)) == 3 for ranking in narrow)


def test_a_batch_gives_what_single_questions_give(built):
    store, _ = built
    index = raptor().build(corpus(*texts(60)), store)
    questions = ["stone castle", "item7 bread", "league opera"]
    assert index.search(questions, 5) == [index.search([question], 5)[0] for question in questions]
    assert index.search([], 5) == []
