"""A run in a file, and the same run again from that file."""

import gzip
import io
import json
import re
import subprocess
import sys
import tarfile

import pytest

from experiments.reproduce import read_archive, reproduce
from psi.errors import ConfigError, InputError, PsiError

from .test_run import ROOT, SMALL, run


def python(module, *arguments):
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    code, _, err = run(folder / "store", *SMALL, "method=bm25", "answers=0")
    assert code == 0, err
    packed = python("experiments.archive", f"store={folder / 'store'}", f"out={folder / 'out'}")
    assert packed.returncode == 0, packed.stderr
    (path,) = (folder / "out").iterdir()
    return path


def changed(archive, out, **contents):
    """The archive with some files of it replaced."""
    with tarfile.open(archive) as old, tarfile.open(out, "w:gz") as new:
        for entry in old:
            content = contents.get(entry.name.split("/")[-1], lambda text: text)(old.extractfile(entry).read())
            entry.size = len(content)
            new.addfile(entry, io.BytesIO(content))
    return out


def test_every_number_comes_out_again(archive, tmp_path):
    done = python("experiments.reproduce", f"archive={archive}", f"store={tmp_path}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "recall@5" in done.stdout and "DIFFERS" not in done.stdout


def test_a_number_that_differs_is_named(archive, tmp_path):
    def raised(content):
        summary = json.loads(content)
        summary["recall@5"]["mean"] += 0.001
        return json.dumps(summary).encode()

    other = read_archive(changed(archive, tmp_path / "other.tar.gz", **{"summary.json": raised}))
    verdicts = {verdict.what: verdict.equal for verdict in reproduce(other, str(tmp_path / "store"), ())}
    assert not verdicts["recall@5"] and verdicts["recall@2"] and verdicts["rankings/rankings.jsonl"]
    verdicts = reproduce(other, str(tmp_path / "store"), (), tolerance=0.01)
    assert all(verdict.equal for verdict in verdicts)


def test_a_setting_that_decides_a_result_cannot_be_changed(archive, tmp_path):
    with pytest.raises(ConfigError, match="decides a result"):
        reproduce(read_archive(archive), str(tmp_path), ["seed=1"])


def test_equal_runs_give_equal_archives(archive, tmp_path):
    again = python("experiments.archive", f"store={archive.parents[1] / 'store'}", f"out={tmp_path}")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / archive.name).read_bytes() == archive.read_bytes()


def test_code_of_others_is_not_run(archive, tmp_path):
    def foreign(content):
        return re.sub(rb"_target_: psi\.retrieval\S+", b"_target_: os.path.join", content)

    with pytest.raises(InputError, match=r"os\.path\.join"):
        read_archive(changed(archive, tmp_path / "x.tar.gz", **{"config.yaml": foreign}))


def with_entry(name, kind=tarfile.REGTYPE, size=0):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        entry = tarfile.TarInfo(name)
        entry.type, entry.size, entry.linkname = kind, size, "/etc/passwd"
        tar.addfile(entry, io.BytesIO(b"\0" * size))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"no archive", gzip.compress(b"no tar"), with_entry("other"), with_entry("../cell.json"),
        with_entry("/etc/x"), with_entry("cell.json", tarfile.SYMTYPE), with_entry("cell.json", size=3),
    ],
    ids=["empty", "text", "no tar", "no cell", "above", "absolute", "link", "zeros"],
)  # fmt: skip
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "x.tar.gz").write_bytes(content)
    with pytest.raises(PsiError, match=r"x\.tar\.gz"):
        read_archive(tmp_path / "x.tar.gz")
