"""Reads and writes at positions, by the calls of this system and without them."""

import os

import pytest

from tgraph.files import positioned


@pytest.fixture(params=["calls", "seeking"], autouse=True)
def system(request, monkeypatch):
    if request.param == "seeking":
        for name in ("preadv", "pwrite"):
            monkeypatch.delattr(os, name, raising=False)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        assert positioned.write_at(file, memoryview(b"abc"), 8) == 3
        target = bytearray(5)
        assert positioned.read_at(file, memoryview(target), 6) == 5 and target == b"67abc"
        assert positioned.read_at(file, memoryview(target), 9) == 2 and target == b"bcabc"
        assert positioned.read_at(file, memoryview(target), 100) == 0
    finally:
        os.close(file)
    with pytest.raises(OSError):
        positioned.read_at(file, memoryview(bytearray(1)), 0)


def test_a_file_is_opened_to_be_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a\r\n\x1a\n")
    file = positioned.open_to_read(path)
    try:
        target = bytearray(9)
        assert positioned.read_at(file, memoryview(target), 0) == 5 and target[:5] == b"a\r\n\x1a\n"
        with pytest.raises(OSError):
            positioned.write_at(file, memoryview(b"x"), 0)
    finally:
        os.close(file)
