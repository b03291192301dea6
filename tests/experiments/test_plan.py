"""Plans: what is missing, what it is expected to cost, and that nothing is done."""

import json

from .test_run import SMALL, run


def stages(store):
    return {path.parent.name for path in store.glob("stages/*/*")}


def test_a_plan_names_what_is_missing_and_does_none_of_it(tmp_path):
    code, out, err = run(tmp_path, "-m", *SMALL, "method=bm25,psi", "answers=0", "--dry-run")
    assert code == 0, err
    assert "bm25, rankings" in out
    assert "embeddings, tree, abstracts, rankings" in out
    assert "?" in out  # nothing has been run here
    assert stages(tmp_path) == {"benchmark"}


def test_costs_are_expected_in_proportion_to_an_earlier_cell(tmp_path):
    assert run(tmp_path, *SMALL, "method=bm25", "answers=0", "limit=12")[0] == 0
    (record,) = tmp_path.glob("cells/*/*/*/cell.json")
    cell = json.loads(record.read_text())
    cell["costs"].update(index_seconds=3600.0, search_ms_per_question=0.0, search_calls=24, search_prompt_tokens=1000)
    record.write_text(json.dumps(cell))
    dry = ["method=bm25", "answers=0", "prices.hour=2.5", "prices.prompt=1000", "--dry-run"]
    code, out, err = run(tmp_path, *SMALL, *dry)
    assert code == 0, err
    (row,) = [line for line in out.splitlines() if " bm25 " in line and "bm25 on" in line]
    # all 24 questions instead of 12: 48 calls, 2,000 tokens; the index is there
    assert " 48 " in row and " 2,000 " in row and " 2.00 " in row
    code, out, err = run(tmp_path, *SMALL, *dry, "limit=12")
    assert code == 0, err
    assert "nothing" in out
