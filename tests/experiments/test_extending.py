"""A dataset, a method, a reader and a metric from outside: a file and a few lines of YAML each, nothing else."""

import json

from hydra import compose, initialize_config_dir

from experiments.cell import run_cell
from experiments.complaints import CONF
from experiments.compose import run_from


def test_one_of_each_runs(tmp_path):
    ours = CONF.parent / "tests" / "conf"
    overrides = ["dataset=toy", "method=toy", "reader=toy", f"reader.calls={tmp_path}/calls", f"store={tmp_path}/store"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose(
            "config",
            overrides=[
                *overrides,
                "metrics=[recall@1,em,'tests.toys:ANSWER_LENGTH']",
                f"hydra.searchpath=[file://{ours}]",
            ],
        )
    cell = run_cell(run_from(config), "toy", "")
    assert cell.status == "ok", cell.error
    summary = json.loads((tmp_path / "store" / cell.stages["scores"] / "summary.json").read_text())
    assert summary["recall@1"]["mean"] == 1.0
    assert summary["em"]["mean"] == 1.0
    assert summary["tests.toys:ANSWER_LENGTH"]["mean"] == 4.5
