"""The skew study: mixtures, what nodes hold, searches over layers, and a study that is killed."""

import itertools
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from analysis.studies.builders import KMeansLayers, Psi, RandomLayers
from analysis.studies.corpus import StudyCorpus
from analysis.studies.layered_search import layered_search
from analysis.studies.mixtures import Mixture, pair_mixtures, zipf_mixtures
from analysis.studies.purity import (
    chance,
    class_weights,
    dominant,
    everything,
    memberships,
    node_sizes,
    purity,
    variation,
)
from analysis.studies.skew import Flat, Skew
from analysis.studies.skew_drawings import unfolded
from analysis.studies.skew_points import MATCHED, Measurement, points
from psi.component import Component
from psi.errors import InputError, ModelError
from psi.store import Store
from psi.tree import Layers, beam_search, build_tree, mean_vectors

LABELS = ["art"] * 40 + ["film"] * 30 + ["law"] * 7 + ["sea"] * 40


# --- mixtures


def pairs(ratios: tuple[int, ...] = (1, 2, 5, 20), seeds: tuple[int, ...] = (0, 1, 2), **limits: int) -> Any:
    return pair_mixtures(LABELS, ratios, seeds, **{"major": 40, "least_minor": 2, "may_lack": 1, **limits})


def test_a_mixture_holds_exactly_what_its_ratio_says() -> None:
    for mixture in pairs().mixtures:
        large, small = mixture.sizes
        assert (large, small) == (40, 40 // mixture.ratio)
        assert len(set(mixture.rows.tolist())) == large + small
        assert (np.diff(mixture.rows) > 0).all()
        drawn = Counter(LABELS[row] for row in mixture.rows)
        assert drawn == dict(zip(mixture.categories, mixture.sizes, strict=True))
        assert [mixture.categories[code] for code in mixture.codes] == [LABELS[row] for row in mixture.rows]


def test_the_major_size_gives_way_where_the_ratio_does_not_divide_it() -> None:
    assert {mixture.sizes for mixture in pairs((3, 7)).mixtures} == {(39, 13), (35, 5)}


def test_mixtures_of_one_seed_are_nested() -> None:
    for seed in (0, 1, 2):
        own = [set(mixture.rows.tolist()) for mixture in pairs().mixtures if mixture.seed == seed]
        assert all(smaller < larger for larger, smaller in itertools.pairwise(own))


def test_categories_and_passages_differ_by_seed_and_come_again() -> None:
    first, again = pairs((2,), (0, 1, 2, 3)).mixtures, pairs((2,), (3, 0)).mixtures
    assert len({mixture.categories for mixture in first}) == 4  # the large ones with each other, and with film
    assert np.array_equal(first[3].rows, again[0].rows)
    same = [mixture for mixture in pairs((2,), tuple(range(12))).mixtures if mixture.categories == first[0].categories]
    assert len({tuple(mixture.rows) for mixture in same}) == len(same) > 1


def test_what_lacks_passages_is_left_out_and_listed() -> None:
    plan = pairs((1, 2, 50), seeds=tuple(range(12)))
    made = {(mixture.label, mixture.seed) for mixture in plan.mixtures}
    missing = {(each.label, each.seed): each.reason for each in plan.left_out}
    assert made | missing.keys() == {(label, seed) for label in ("1:1", "2:1", "50:1") for seed in range(12)}
    assert not made & missing.keys()
    assert all(("50:1", seed) in missing for seed in range(12))
    assert "film has 30 of 40 passages" in missing.values()


def test_a_corpus_too_small_for_any_pair_is_refused() -> None:
    with pytest.raises(InputError, match=r"at least 2 of the other.*study\.major"):
        pairs((50,))


def test_zipf_takes_every_category_that_is_large_enough_for_its_rank() -> None:
    plan = zipf_mixtures(LABELS, 1.0, range(8), major=40, least_minor=2)
    for mixture in plan.mixtures:
        assert mixture.sizes == (40, 20, 13)  # the fourth would need 10, and law has 7
        assert "law" not in mixture.categories
        assert Counter(LABELS[row] for row in mixture.rows) == dict(zip(mixture.categories, mixture.sizes, strict=True))
    assert [each.seed for each in plan.left_out] == list(range(8))
    assert all("without law" in each.reason for each in plan.left_out)
    assert len({mixture.categories for mixture in plan.mixtures}) > 1


# --- what nodes hold


def layer_of(*clusters: list[int]) -> Any:
    leaves = max(max(cluster) for cluster in clusters) + 1
    return memberships(Layers.of(leaves, [[np.array(cluster) for cluster in clusters]]))[1]


def test_purity_by_hand() -> None:
    found = purity(layer_of([0, 1, 2], [3, 4, 5]), np.array([0, 0, 1, 1, 1, 0]))
    assert found.minor_lost == pytest.approx(1 / 3)
    assert found.major_lost == pytest.approx(1 / 3)
    assert found.purity == pytest.approx(4 / 6)
    assert found.entropy == pytest.approx(0.9182958340544896)  # of (1/3, 2/3)
    assert found.minor_nodes == 0.5


def test_nobody_dominates_a_tie() -> None:
    found = purity(layer_of([0, 1], [2, 3]), np.array([0, 1, 0, 1]))
    assert (found.minor_lost, found.major_lost, found.minor_nodes) == (0, 0, 0)
    assert (found.purity, found.entropy) == (0.5, 1.0)


def test_a_leaf_of_two_nodes_counts_half_in_each() -> None:
    membership = layer_of([0, 1, 2], [2, 3])
    codes = np.array([0, 0, 1, 1])
    assert class_weights(membership, codes).tolist() == [[2, 0.5], [0, 1.5]]
    assert purity(membership, codes).minor_lost == pytest.approx(0.25)
    assert node_sizes(membership).tolist() == [3, 2]


def test_a_minor_category_among_several_is_lost_to_the_major_one_alone() -> None:
    found = purity(layer_of([0, 1, 2], [3, 4, 5, 6]), np.array([0, 0, 1, 1, 2, 2, 0]))
    assert found.minor_lost == pytest.approx(1 / 4)
    assert found.major_lost == pytest.approx(1 / 3)
    assert found.minor_nodes == 0.5


def test_the_spread_of_true_sizes() -> None:
    assert variation(np.array([100, 10])) == pytest.approx(9 / 11)  # (r - 1) / (r + 1)
    assert variation(np.array([7, 7, 7])) == 0


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[Layers, np.ndarray]:
    leaves = draw(st.integers(3, 12))
    below, layers = leaves, []
    for _ in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, max(1, below)))
        homes = [draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=3, unique=True)) for _ in range(below)]
        clusters = [np.array([at for at, home in enumerate(homes) if node in home], int) for node in range(count)]
        layers.append([cluster for cluster in clusters if len(cluster)])
        below = len(layers[-1])
    codes = draw(
        st.lists(st.integers(0, 2), min_size=leaves, max_size=leaves).filter(lambda c: 0 in c and len(set(c)) > 1)
    )
    return Layers.of(leaves, layers), np.array(codes)


