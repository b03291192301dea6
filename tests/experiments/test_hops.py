"""Hop discriminators as a user trains them."""

import json

import pytest

from experiments import hops
from experiments.complaints import CONF
from experiments.compose import run_from
from experiments.configuration import composed
from psi.errors import ConfigError

SEARCH = f"hydra.searchpath=[file://{CONF.parent / 'tests' / 'conf'}]"
SMALL = ["embedder=fragile", "embedder.broken=/nowhere", SEARCH, "dataset.passages=120", "dataset.questions=60"]


def test_a_target_that_is_among_the_datasets_is_left_out_of_training_and_measured(tmp_path, capsys):
    data = ["datasets=[encyclopedia,toy]", "targets=[encyclopedia]"]
    hops.main([*data, "embedder=fragile", "embedder.broken=/nowhere", SEARCH, f"store={tmp_path}", "training.epochs=2"])
    record = json.loads((tmp_path / "hops" / "encyclopedia" / "hops.json").read_text())
    assert [each["name"] for each in record["trained_on"]] == ["toy"]
    assert record["trained_on"][0]["hops"] == {"1": 2, "2": 0, "3": 0, "4": 0}
    assert len(record["trained_on"][0]["digest"]) == 64
    assert record["on_target"]["n"] == sum(map(sum, record["on_target"]["confusion"])) > 0
    assert record["embedder"]["component"] == "tests.toys.FragileEmbedder"
    assert record["training"]["epochs"] == 2
    out = capsys.readouterr().out
    assert "encyclopedia" in out and "true hops" in out


def test_a_target_outside_the_datasets_is_trained_for_and_not_measured(tmp_path):
    hops.main(["datasets=[encyclopedia]", "targets=[popqa]", *SMALL, f"store={tmp_path}", "training.epochs=1"])
    record = json.loads((tmp_path / "hops" / "popqa" / "hops.json").read_text())
    assert record["on_target"] is None
    assert record["validation"]["n"] > 0


def test_the_configuration_hops_auto_takes_it_from_the_store(tmp_path):
    hops.main(["datasets=[encyclopedia]", "targets=[twowiki]", *SMALL, f"store={tmp_path}", "training.epochs=1"])
    ours = ["embedder=fragile", "embedder.broken=/nowhere", SEARCH, f"store={tmp_path}"]
    run = run_from(composed(["method=psi_agent", "dataset=twowiki", "hops=auto", *ours]))
    assert set(run.agent.hop_budget.budgets(["Who wrote it?", "Who is his mother?"])) <= {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "datasets=[...] is missing"),
        (["datasets=[encyclopedia]"], "no other dataset"),
        (["datasets=[encyclopedia]", "training.epoch=3"], "training.epoch"),
        (["datasets=[encyclopedia]", "training.epochs=0"], "epochs=0"),
    ],
)
def test_mistakes_are_named(tmp_path, arguments, said):
    with pytest.raises(ConfigError) as refused:
        hops.main([*arguments, *SMALL, f"store={tmp_path}"])
    assert said in str(refused.value)
