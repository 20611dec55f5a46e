"""Removal of large files, alone and beside maps of them."""

import mmap

import pytest

from tgraph.files import removal


def never():
    return None


def always():
    return 0.0


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(removal, "_PART", 4096)
    file = tmp_path / "file"
    file.write_bytes(b"x" * 20_000)
    return file


@pytest.mark.parametrize("pause", [None, never, always])
def test_a_file_is_gone(path, pause):
    removal.remove(path, pause)
    assert not path.exists()
    removal.remove(path, pause)  # of none, nothing


def test_it_is_freed_in_parts_as_long_as_others_wait(path, monkeypatch):
    sizes, answers = [], [0.0, 0.0, None]
    shorten = removal.os.ftruncate
    monkeypatch.setattr(removal.os, "ftruncate", lambda file, size: (sizes.append(size), shorten(file, size)))
    removal.remove(path, lambda: answers.pop(0))
    if removal.fcntl is not None and hasattr(removal.fcntl, "F_SETLEASE"):
        assert sizes == [20_000 - 4096, 20_000 - 2 * 4096]
    assert not path.exists()


@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_COPY])
def test_maps_and_open_files_keep_what_was_there(path, access):
    with open(path, "rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=access)
    with open(path, "rb") as reader:
        removal.remove(path, always)
        assert not path.exists()
        assert reader.read() == b"x" * 20_000
    assert mapping[:] == b"x" * 20_000
    mapping.close()


@pytest.mark.parametrize("pause", [None, always])
def test_without_leases_it_is_removed_at_once(path, monkeypatch, pause):
    monkeypatch.setattr(removal, "fcntl", None)
    removal.remove(path, pause)
    assert not path.exists()
    removal.remove(path, pause)
