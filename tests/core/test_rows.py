"""Gathering rows and telling repeated indices apart, against lists."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from tgraph.core.rows import Scratch, gather_rows

DEGREES = st.lists(st.integers(0, 6), max_size=12)


@given(DEGREES, st.data(), st.sampled_from([torch.int32, torch.int64]), st.none() | st.integers(0, 5))
def test_gather_rows(degrees, data, dtype, width):
    offset = torch.tensor([0, *degrees]).cumsum(0)
    n = len(degrees)
    rows = data.draw(st.none() | st.lists(st.integers(0, n - 1), max_size=15) if n else st.sampled_from([None, []]))
    chosen = range(n) if rows is None else rows
    starts = offset.tolist()
    expected = [list(range(starts[v], starts[v + 1]))[:width] for v in chosen]
    flat = [position for row in expected for position in row]
    given_rows = None if rows is None else torch.tensor(rows, dtype=dtype)
    for num_arcs in (None, len(flat)):
        selected, positions = gather_rows(offset, given_rows, num_arcs=num_arcs, width=width)
        assert selected.tolist() == [sum(map(len, expected[:i])) for i in range(len(expected) + 1)]
        assert positions.tolist() == flat
        assert selected.dtype == positions.dtype == torch.int64


@given(st.lists(st.integers(0, 8), max_size=30))
def test_distinct(index):
    keep, slot = Scratch(9).distinct(torch.tensor(index, dtype=torch.int64))
    first = [i for i, value in enumerate(index) if value not in index[:i]]
    assert keep.nonzero().flatten().tolist() == first
    kept = [index[i] for i in first]
    assert [kept[place] for place in slot.tolist()] == index


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=30))
def test_first_marked(pairs):
    index, marked = [value for value, _ in pairs], [mark for _, mark in pairs]
    found = Scratch(9).first_marked(torch.tensor(index, dtype=torch.int64), torch.tensor(marked, dtype=torch.bool))
    expected = [mark and (value, True) not in pairs[:i] for i, (value, mark) in enumerate(pairs)]
    assert found.tolist() == expected
