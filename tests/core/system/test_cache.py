"""The folder in which tgraph keeps what it has compiled."""

import os
import sys
from pathlib import Path

import pytest

from tgraph.core.system import cache


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
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored by the XDG standard
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


def test_a_query_does_not_make_it(monkeypatch, tmp_path):
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "new"))
    assert not cache.folder().exists()


# ---- folders for what is executed -----------------------------------------------------------------------------------

posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")


@pytest.fixture
def here(monkeypatch, tmp_path):
    """The cache folder, which does not exist yet."""
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wide_umask():
    """What lets the group write to all that is made."""
    before = os.umask(0o002)
    yield
    os.umask(before)


def owned_by_another(path, monkeypatch):
    """Give it to another user, or where that is not allowed, be another."""
    if os.geteuid() == 0:
        os.chown(path, 4321, -1)
    else:
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)


@posix
def test_a_private_folder_is_made_for_its_owner_alone(here, wide_umask):
    folder = cache.private_folder("kernels")
    assert folder == here / "kernels" and folder.is_dir()
    assert folder.stat().st_mode & 0o777 == here.stat().st_mode & 0o777 == 0o700
    assert cache.private_folder("kernels") == folder


@posix
@pytest.mark.parametrize("mode", [0o770, 0o720, 0o777, 0o1777, 0o702])
def test_a_folder_that_others_may_write_is_refused(here, mode):
    (here / "kernels").mkdir(parents=True)
    (here / "kernels").chmod(mode)
    with pytest.raises(PermissionError, match=r"kernels.*others may write to it.*rm -r .*kernels"):
        cache.private_folder("kernels")


@posix
@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755, 0o500])
def test_a_folder_that_others_may_read_is_taken(here, mode):
    (here / "kernels").mkdir(parents=True)
    (here / "kernels").chmod(mode)
    assert cache.private_folder("kernels") == here / "kernels"


@posix
def test_a_folder_of_another_user_is_refused(here, monkeypatch):
    (here / "kernels").mkdir(parents=True)
    owned_by_another(here / "kernels", monkeypatch)
    with pytest.raises(PermissionError, match=r"kernels.*belongs to user \d+.*TGRAPH_CACHE"):
        cache.private_folder("kernels")


@posix
def test_a_link_is_as_good_as_where_it_leads(here, tmp_path):
    here.mkdir()
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (here / "kernels").symlink_to(target)
    assert cache.private_folder("kernels") == here / "kernels"
    target.chmod(0o777)
    with pytest.raises(PermissionError, match="others may write"):
        cache.private_folder("kernels")


@posix
def test_what_the_administrator_provides_is_taken():
    assert Path("/").stat().st_uid == 0
    cache.check_is_private(os.stat_result((0o040755, 0, 0, 1, 0, 0, 0, 0, 0, 0)), Path("/usr/share/tgraph"))
    with pytest.raises(PermissionError):
        cache.check_is_private(os.stat_result((0o041777, 0, 0, 1, 0, 0, 0, 0, 0, 0)), Path("/tmp"))
