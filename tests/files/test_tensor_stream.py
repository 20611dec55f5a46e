"""Files of one tensor that are written from the beginning on."""

import os

import pytest
import torch

from tgraph.errors import FileFormatError
from tgraph.files import checksummed, past_cache, tensor_stream


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("count", [0, 1, 299, 300, 2048, 9999, 10_000])
def test_what_is_appended_in_parts_is_read_as_one(tmp_path, count, direct, monkeypatch):
    """Past the page cache in buffers of a page, and through it where there is no other way."""
    monkeypatch.setattr(tensor_stream, "PIECE", 64)
    monkeypatch.setattr(past_cache, "STAGED", 4096)
    if not direct:
        monkeypatch.delattr(os, "O_DIRECT", raising=False)
    values, path = torch.arange(count, dtype=torch.int16), tmp_path / "x"
    with tensor_stream.writing(path, "x", torch.int16, 10_000, {"note": "a"}) as append:
        for part in values.split(7 if count < 1000 else 777):
            append(part)
        assert not path.exists()
    contents = checksummed.contents(path, "mend it")
    assert contents.notes["note"] == "a" and torch.equal(contents.load("x"), values)
    assert path.stat().st_size == contents.begin + 2 * count
    mapped = tensor_stream.mapped(contents, "x")
    path.unlink()
    assert torch.equal(mapped, values)


def test_damage_is_located(tmp_path, monkeypatch):
    monkeypatch.setattr(tensor_stream, "PIECE", 64)
    with tensor_stream.writing(tmp_path / "x", "x", torch.int32, 100, {}) as append:
        append(torch.arange(100, dtype=torch.int32))
    data = bytearray((tmp_path / "x").read_bytes())
    data[-1] ^= 1
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(FileFormatError, match="the tensor 'x' differs between its elements 96 and 99"):
        checksummed.contents(tmp_path / "x", "mend it").load("x")


def test_a_file_that_is_not_finished_is_not_there(tmp_path):
    with (
        pytest.raises(RuntimeError, match="stop"),
        tensor_stream.writing(tmp_path / "x", "x", torch.int32, 100, {}) as append,
    ):
        append(torch.arange(10, dtype=torch.int32))
        raise RuntimeError("stop")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("times", [None, 0.0, 0.5])
def test_what_pauses_is_the_same_file(tmp_path, monkeypatch, times):
    """Written a piece at a time where others wait for the disk."""
    asked = []
    monkeypatch.setattr(past_cache, "STAGED", 1 << 14)
    monkeypatch.setattr(past_cache, "PIECE", 1 << 12)
    values = torch.arange(10_000)  # four times what is staged, and the rest
    with tensor_stream.writing(
        tmp_path / "a", "values", torch.int64, 10_000, {}, lambda: asked.append(1) or times
    ) as add:
        add(values[:3000])
        add(values[3000:])
    assert len(asked) == (4 if times is None else 16)
    with tensor_stream.writing(tmp_path / "b", "values", torch.int64, 10_000, {}) as add:
        add(values)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
