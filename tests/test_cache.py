"""The folder in which tgraph keeps what it has compiled."""

from pathlib import Path

import pytest

from tgraph import cache


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("TGRAPH_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)


@pytest.mark.parametrize(
    ("system", "expected"),
    [("linux", ".cache/tgraph"), ("darwin", "Library/Caches/tgraph"), ("win32", "AppData/Local/tgraph/Cache")],
)
def test_it_is_where_the_system_keeps_caches(system, expected, monkeypatch, tmp_path):
    monkeypatch.setattr(cache.sys, "platform", system)
    assert cache.folder() == tmp_path / expected


def test_variables_move_it(monkeypatch, tmp_path):
    monkeypatch.setattr(cache.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the standard says to ignore
    assert cache.folder() == tmp_path / ".cache" / "tgraph"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache.folder() == Path("/elsewhere/tgraph")
    monkeypatch.setenv("TGRAPH_CACHE", "/here")
    assert cache.folder() == Path("/here")
    monkeypatch.setattr(cache.sys, "platform", "win32")
    assert cache.folder() == Path("/here")
    monkeypatch.delenv("TGRAPH_CACHE")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert cache.folder() == Path("/local/tgraph/Cache")


def test_it_is_not_made_by_asking(monkeypatch, tmp_path):
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "new"))
    assert not cache.folder().exists()
