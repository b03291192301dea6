"""Runs as a user starts them: processes, kills, second starts."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["dataset=encyclopedia", "dataset.passages=120", "dataset.questions=24"]


def start(store, *arguments, **options):
    command = [sys.executable, "-m", "experiments.run", *arguments, f"store={store}"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def run(store, *arguments):
    process = start(store, *arguments)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def results(store):
    """Bytes of every result file, by its place."""
    kept = {"rankings.jsonl", "answers.jsonl", "scores.jsonl", "summary.json", "passages.jsonl", "questions.jsonl"}
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in store.rglob("*") if path.name in kept}


def toy_reader(calls, delay=0.0):
    return [
        "reader=toy",
        f"hydra.searchpath=[file://{ROOT}/tests/conf]",
        f"reader.calls={calls}",
        f"reader.delay={delay}",
    ]


def test_one_cell_ends_with_a_table_and_its_record(tmp_path):
    code, out, err = run(tmp_path, *SMALL, "method=bm25", "answers=0")
    assert code == 0, err
    assert "%|" not in err  # no bars where nobody watches
    assert "bm25" in out and "Recall@5" in out
    (record,) = tmp_path.glob("cells/encyclopedia/bm25/*/cell.json")
    cell = json.loads(record.read_text())
    assert cell["status"] == "ok"
    assert cell["command"] == f"python -m experiments.run {' '.join(SMALL)} method=bm25 answers=0"
    assert (tmp_path / cell["stages"]["scores"] / "summary.json").exists()
    manifest = json.loads((tmp_path / cell["stages"]["rankings"] / "manifest.json").read_text())
    assert {"config", "inputs", "code", "packages", "device", "seconds"} <= set(manifest)


def test_a_sweep_goes_on_past_a_failing_cell_and_a_second_start_runs_only_that(tmp_path):
    fragile = ["embedder=fragile", f"embedder.broken={tmp_path}/broken", f"hydra.searchpath=[file://{ROOT}/tests/conf]"]
    sweep = ["-m", *SMALL, "method=bm25,dense,rrf", "answers=0", *fragile]
    (tmp_path / "broken").touch()
    code, out, err = run(tmp_path / "store", *sweep)
    assert code == 1, err
    assert out.count("failed: ModelError") == 2 and "bm25" in out
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("rankings.jsonl")}
    (tmp_path / "broken").unlink()
    code, out, err = run(tmp_path / "store", *sweep)
    assert code == 0, err
    assert "failed:" not in out
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path):
    arguments = [*SMALL, "method=bm25"]
    code, _, err = run(tmp_path / "whole", *arguments, *toy_reader(tmp_path / "calls-whole"))
    assert code == 0, err
    calls = tmp_path / "calls-killed"
    for _ in range(2):
        victim = start(tmp_path / "killed", *arguments, *toy_reader(calls, delay=0.1))
        enough = len(_lines(calls)) + 6
        _wait_for(lambda enough=enough: len(_lines(calls)) >= enough, victim)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
    (log,) = (tmp_path / "killed").rglob("answers.log")
    log.write_bytes(log.read_bytes()[:-7])  # as if killed while writing
    code, _, err = run(tmp_path / "killed", *arguments, *toy_reader(calls))
    assert code == 0, err
    assert results(tmp_path / "killed") == results(tmp_path / "whole")
    asked = _lines(calls)
    # asked again only where the kill came between asking and writing: at most twice, and the row cut above
    assert len(set(asked)) == 24
    assert len(asked) <= 24 + 3


def test_a_second_process_on_the_same_run_is_refused(tmp_path):
    arguments = [*SMALL, "method=bm25", *toy_reader(tmp_path / "calls", delay=0.3)]
    first = start(tmp_path / "store", *arguments)
    _wait_for(lambda: _lines(tmp_path / "calls"), first)
    code, _, err = run(tmp_path / "store", *arguments)
    first.kill()
    first.communicate()
    assert code == 1
    assert f"process {first.pid}" in err


def test_failed_answers_are_counted_not_scored_and_asked_again(tmp_path):
    arguments = [*SMALL, "method=bm25", *toy_reader(tmp_path / "calls"), f"reader.failing={tmp_path}/failing"]
    (tmp_path / "failing").touch()
    code, _, err = run(tmp_path / "store", *arguments)
    assert code == 1
    failing = int(re.search(r"(\d+) of 24 answers failed \(http_500\)", err)[1])
    assert 0 < failing < 12
    code, _, _ = run(tmp_path / "store", *arguments, "max_fail_rate=0.5")
    assert code == 0
    (summary,) = (tmp_path / "store").rglob("stages/scores/*/summary.json")
    em = json.loads(summary.read_text())["em"]
    assert em["n_failed"] == failing
    assert em["n"] + em["n_failed"] + em["n_excluded"] == 24
    (tmp_path / "failing").unlink()
    asked = len(_lines(tmp_path / "calls"))
    code, _, err = run(tmp_path / "store", *arguments)
    assert code == 0, err
    assert len(_lines(tmp_path / "calls")) - asked == failing


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["method=pzi"], "Did you mean 'psi'"),
        (["topk=3"], "unknown setting 'topk'"),
        (["-m", "beam=3", "topk=3,4"], "unknown setting 'topk'"),
        (["beam=-1"], "beam=-1"),
        (["metrics=[recal@5]"], "Did you mean 'recall@k'"),
        (["-m", "method=bm25", "k=0,abc"], "k='abc'"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_exit_code_2(tmp_path, arguments, said):
    code, _, err = run(tmp_path, *arguments)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize("store", ["", "~/runs"])
def test_a_store_that_is_no_folder_is_refused_before_anything_is_written(store, monkeypatch, capsys):
    from experiments.run import main

    monkeypatch.setattr(sys, "argv", ["run", "method=bm25", f"store={store}"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "store=$HOME/runs" in capsys.readouterr().err


def test_a_store_that_cannot_be_written_ends_in_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    code, _, err = run(tmp_path / "file" / "store", "method=bm25")
    assert code == 1
    assert "Not a directory" in err and "store=PATH" in err and "Traceback" not in err


def test_one_bad_value_does_not_stop_the_others_and_a_run_named_twice_is_shown_once(tmp_path):
    code, out, err = run(tmp_path, "-m", *SMALL, "method=bm25", "answers=0", "k=2,abc,2")
    assert code == 1
    assert "k='abc'" in err and "Traceback" not in err
    assert "k=2: no more passages are retrieved, so recall@5" in err
    assert out.count("failed: ConfigError") == 1 and "bm25 (2)" in out and "bm25 (3)" not in out


def test_seeds_make_separate_runs_and_equal_seeds_equal_bytes(tmp_path):
    sweep = [
        "-m",
        *SMALL,
        "method=psi_tree",
        "embedder=words",
        "answers=0",
        f"hydra.searchpath=[file://{ROOT}/tests/conf]",
    ]
    code, out, err = run(tmp_path / "one", *sweep, "seed=0,1,2")
    assert code == 0, err
    assert "0, 1, 2" in out
    cells = [json.loads(path.read_text()) for path in (tmp_path / "one").rglob("cell.json")]
    assert sorted(cell["seed"] for cell in cells) == [0, 1, 2]
    assert len({cell["stages"]["benchmark"] for cell in cells}) == 3
    code, _, err = run(tmp_path / "two", *sweep, "seed=1")
    assert code == 0, err
    again = results(tmp_path / "two")
    assert again and again.items() <= results(tmp_path / "one").items()


def test_a_mistake_in_a_file_is_reported_with_the_file(tmp_path):
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text(
        "_target_: experiments.settings.Method\nname: m\nretriever: {_target_: psi.retrieval.sparse.BM25, k_1: 1.2}\n"
    )
    code, _, err = run(tmp_path / "store", "method=mine", f"hydra.searchpath=[file://{tmp_path}]")
    assert code == 2
    assert "conf/method/mine.yaml" in err and "method.retriever.k_1" in err and "'k1'" in err


def test_a_benchmark_without_questions_says_what_to_do(tmp_path):
    (tmp_path / "p.jsonl").write_text('{"id": "a", "text": "Rome is in Italy."}\n')
    code, _, err = run(tmp_path / "store", "dataset=files", f"dataset.corpus={tmp_path}/p.jsonl", "method=bm25")
    assert code == 1
    assert "files has no questions" in err and "dataset.questions=" in err and "Traceback" not in err


def test_a_benchmark_that_is_not_there_says_what_to_do(tmp_path):
    code, _, err = run(tmp_path, "dataset=musique", f"dataset.folder={tmp_path}/none")
    assert code == 1
    for words in (str(tmp_path / "none"), "osunlp/HippoRAG_2", "dataset.folder=", "PSI_DATA"):
        assert words in err
    assert "Traceback" not in err


def _lines(path):
    return path.read_text().splitlines() if path.exists() else []


def _wait_for(condition, process):
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
