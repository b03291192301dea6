import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psi.errors import StoreError
from psi.store import RowLog, Stage, Store, digest, read_rows, safe_name, write_rows

STAGE = Stage("toy", 1, {"a": 1}, {"input": "x"})


def make_file(text="hello"):
    return lambda folder: (folder / "file.txt").write_text(text) and {"count": 1}


def test_a_stage_is_made_once_and_then_found(tmp_path):
    store = Store(tmp_path)
    first = store.obtain(STAGE, make_file())
    again = store.obtain(STAGE, lambda folder: pytest.fail("made twice"))
    assert first.path == again.path
    assert again.facts["count"] == 1
    assert again.manifest["config"] == {"a": 1}
    assert again.manifest["inputs"] == {"input": "x"}
    assert {"code", "packages", "python", "device", "seconds", "files"} <= set(again.manifest)


def test_every_part_of_a_stage_changes_its_digest():
    others = [
        Stage("other", 1, {"a": 1}, {"input": "x"}),
        Stage("toy", 2, {"a": 1}, {"input": "x"}),
        Stage("toy", 1, {"a": 2}, {"input": "x"}),
        Stage("toy", 1, {"a": 1}, {"input": "y"}),
    ]
    assert len({stage.digest for stage in [STAGE, *others]}) == 5
    assert STAGE.digest == Stage("toy", 1, {"a": 1}, {"input": "x"}).digest


def test_a_failed_making_leaves_nothing_that_looks_complete(tmp_path):
    def fail(folder):
        (folder / "half.txt").write_text("half")
        raise RuntimeError("no model")

    store = Store(tmp_path)
    with pytest.raises(RuntimeError):
        store.obtain(STAGE, fail)
    assert store.find(STAGE) is None
    artifact = store.obtain(STAGE, make_file())
    assert not (artifact.path / "half.txt").exists()


def test_a_resumable_making_finds_what_was_left(tmp_path):
    def first(folder):
        (folder / "part").write_text("1")
        raise KeyboardInterrupt

    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.obtain(STAGE, first, resumable=True)
    artifact = store.obtain(STAGE, lambda folder: {"found": (folder / "part").read_text()}, resumable=True)
    assert artifact.facts["found"] == "1"
    assert artifact.facts["resumed"] is True


def test_a_making_killed_between_its_last_row_and_its_end_is_not_repeated(tmp_path, monkeypatch):
    made = []

    def make(folder):
        with RowLog(folder / "rows.log") as rows:
            if not rows.rows:
                made.append(1)
                rows.append([{"question": "q"}])
            write_rows(folder / "rows.jsonl", rows.rows.values())

    def killed_at(name):
        def step(path, *_):
            if path.name == name:
                raise KeyboardInterrupt
            return rename(path, *_)

        rename = Path.replace
        return step

    store = Store(tmp_path)
    for name in ("manifest.json.log", store.path(STAGE).name + ".partial"):
        with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
            broken.setattr(Path, "replace", killed_at(name))
            store.obtain(STAGE, make, resumable=True)
        assert store.find(STAGE) is None
    artifact = store.obtain(STAGE, make, resumable=True)
    assert made == [1]
    assert sorted(path.name for path in artifact.path.iterdir()) == ["manifest.json", "rows.jsonl"]
    assert list(artifact.manifest["files"]) == ["rows.jsonl"]


@pytest.mark.parametrize("damage", ["truncate", "alter", "remove", "manifest", "list", "foreign"])
def test_a_damaged_output_is_refused_with_the_remedy(tmp_path, damage):
    store = Store(tmp_path)
    path = store.obtain(STAGE, make_file()).path
    manifest = path / "manifest.json"
    if damage == "truncate":
        (path / "file.txt").write_text("he")
    elif damage == "alter":
        (path / "file.txt").write_text("jello")
    elif damage == "list":
        manifest.write_text("[]")
    elif damage == "remove":
        (path / "file.txt").unlink()
    elif damage == "manifest":
        manifest.write_text(manifest.read_text()[:50])
    else:
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"digest": "0"}))
    with pytest.raises(StoreError, match="Delete the folder"):
        store.find(STAGE)


def _hold(root, ready):
    with Store(root).lock("cell", wait=False):
        ready.set()
        time.sleep(30)


def test_a_second_process_is_refused_by_name_and_a_killed_one_frees_the_lock(tmp_path):
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, ready))
    holder.start()
    ready.wait(10)
    with pytest.raises(StoreError, match=f"process {holder.pid}"), Store(tmp_path).lock("cell", wait=False):
        pass
    holder.kill()
    holder.join()
    with Store(tmp_path).lock("cell", wait=False):
        pass


def _make_slowly(root):
    def make(folder):
        with (Path(root) / "made").open("a") as file:
            file.write("x")
        time.sleep(0.2)

    Store(root).obtain(STAGE, make)