@given(hierarchies())
@settings(max_examples=60, deadline=None)
def test_purity_is_what_counting_node_by_node_gives(case: tuple[Layers, np.ndarray]) -> None:
    hierarchy, codes = case
    for nodes, membership in zip(hierarchy.layers(), memberships(hierarchy), strict=True):
        under = [hierarchy.leaves_under(int(node)).tolist() for node in nodes]
        times = Counter(leaf for leaves in under for leaf in leaves)
        held = [[sum(Fraction(1, times[x]) for x in own if codes[x] == c) for c in range(3)] for own in under]
        major = [node for node in held if node[0] > max(node[1:])]
        minor = [node for node in held if any(node[c] > max(node[:c] + node[c + 1 :]) for c in (1, 2))]
        found = purity(membership, codes)
        assert found.minor_lost == pytest.approx(float(sum(node[1] + node[2] for node in major) / sum(codes > 0)))
        assert found.major_lost == pytest.approx(float(sum(node[0] for node in minor) / sum(codes == 0)))
        assert found.purity == pytest.approx(float(sum(max(node) for node in held) / len(codes)))
        bits = sum(entropy([float(x) for x in node], base=2) * float(sum(node)) for node in held) / len(codes)
        assert found.entropy == pytest.approx(bits, abs=1e-9)
        assert found.minor_nodes == pytest.approx(len(minor) / len(held))


def test_domination_by_weights() -> None:
    assert dominant(np.array([[2.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1 / 3 + 1 / 3, 2 / 3], [0, 0, 1]])).tolist() == [
        0,
        -1,
        -1,
        2,
    ]


