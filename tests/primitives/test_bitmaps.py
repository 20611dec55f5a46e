"""Bitmaps of vertices, and steps of a search between them, beside masks."""

from unittest import mock

import pytest
import torch
from backends import native as compiled
from backends import portable
from hypothesis import given
from hypothesis import strategies as st

import tgraph as tg
from tgraph.core.system import devices, native
from tgraph.primitives import bitmaps

KINDS = [portable, pytest.param(compiled, marks=pytest.mark.skipif(native.load() is None, reason="no kernels"))]


def mask(draw, size):
    """A random mask, of about a tenth, half, or all."""
    share = draw(st.sampled_from([0.02, 0.5, 1.0]))
    return torch.rand(size, generator=torch.Generator().manual_seed(draw(st.integers(0, 99)))) < share


@st.composite
def rows(draw):
    """(a directed graph of up to 300 vertices, a generator)"""
    n, m = draw(st.integers(1, 300)), draw(st.integers(0, 900))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    src, dst = torch.randint(n, (2, m), generator=generator)
    return tg.Graph.from_edges(src, dst, num_vertices=n, directed=True)


@given(size=st.integers(0, 300), data=st.data())
def test_there_and_back(size, data):
    chosen = mask(data.draw, size)
    bits = bitmaps.pack(chosen)
    assert len(bits) == len(bitmaps.empty(size)) and not len(bits) % 8
    assert torch.equal(bitmaps.unpack(bits, size), chosen)
    assert torch.equal(bitmaps.of_ids(chosen.nonzero().flatten(), size), bits)
    with mock.patch.object(devices, "kind", return_value="cuda"):  # where numpy does not reach
        assert torch.equal(bitmaps.pack(chosen), bits)
        assert torch.equal(bitmaps.unpack(bits, size), chosen)
        assert torch.equal(bitmaps.unpack(bits, size + 80)[size:], torch.zeros(80, dtype=torch.bool))


@pytest.mark.parametrize("kind", KINDS)
@given(graph=rows(), data=st.data())
def test_steps(kind, graph, data):
    n = graph.num_vertices
    front, wanted, before = (mask(data.draw, n) for _ in range(3))
    wanted &= graph.out_degree > 0
    dense = torch.zeros(n, n)
    dense[torch.arange(n).repeat_interleave(graph.offset.diff()), graph.neighbors.long()] = 1
    reached = bitmaps.empty(n)
    kind.pull_bits(graph.offset, graph.neighbors, bitmaps.pack(front), bitmaps.pack(wanted), reached)
    assert torch.equal(bitmaps.unpack(reached, n), (dense @ front.float() > 0) & wanted)
    reached = bitmaps.pack(before)
    kind.push_bits(graph.offset, graph.neighbors, bitmaps.pack(front), reached)
    assert torch.equal(bitmaps.unpack(reached, n), (front.float() @ dense > 0) | before)
    assert not bitmaps.unpack(reached, 8 * len(reached))[n:].any()


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_bits_that_move(kind, data):
    size, length = data.draw(st.integers(1, 300)), data.draw(st.integers(0, 300))
    held, into = mask(data.draw, size), mask(data.draw, size)
    places = torch.randint(size, (length,), generator=torch.Generator().manual_seed(data.draw(st.integers(0, 99))))
    chosen = bitmaps.empty(length)
    kind.choose_bits(bitmaps.pack(held), places, chosen)
    assert torch.equal(bitmaps.unpack(chosen, length), held[places])
    marks, out = mask(data.draw, length), bitmaps.pack(into)
    kind.spread_bits(bitmaps.pack(marks), places, out)
    wanted = into.clone()
    wanted[places[marks]] = True
    assert torch.equal(out, bitmaps.pack(wanted))
    begin, first = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
    count, out = data.draw(st.integers(0, size - max(begin, first))), bitmaps.pack(into)
    kind.move_bits(bitmaps.pack(held), begin, count, out, first)
    wanted = into.clone()
    wanted[first : first + count] |= held[begin : begin + count]
    assert torch.equal(out, bitmaps.pack(wanted))
    numbers = torch.arange(size) * 3
    assert kind.measure_bits(bitmaps.pack(held), numbers) == (int(held.sum()), int(numbers[held].sum()))
    assert kind.measure_bits(bitmaps.pack(held))[0] == int(held.sum())
    for dtype in (torch.int32, torch.int64, torch.float32, torch.float64):
        values = torch.arange(size, dtype=dtype)
        kind.fill_bits(bitmaps.pack(held), values, 7)
        assert torch.equal(values, torch.arange(size, dtype=dtype).masked_fill(held, 7))
    assert torch.equal(kind.list_bits(bitmaps.pack(held)), held.nonzero().flatten())


@pytest.mark.skipif(native.load() is None, reason="no kernels")
def test_too_little_memory():
    graph = tg.Graph.from_edges([0, 1], [1, 2], num_vertices=3)
    bits = bitmaps.pack(torch.ones(100, dtype=torch.bool))
    for call in (
        lambda: compiled.push_bits(graph.offset, graph.neighbors, bits, bitmaps.empty(3)),
        lambda: compiled.pull_bits(graph.offset, graph.neighbors, bits, bits, bitmaps.empty(100)),
        lambda: compiled.pull_bits(graph.offset, graph.neighbors, bits, bitmaps.empty(3), bitmaps.empty(0)),
        lambda: compiled.choose_bits(bits, torch.arange(100), bitmaps.empty(3)),
        lambda: compiled.spread_bits(bitmaps.empty(3), torch.arange(100), bits),
        lambda: compiled.move_bits(bits, 100, 100, bits, 0),
        lambda: compiled.measure_bits(bits, torch.arange(3)),
        lambda: compiled.fill_bits(bits, torch.arange(3), 1),
    ):
        with pytest.raises(ValueError, match=r"expected|fewer"):
            call()
