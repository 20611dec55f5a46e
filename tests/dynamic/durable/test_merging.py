"""Runs and arcs that are merged block by block, against all at once."""

import pytest
import torch

from tgraph.dynamic.durable import merging
from tgraph.dynamic.runs import Run, Schema, deleting_run, merged, no_arcs, sorted_run


def runs_of(schema, count, size, generator):
    """Runs that insert and delete arcs, most of them of few vertices."""
    for number in range(count):
        src, dst = (torch.rand(2, size, generator=generator) ** 3 * 40).long()
        data = [torch.randint(100, (size,), generator=generator).to(dtype) for dtype in schema.columns.values()]
        yield deleting_run(schema, src, dst, True) if number % 3 == 2 else sorted_run(schema, src, dst, data, True)


@pytest.mark.parametrize("size", [1, 7, 60, 1000])
@pytest.mark.parametrize("parallel", ["last", "sum", "keep"])
def test_blocks_together_are_what_is_merged_at_once(parallel, size):
    schema, generator = (
        Schema(parallel, {"weights": torch.int64, "kind": torch.int8}),
        torch.Generator().manual_seed(size),
    )
    base = no_arcs(schema).changed(schema, list(runs_of(schema, 2, 90, generator)), 40)
    runs = list(runs_of(schema, 5, 50, generator))
    expected = merged(schema, runs)
    blocks = list(merging.merged_blocks(schema, runs, size))
    assert torch.equal(torch.cat([block.changes for block in blocks]), expected.changes)
    there = (expected.changes & 1).bool()
    for column, parts in zip(expected.data, zip(*(block.data for block in blocks), strict=True), strict=True):
        assert torch.equal(torch.cat(parts)[there], column[there])
    whole = base.changed(schema, runs, 45)
    parts = list(merging.spliced_blocks(schema, base, runs, 45, size))
    assert sum(len(part.offset) - 1 for part in parts) == 45
    assert torch.equal(torch.cat([part.offset.diff() for part in parts]), whole.offset.diff())
    assert torch.equal(torch.cat([part.neighbors for part in parts]), whole.neighbors)
    for column, pieces in zip(whole.data, zip(*(part.data for part in parts), strict=True), strict=True):
        assert torch.equal(torch.cat(pieces), column)
    if size == 7:
        assert len(blocks) > 5 and len(parts) > 5


def test_blocks_are_of_about_the_size_that_is_asked_for():
    schema = Schema("last", {})
    runs = [Run(torch.arange(1000) << 32 | number << 1 | 1, (), 1000) for number in range(8)]
    blocks = list(merging.merged_blocks(schema, runs, 400))
    assert max(block.size for block in blocks) <= 800 and sum(block.size for block in blocks) == 8000
    assert len(blocks) < 60
