"""Tables of a store: names of rows, what is asked for, records that were damaged."""

import json

import pytest

from experiments.cell import Cell, read_cells
from experiments.labels import Label, in_order, labels
from experiments.tables import main
from psi.errors import ConfigError, InputError, StoreError


def cell(dataset="d", method="m", seed=0, **settings):
    return Cell(dataset, method, seed, "0", "ok", settings=settings)


def store(root, **changes):
    folder = root / "cells" / "d" / "m" / "0"
    folder.mkdir(parents=True)
    record = {"dataset": "d", "method": "m", "seed": 0, "digest": "0", "status": "failed", "error": "E: x"} | changes
    (folder / "cell.json").write_text(json.dumps(record))
    return root


def test_cells_are_named_by_the_settings_in_which_they_differ():
    cells = [cell(k=5, metrics=["em"]), cell(k=9, metrics=["em"]), cell(method="n", k=5), cell(dataset="e", k=5)]
    assert labels(cells) == [("d", "m [k=5]"), ("d", "m [k=9]"), ("d", "n"), ("e", "m")]


def test_cells_that_were_asked_different_things_are_of_different_datasets():
    cells = [cell(limit=3, corpus_limit=None), cell(method="n", limit=None, corpus_limit=None)]
    assert labels(cells) == [("d [limit=3]", "m"), ("d [limit=-]", "n")]
    sizes = [Cell("d", "m", 0, "0", "ok", settings={"dataset": {"passages": n}}) for n in (1, 2)]
    assert labels(sizes) == [("d [passages=1]", "m"), ("d [passages=2]", "m")]


def test_a_list_of_values_is_one_setting_and_a_long_one_is_cut():
    cells = [cell(metrics=["em"]), cell(metrics=[f"recall@{k}" for k in range(1, 9)])]
    assert labels(cells)[0] == ("d", "m [metrics=[em]]")
    assert labels(cells)[1].method.endswith("…]")


def test_a_seed_is_no_difference_and_what_is_left_is_numbered():
    assert labels([cell(seed=s, tree={"seed": s}) for s in (0, 1)]) == [Label("d", "m")] * 2
    assert labels([cell(), cell()]) == [("d", "m"), ("d", "m (2)")]


@pytest.mark.parametrize(
    "changes",
    [
        {"stages": None},
        {"stages": {"scores": "/etc"}},
        {"stages": {"scores": "stages/../../x"}},
        {"costs": {"questions": "x"}},
        {"settings": []},
        {"dataset": None},
        {"error": 5},
    ],
)
def test_a_record_that_was_altered_is_refused(tmp_path, changes):
    with pytest.raises(StoreError, match=r"cell\.json is not a run's record"):
        read_cells(store(tmp_path, **changes))


@pytest.mark.parametrize(
    ("argument", "error", "said"),
    [
        ("datasets=[e]", ConfigError, "datasets: no run of 'e'"),
        ("methods=[n]", ConfigError, "methods: no run of 'n'"),
        ("metrics=[recal@5]", ConfigError, "Did you mean 'recall@k'"),
        ("metrics=em", ConfigError, "a list"),
        ("figur=x", ConfigError, "Did you mean 'figure'"),
        ("datasets=[d", ConfigError, "cannot read"),
        ("out=x.pdf", ConfigError, "no table format"),
        ("store=/nowhere", InputError, "no finished run below /nowhere"),
    ],
)
def test_what_cannot_be_shown_is_named(tmp_path, argument, error, said):
    with pytest.raises(error, match=said.replace("[", r"\[")):
        main([f"store={store(tmp_path)}", argument])


def test_a_failed_run_is_a_row(tmp_path, capsys):
    main([f"store={store(tmp_path)}", "datasets=[d]", "methods=[m]"])
    assert "failed: E" in capsys.readouterr().out


def test_a_class_that_varies_is_shown_by_its_name_without_the_settings_that_only_it_has():
    def cell(abstracts):
        return Cell("data", "psi", 0, str(abstracts), "ok", settings={"method": {"abstracts": abstracts}})

    mean, keywords = {"component": "psi.index.abstracts.MeanAbstracts"}, {"component": "a.B", "keywords": 20}
    assert [label.method for label in labels([cell(mean), cell(keywords)])] == [
        "psi [abstracts=MeanAbstracts]",
        "psi [abstracts=B]",
    ]


def test_rows_stand_in_the_order_of_their_settings():
    cells = [cell(k=80), cell(k=9), cell(method="l", k=5), cell(k=9, seed=1)]
    assert [(each.method, each.settings["k"], each.seed) for each in in_order(cells)] == [
        ("l", 5, 0),
        ("m", 9, 0),
        ("m", 9, 1),
        ("m", 80, 0),
    ]


def test_prepared_tables_are_defaults(tmp_path, capsys):
    for name in ("main_qa", "efficiency", "hop_budget", "rebalancing"):
        main([f"experiment={name}", f"store={store(tmp_path / name)}", "baseline="])
        assert "failed: E" in capsys.readouterr().out
    with pytest.raises(ConfigError, match=r"no table of this name.*Did you mean 'main_qa'"):
        main(["experiment=main_q"])
    with pytest.raises(InputError, match="loaded its dataset"):
        main(["experiment=datasets", f"store={tmp_path / 'main_qa'}"])
