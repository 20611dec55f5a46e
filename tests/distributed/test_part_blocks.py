"""Blocks of a part: where they are cut, and that what is read is what was written."""

import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tgraph.core.rows import offset_of
from tgraph.distributed.streaming import blocks
from tgraph.distributed.streaming.blocks import PartBlocks
from tgraph.errors import FileFormatError
from tgraph.stream.file.writing import cut
from tgraph.stream.memory import PAGE, page_aligned

degrees = st.lists(st.one_of(st.just(0), st.integers(0, 30), st.integers(1000, 5000)), max_size=300)


@settings(max_examples=settings().max_examples, deadline=None)
@given(degrees, st.sampled_from([4, 8, 12]), st.sampled_from([PAGE, 3 * PAGE]))
def test_blocks_are_no_larger_than_asked_and_split_long_rows_alone(degree, arc_bytes, nbytes):
    degree = torch.tensor(degree, dtype=torch.int64)
    offset = offset_of(degree)
    bounds = blocks.bounds(offset, arc_bytes, nbytes)
    assert int(bounds[0]) == 0 and int(bounds[-1]) == int(offset[-1]) and bool((bounds.diff() > 0).all())
    for block in cut(offset, bounds):
        rows, arcs = block.end_row - block.first_row, block.end_arc - block.first_arc
        assert 8 * (rows + 1) + arc_bytes * arcs + 128 <= nbytes
    ends_within = ~torch.isin(bounds, offset)
    row = torch.searchsorted(offset, bounds[ends_within], right=True) - 1
    assert bool((degree[row] * arc_bytes > nbytes // 32).all())


def written(path, weighted=True) -> tuple[PartBlocks, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A file with a side, (its offsets, neighbors, weights), which it got in uneven pieces."""
    offset = offset_of(torch.tensor([3, 0, 5000, 2, 700, 700, 0]))
    neighbors = torch.arange(int(offset[-1]))
    weights = neighbors.float() / 2
    file = PartBlocks(str(path / "graph.tg"), torch.int32, torch.float32)
    writer = file.add("rows, inside", offset, PAGE)
    for begin in range(0, len(neighbors), 1111):
        writer.add(neighbors[begin : begin + 1111], weights[begin : begin + 1111])
    assert writer.statistics.summary()[:2] == (0, float(weights[-1]))
    return file, offset, neighbors, weights


@pytest.mark.parametrize("cached", [False, True])
def test_what_is_read_is_what_was_written(tmp_path, monkeypatch, cached):
    if cached:  # as where the system lets nobody read past the page cache
        monkeypatch.setattr(blocks, "without_name", lambda folder: -1)
    file, offset, neighbors, weights = written(tmp_path)
    assert not cached or not file.direct
    assert os.listdir(tmp_path) == [] and len(file.index) > 10
    memory, end = page_aligned(PAGE), 0
    for number in file.blocks("rows, inside"):
        block = file.read(number, memory)
        assert block.first_arc == end
        rows = offset[block.first_row : block.end_row + 1]
        end += len(block.neighbors)
        assert torch.equal(block.offset, rows.clamp(block.first_arc, end) - block.first_arc)
        assert torch.equal(block.neighbors.long(), neighbors[block.first_arc : end])
        assert torch.equal(block.weights, weights[block.first_arc : end])
    assert end == len(neighbors)
    file.close()


def test_damaged_blocks_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "without_name", lambda folder: -1)
    file, *_ = written(tmp_path)
    os.pwrite(file._file, b"x", file.index[2].position + 100)
    memory = page_aligned(PAGE)
    file.read(1, memory)
    with pytest.raises(FileFormatError, match="block 2 "):
        file.read(2, memory)
    file.close()


def test_a_full_disk_is_told_with_the_bytes_that_it_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    with pytest.raises(OSError, match=r"\d+ bytes are needed, \d+ are free"):
        written(tmp_path)
