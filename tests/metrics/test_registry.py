"""Metrics by name."""

import pytest

from psi.errors import ConfigError
from psi.metrics import METRIC_NAMES, metric


def test_every_listed_name_works() -> None:
    for name in METRIC_NAMES:
        chosen = metric(name.replace("@k", "@5"))
        assert chosen.label
        assert chosen.of in ("ranking", "spans", "answer")


def test_cutoff_comes_from_the_name() -> None:
    assert metric("recall@1").score(["B", "A"], ["A"]) == 0  # type: ignore[arg-type]
    assert metric("recall@2").score(["B", "A"], ["A"]) == 1  # type: ignore[arg-type]
    assert (metric("ndcg@10").name, metric("ndcg@10").label) == ("ndcg@10", "nDCG@10")
    assert metric("recall@05").name == "recall@5"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recal@5", "unknown metric 'recal@5'.*Did you mean 'recall@k'"),
        ("recall", "needs a cutoff, such as recall@5"),
        ("recall@0", "at least 1"),
        ("recall@-1", "unknown metric 'recall@-1'"),
        ("recall@five", "unknown metric"),
        ("em@5", "takes no cutoff"),
        ("F1", "Allowed: .*f1_squad"),
        ("", "unknown metric ''"),
    ],
)
def test_wrong_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        metric(name)