def test_processes_that_need_one_stage_at_once_make_it_once(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_make_slowly, args=(tmp_path,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "x"


@pytest.mark.parametrize("place", ["file", "proc"])
def test_a_store_that_cannot_be_written_says_so(tmp_path, place):
    if place == "file":
        (tmp_path / "file").write_text("")
    root = tmp_path / "file" if place == "file" else Path("/proc/psi")
    with pytest.raises((StoreError, FileNotFoundError)) as refused:
        Store(root).obtain(STAGE, make_file())
    if place == "file":
        assert "store=PATH" in str(refused.value)


def test_a_full_disk_ends_in_a_clear_error(tmp_path):
    def full(folder):
        raise OSError(28, os.strerror(28), str(folder / "big"))

    with pytest.raises(StoreError, match="No space left"):
        Store(tmp_path).obtain(STAGE, full)
    assert Store(tmp_path).find(STAGE) is None


def test_an_error_that_is_not_about_the_disk_passes_unchanged(tmp_path):
    def missing(folder):
        raise FileNotFoundError(2, "no such model")

    with pytest.raises(FileNotFoundError):
        Store(tmp_path).obtain(STAGE, missing)


def test_recording_collects_what_a_piece_of_work_used(tmp_path):
    store = Store(tmp_path)
    with store.recording() as outer, store.recording() as inner:
        store.obtain(STAGE, make_file())
    store.obtain(Stage("later", 1), make_file())
    assert [artifact.manifest["stage"] for artifact in outer] == ["toy"] == [a.manifest["stage"] for a in inner]


# --- rows ---

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXTS, max_size=5))
def test_rows_come_back_as_they_were(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    rows = [{"question": str(number), "text": text} for number, text in enumerate(texts)]
    write_rows(path, rows)
    assert read_rows(path) == rows


def test_unicode_line_separators_do_not_split_rows(tmp_path):
    rows = [{"question": "1", "text": "a\u2028b\x85c"}, {"question": "2", "text": "d"}]
    write_rows(tmp_path / "rows", rows)
    assert read_rows(tmp_path / "rows") == rows


@given(cut=st.integers(min_value=0, max_value=200))
def test_a_log_cut_at_any_byte_goes_on_after_the_last_whole_row(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("log") / "rows.log"
    rows = [{"question": str(number), "text": "ünïcode " * number} for number in range(5)]
    with RowLog(path) as log:
        log.append(rows)
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    with RowLog(path) as log:
        kept = len(log.rows)
        assert kept == whole[:cut].count(b"\n")
        log.append(rows[kept:])
    assert path.read_bytes() == whole


def test_a_later_row_replaces_an_earlier_one(tmp_path):
    with RowLog(tmp_path / "log") as log:
        log.append([{"question": "1", "status": "failed"}])
        log.append([{"question": "1", "status": "ok"}])
    with RowLog(tmp_path / "log") as log:
        assert log.rows == {"1": {"question": "1", "status": "ok"}}


def test_an_altered_row_file_is_refused_with_its_line(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b'{"question": "1"}\nnot json\n{"question": "3"}\n')
    with pytest.raises(StoreError, match="line 2"):
        read_rows(path)
    with pytest.raises(StoreError, match="line 2"):
        RowLog(path)


# --- names and digests ---

HOSTILE = [
    "a/b|c",
    "ollama:qwen3:8b",
    "a b",
    "a_b",
    "A_b",
    "CON",
    "con",
    "x" * 300,
    "../../etc",
    "",
    ".",
    "nul.txt",
    "é",
    "\ud800",
]


def test_hostile_names_become_distinct_legal_components(tmp_path):
    names = [safe_name(text) for text in HOSTILE]
    assert len({name.lower() for name in names}) == len(HOSTILE)
    for name in names:
        assert name.isascii() and len(name) < 100 and not set(name) & set('<>:"/\\|?* ') and name not in {".", ".."}
        (tmp_path / name).mkdir()
        assert (tmp_path / name).resolve().parent == tmp_path.resolve()


def test_plain_names_stay_readable():
    assert safe_name("psi_tree") == "psi_tree"


def test_a_digest_ignores_the_order_of_keys_and_refuses_nan():
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest({"a": 1}) != digest({"a": 1.5})
    with pytest.raises(ValueError, match="JSON"):
        digest(float("nan"))


def test_a_store_that_cannot_be_read_says_so(tmp_path, monkeypatch):
    store = Store(tmp_path)
    path = store.obtain(STAGE, make_file()).path

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    for step in ("exists", "read_text"):
        with monkeypatch.context() as broken, pytest.raises(StoreError, match="Check its permissions"):
            broken.setattr(Path, step, denied)
            store.find(STAGE)


def test_a_stage_records_its_own_peak_of_memory_and_at_least_that_of_stages_inside(tmp_path):
    store = Store(tmp_path)

    def work(megabytes):
        def make(_):
            np.ones(megabytes << 17)  # 8 bytes each; gone at the end

        return make

    def outer(_):
        store.obtain(Stage("inner", 1), work(300))
        np.ones(10 << 17)

    large = store.obtain(Stage("outer", 1), outer).memory["main"]
    inner = store.find(Stage("inner", 1)).memory["main"]
    small = store.obtain(Stage("small", 1), work(10)).memory["main"]
    assert large >= inner > 300 << 20
    assert small < inner - (200 << 20) or not Path("/proc/self/clear_refs").exists()
