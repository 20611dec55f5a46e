"""Locks on files, by fcntl and by what Windows has."""

import sys
import threading

import bare_system
import pytest

from tgraph.files import locking


@pytest.fixture(params=["fcntl", "msvcrt"], autouse=True)
def system(request, monkeypatch):
    if request.param == "msvcrt":
        monkeypatch.setitem(sys.modules, "msvcrt", bare_system.locks_of_windows())
        monkeypatch.setattr(locking, "fcntl", None)


def test_one_at_a_time(tmp_path):
    path = tmp_path / "lock"
    with open(path, "a+b") as first, open(path, "a+b") as second:
        locking.lock(first)
        with pytest.raises(BlockingIOError):
            locking.lock(second, wait=False)
        locking.unlock(first)
        locking.lock(second, wait=False)
        waiting = threading.Thread(target=locking.lock, args=(first,))
        waiting.start()
        locking.unlock(second)
        waiting.join(60)
        assert not waiting.is_alive()
        with pytest.raises(BlockingIOError):
            locking.lock(second, wait=False)


def test_the_file_is_left_where_it_was(tmp_path):
    path = tmp_path / "lock"
    path.write_bytes(b"0123456789")
    with open(path, "r+b", buffering=0) as file:
        assert file.read(4) == b"0123"
        locking.lock(file)
        assert file.read(4) == b"4567" and path.stat().st_size == 10
        locking.unlock(file)
