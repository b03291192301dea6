"""A small share of the malformed inputs that `experiments.bench.fuzz` makes by the thousand."""

from experiments.bench.fuzz import TARGETS, fuzz


def test_malformed_inputs_end_in_named_errors_or_sound_data():
    outcomes, trouble = fuzz(15 * len(TARGETS), seed=7)
    assert not trouble
    assert all(sum(counts.values()) == 15 for counts in outcomes.values())