def test_chance_is_the_mean_over_all_orders_of_the_categories() -> None:
    membership, codes = layer_of([0, 1, 2], [3, 4]), np.array([0, 0, 0, 1, 1])
    # of the 10 places of two minor leaves: both in the pair 1 (none lost), both in the triple 3, one in each 6 (1 lost, 1 tied)
    assert chance(membership, codes, 4000, 0).minor_lost == pytest.approx((3 * 0 + 6 * 0.5 + 1 * 0) / 10, abs=0.02)
    assert chance(everything(5), codes, 3, 0).entropy == pytest.approx(purity(everything(5), codes).entropy)


# --- search


@given(st.integers(0, 10_000), st.integers(3, 60), st.integers(1, 12), st.integers(1, 70))
@settings(max_examples=40, deadline=None)
def test_search_of_an_abstract_tree_is_its_beam_search(seed: int, leaves: int, beam: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (leaves, 5)).astype(np.float32)  # many ties, and zero vectors
    tree = build_tree(vectors, max_children=8)
    nodes, queries = mean_vectors(tree, vectors), rng.integers(-2, 3, (7, 5)).astype(np.float32)
    ids, scores = layered_search(tree, nodes, queries, beam, k)
    expected_ids, expected_scores = beam_search(tree, nodes, queries, beam=beam, k=k)
    assert np.array_equal(ids, expected_ids)
    assert np.array_equal(scores, expected_scores)


