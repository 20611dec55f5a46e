"""Rows in Elias-Fano code: their size, what kernels and torch make of them, and what happens to damaged ones."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graph

import tgraph as tg
from tgraph.core.dispatch import BACKENDS
from tgraph.core.rows import offset_of
from tgraph.core.system import native
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.formats.elias_fano import EliasFano


def backends():
    """The implementations of the code that there are."""
    return [BACKENDS[name].operators for name in ("portable", "native") if name == "portable" or native.load()]


@given(graph=graphs(), draw=st.data())
def test_kernels_and_torch_write_and_read_the_same(graph, draw):
    n = graph.num_vertices
    rows = torch.tensor(draw.draw(st.lists(st.integers(0, n - 1), max_size=9)) if n else [], dtype=torch.int64)
    offset = offset_of(graph.offset.diff()[rows])
    wanted = torch.cat([graph.neighbors[:0], *(graph.neighbors[graph.offset[i] : graph.offset[i + 1]] for i in rows)])
    codes = [each["encode_ascending"].run(graph.offset, graph.neighbors, n) for each in backends()]
    for start, bits in codes:
        assert torch.equal(start, codes[0][0]) and torch.equal(bits, codes[0][1])
        for each in backends():
            assert torch.equal(each["decode_ascending"].run(bits, start, rows, offset, n), wanted)


def test_numbers_beyond_32_bits():
    size, neighbors = 2**40, torch.tensor([0, 2**33, 2**33, 2**40 - 1, 5])
    offset = torch.tensor([0, 0, 4, 5])
    for each in backends():
        start, bits = each["encode_ascending"].run(offset, neighbors, size)
        rows = torch.tensor([2, 1, 0])
        found = each["decode_ascending"].run(bits, start, rows, torch.tensor([0, 1, 5, 5]), size)
        assert found.tolist() == [5, 0, 2**33, 2**33, 2**40 - 1]


def test_bytes():
    """At most log2(n / d) + 2 bits an arc, and a byte begun in each row."""
    graph = tg.generators.rmat(12)
    degree = graph.offset.diff()[graph.offset.diff() > 0].double()
    most = (degree * ((graph.num_vertices / degree).log2() + 2) / 8).sum() + len(degree)
    layout = graph.to_format("elias_fano").layout
    assert layout.bits.nbytes <= most + 8
    assert layout.nbytes < 0.6 * graph.to_format("dcsr").layout.nbytes
    assert layout.nbytes == layout.bits.nbytes + 8 * (graph.num_vertices + 1)


def test_rows_that_do_not_ascend_are_refused():
    offset, neighbors = torch.tensor([0, 2, 2, 4, 7]), torch.tensor([1, 3, 0, 2, 1, 3, 2], dtype=torch.int32)
    for each in backends():
        with pytest.raises(ArgumentError, match="neighbors: those of row 3 do not ascend"):
            each["encode_ascending"].run(offset, neighbors, 4)
    with pytest.raises(ArgumentError, match="bits: no option"):
        random_graph(9, 20).to_format("elias_fano", bits=3)


def test_damaged_bits_are_refused_or_some_other_rows():
    graph = random_graph(60, 500)
    layout, rows = EliasFano.from_graph(graph), torch.arange(60)
    refused = 0
    for place in range(len(layout.bits)):
        for wrong in (0, 255):
            bits = layout.bits.clone()
            bits[place] = wrong
            damaged = EliasFano.from_tensors({**layout.tensors(), "bits": bits}, layout.options())
            try:
                offset, neighbors, _ = damaged.rows(rows)
            except ArgumentError as error:
                assert "is not in Elias-Fano code" in str(error)
                refused += 1
                continue
            assert torch.equal(offset, graph.offset) and int(neighbors.min()) >= 0 and int(neighbors.max()) < 60
    assert refused > len(layout.bits) / 2


def test_damaged_tensors_of_other_sizes_are_refused():
    layout = EliasFano.from_graph(random_graph(40, 300, dtype=torch.float32))
    tensors, options = layout.tensors(), layout.options()
    falling = tensors["start"].clone()
    falling[7] = falling[8] + 1
    for changed, message in (
        ({"start": falling}, "start: expected .41. bytes"),
        ({"start": tensors["start"][:-1]}, "start: expected .41. bytes"),
        ({"bits": tensors["bits"][:-1]}, "bits: expected"),
        ({"bits": tensors["bits"].int()}, "bits: expected uint8"),
        ({"offset": tensors["offset"][:-1]}, "offset: expected"),
        ({"weights": tensors["weights"][:-1]}, "weights"),
    ):
        with pytest.raises(ArgumentError, match=message):
            EliasFano.from_tensors({**tensors, **changed}, options)


def test_batches_are_drawn_from_a_mapped_file(tmp_path):
    graph = tg.generators.rmat(10)
    tg.write(graph.to_format("elias_fano"), tmp_path / "graph.tg")
    stored = tg.read(tmp_path / "graph.tg")
    assert stored.layout.name == "elias_fano" and torch.equal(stored.to_csr().neighbors, graph.neighbors)
    own, other = (
        tg.sampling.NeighborSampler(each, [5, 3], seed=3).sample(torch.arange(99)) for each in (graph, stored)
    )
    assert torch.equal(own.node, other.node) and torch.equal(own.row, other.row) and torch.equal(own.col, other.col)
    with open(tmp_path / "graph.tg", "r+b") as file:
        file.seek(-100, 2)
        file.write(b"damage")
    with pytest.raises(FileFormatError):
        tg.read(tmp_path / "graph.tg")
