"""What is refused between an embedder and an index."""

import numpy as np
import pytest

from psi.errors import InputError
from psi.models.vectors import BadVectorError, checked_vectors, encoded, unit_rows


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[0, 1], [np.nan, 0]], r"'d2'.*nan at position 0"),
        ([[0, 1], [1, -np.inf]], r"'d2'.*-inf at position 1"),
        ([[1, 2, 3, 4], [1, 2, 3]], r"'d2'.*expected 4, got 3"),
        ([[0, 1], "text"], "'d2'"),
        ([[0, 1], None], "'d2'"),
        ([[0, 1], [[0, 1]]], "'d2'.*flat"),
    ],
)
def test_unusable_vectors_are_refused_by_name(rows: list[object], said: str) -> None:
    with pytest.raises(BadVectorError, match=said):
        checked_vectors(rows, ["d1", "d2"])  # type: ignore[arg-type]


def test_the_width_of_another_batch_can_be_demanded() -> None:
    with pytest.raises(InputError, match="expected 4, got 3"):
        checked_vectors([[1.0, 2.0, 3.0]], ["q"], width=4)


def test_skipped_texts_are_noticed() -> None:
    with pytest.raises(InputError, match="expected 2 vectors, got 1"):
        checked_vectors([[1.0]], ["a", "b"])


def test_zero_vectors_are_legal() -> None:
    assert checked_vectors([[0.0, 0.0]]).tolist() == [[0.0, 0.0]]
    assert np.allclose(unit_rows(np.array([[0, 0], [3, 4]], dtype=np.float32)), [[0, 0], [0.6, 0.8]])


def test_an_empty_batch_keeps_its_width() -> None:
    assert checked_vectors(np.zeros((0, 5), dtype=np.float32)).shape == (0, 5)
    assert checked_vectors([], width=3).shape == (0, 3)


def test_an_embedder_that_knows_positions_only_still_yields_a_name() -> None:
    def broken(texts: object) -> np.ndarray:
        raise BadVectorError(1, "wrong width: expected 4, got 3")

    with pytest.raises(BadVectorError, match=r"'d2'.*expected 4, got 3"):
        encoded(broken, ["a", "b"], ["d1", "d2"])