@given(hierarchies(), st.integers(1, 4), st.integers(1, 6), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_search_with_several_parents_question_by_question(
    case: tuple[Layers, np.ndarray], beam: int, k: int, seed: int
) -> None:
    hierarchy, rng = case[0], np.random.default_rng(seed)
    nodes = np.eye(8, dtype=np.float32)[rng.integers(0, 8, hierarchy.n_nodes)]
    queries = np.eye(8, dtype=np.float32)[rng.integers(0, 8, 3)]
    ids, _ = layered_search(hierarchy, nodes, queries, beam, k)
    for query, found in zip(queries, ids.tolist(), strict=True):
        seen = set(hierarchy.layers()[-1].tolist())
        for _ in hierarchy.layers()[1:]:
            kept = sorted(seen, key=lambda node: (-float(nodes[node] @ query), node))[:beam]
            seen = {int(child) for node in kept for child in hierarchy.children(node)}
        best = sorted(seen, key=lambda node: (-float(nodes[node] @ query), node))[:k]
        assert [leaf for leaf in found if leaf >= 0] == best


def test_without_layers_every_leaf_is_looked_at_and_no_question_is_no_error() -> None:
    vectors = np.eye(5, dtype=np.float32)
    flat = Flat().build(vectors, 0)
    assert layered_search(flat, vectors, vectors[3:4], 1, 3)[0].tolist() == [[3, 0, 1]]
    assert layered_search(flat, vectors, vectors[:0], 1, 3)[0].shape == (0, 3)


# --- drawings and numbers


def test_a_drawn_node_of_two_parents_fills_its_width_once() -> None:
    layers = Layers.of(4, [[np.array([0, 1, 2]), np.array([2, 3])], [np.array([0, 1])]])
    mixture = Mixture("1:1", 1, 0, ("a", "b"), (2, 2), np.arange(4), np.array([0, 0, 1, 1]))
    boxes = list(unfolded(layers, mixture))
    widths = Counter[int]()
    for box in boxes:
        widths[box.height] += box.width  # type: ignore[assignment]
    assert widths == {0: 4, 1: 4, 2: 4}
    assert sorted(box.width for box in boxes if box.node == 2) == [0.5, 0.5]


def test_at_a_number_of_nodes_between_two_layers() -> None:
    def row(kind: str, nodes: int, lost: float) -> dict[str, Any]:
        names = ("minor_lost", "major_lost", "purity", "entropy", "minor_nodes")
        values = {prefix + name: lost for name in names for prefix in ("", "chance_")}
        return {"kind": kind, "nodes": nodes, "sizes": [1] * nodes, "variation": 0.0, **values}

    mixture = Mixture("1:1", 1, 0, ("a", "b"), (32, 32), np.arange(64), np.repeat([0, 1], 32))
    rows = [row("end", 64, 0.0), row("layer", 16, 0.2), row("layer", 4, 0.6), row("end", 1, 1.0)]
    found = points("c", [Measurement(mixture, "b", rows)], 8)
    value = next(point.value for point in found if point.place == MATCHED and point.metric == "minor_lost")
    assert value == pytest.approx(0.4)  # 8 is halfway from 4 to 16 on the logarithmic scale


# --- the study


@dataclass(frozen=True, kw_only=True)
class Failing(Component):
    """k-means that fails on small mixtures as long as the file `broken` exists, and notes what it built."""

    name: str = "k-means"
    folder: str = "."

    def identity(self) -> dict[str, Any]:
        return {"component": "failing"}

    def build(self, vectors: Any, seed: int) -> Any:
        if len(vectors) < 25 and Path(self.folder, "broken").exists():
            raise ModelError("killed", kind="connection")
        with Path(self.folder, "built").open("a") as file:
            file.write(f"{len(vectors)}\n")
        return KMeansLayers().build(vectors, seed)


def toy_corpus() -> StudyCorpus:
    """Three categories in a plane each, questions that are their gold passages' vectors."""
    rng, names = np.random.default_rng(3), ("art", "film", "sea")
    vectors = np.concatenate([np.eye(9)[3 * c] + 0.4 * rng.normal(size=(30, 9)) for c in range(3)]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    gold = tuple((row, row + 1) for row in range(0, 90, 2))
    asked = np.stack([vectors[list(own)].mean(axis=0) for own in gold]).astype(np.float32)
    categories = tuple(names[row // 30] if row < 88 else None for row in range(90))
    texts = tuple(str(row) for row in range(90))
    return StudyCorpus("toy", vectors, categories, texts, texts, asked, texts[: len(gold)], gold)


def test_a_killed_study_goes_on_where_it_stopped(tmp_path: Path) -> None:
    built = tmp_path / "built"
    study = Skew(builders=(Psi(), Failing(folder=str(tmp_path))), ratios=(1, 10), major=20, seeds=(0,), nodes=4)
    corpus = toy_corpus().labelled()
    mixtures = study.mixtures(corpus).mixtures
    (tmp_path / "broken").touch()
    with pytest.raises(ModelError):
        list(study.measure(corpus, mixtures, Store(tmp_path / "store")))
    assert built.read_text().split() == ["40"]
    (tmp_path / "broken").unlink()
    resumed = list(study.measure(corpus, mixtures, Store(tmp_path / "store")))
    assert built.read_text().split() == ["40", "22", "36"]  # the first is not built again; 36: by Zipf's law
    assert list(study.measure(corpus, mixtures, Store(tmp_path / "other"))) == resumed
    assert list(study.measure(corpus, mixtures, Store(tmp_path / "store"))) == resumed


def test_tables_and_figures_of_a_study(tmp_path: Path) -> None:
    study = Skew(builders=(Psi(), RandomLayers()), ratios=(1, 10), major=20, seeds=(0, 1), nodes=4)
    result = study.run([toy_corpus()], Store(tmp_path / "store"), tmp_path / "out")
    assert {path.name for path in result.figures} == {
        f"skew_{name}_toy.{kind}"
        for name in ("ratios", "sizes", "layers", "trees", "maps")
        for kind in ("png", "pdf", "csv")
    }
    assert all(path.stat().st_size > 200 for path in result.figures)
    first = {
        (row["mixture"], row["builder"]): row
        for row in ({k: v for entry in row for k, v in entry.data.items()} for row in result.tables["skew"].rows)
    }
    assert first["1:1", "Ψ"]["n"] == 2
    assert first["1:1", "Ψ"]["purity mean"] > first["1:1", "random"]["purity mean"]
    asked = [dict(row[3].data) | dict(row[5].data) for row in result.tables["skew_search"].rows]
    assert {"about": "minor", "questions": 0} not in asked
    assert len(result.tables["skew_mixtures"].rows) == 6


def test_a_corpus_without_categories_is_refused(tmp_path: Path) -> None:
    whole = toy_corpus()
    unknown = StudyCorpus(
        "none", whole.vectors, (None,) * 90, whole.titles, whole.texts, whole.question_vectors, whole.questions, whole.gold
    )  # fmt: skip
    with pytest.raises(InputError, match="fewer than two known categories"):
        Skew(builders=(Psi(),)).run([unknown], Store(tmp_path), tmp_path)
