"""Partitioned .tg files: written and read again, damaged, cut short, interrupted, and on a full disk."""

import errno
import os
import random

import interpreters
import pytest
import torch
from faults import killed
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from strategies import FLOATS, INTEGERS, graphs, random_graph
from streams import cliques

import tgraph as tg
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import atomic_write
from tgraph.stream.file import writing
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.container import Extent
from tgraph.stream.file.writing import BlockWriter, GraphInfo, cut, local_offset, resident_tensors, write_partitioned
from tgraph.stream.memory import PAGE, page_aligned
from tgraph.stream.partitioning.parts import Parts

LABELLED = Graph.from_edges([0, 1, 1, 3], [1, 0, 2, 3], [0.5, 1.5, 2.5, 3.5], vertices=["a", "b", "ü", ""])


def assert_same(found, expected):
    assert found.directed == expected.directed and torch.equal(found.offset, expected.offset)
    assert found.neighbors.dtype == expected.neighbors.dtype and torch.equal(found.neighbors, expected.neighbors)
    assert found.weight_dtype == expected.weight_dtype
    if expected.weights is not None:
        assert torch.equal(found.weights, expected.weights)
    assert (found.order is None) == (expected.order is None)
    assert found.order is None or torch.equal(found.order, expected.order)
    everything = torch.arange(expected.num_vertices)
    assert list(found.ids(everything)) == list(expected.ids(everything))
    assert (found.vertices is None) == (expected.vertices is None)


def assert_blocks_hold(file, section, graph):
    """The blocks of a section, put together, are the rows of the graph."""
    memory = page_aligned(max(extent.nbytes for extent in file.index))
    arcs = []
    bounds = file.bounds(section).tolist()
    for place, number in enumerate(file.blocks(section)):
        block = file.read(number, memory)
        assert (block.first_arc, block.first_arc + len(block.neighbors)) == tuple(bounds[place : place + 2])
        assert block.neighbors.dtype == file.neighbor_dtype
        assert block.offset.tolist()[:: len(block.offset) - 1 or 1][-1] == len(block.neighbors)
        rows = torch.arange(block.first_row, block.end_row).repeat_interleave(block.offset.diff())
        weights = [1] * len(rows) if block.weights is None else block.weights.tolist()
        arcs += zip(rows.tolist(), block.neighbors.tolist(), weights, strict=True)
    sources = torch.arange(graph.num_vertices).repeat_interleave(graph.offset.diff()).tolist()
    weights = [1] * graph.num_arcs if graph.weights is None else graph.weights.tolist()
    expected = list(zip(sources, graph.neighbors.tolist(), weights, strict=True))
    assert [arc[:2] for arc in arcs] == [arc[:2] for arc in expected]
    assert sorted(arcs) == sorted(expected)  # the transpose of a symmetric graph may order parallel arcs otherwise
    assert torch.equal(file.offset(section), graph.offset)


@st.composite
def bounds_of(draw, arcs):
    inner = draw(st.lists(st.integers(0, arcs), max_size=6))
    return torch.tensor([0, *sorted(inner), arcs])


@given(data=st.data())
def test_round_trip(tmp_path_factory, data):
    """Of every dtype, any bounds (empty blocks and split rows among them), order and ids."""
    graph = data.draw(graphs(dtypes=(None, *INTEGERS, *FLOATS)))
    n = graph.num_vertices
    names = data.draw(st.sampled_from([None, torch.arange(n) * 10, [f"v{v}" for v in range(n)]]))
    if names is not None and n:
        graph = Graph(graph.offset, graph.neighbors, graph.weights, names, graph.directed)
    order = data.draw(st.sampled_from([None, torch.randperm(n)]))
    parts = Parts(order, data.draw(bounds_of(graph.num_arcs)))
    reverse = Parts(order, data.draw(bounds_of(graph.num_arcs)))
    path = tmp_path_factory.mktemp("blocks") / "some.tg"
    write_partitioned(graph, path, parts, data.draw(st.sampled_from([None, reverse])))
    expected = parts.apply(graph)
    for direct in (None, False):
        with BlockFile(path, direct=direct) as file:
            assert_blocks_hold(file, "rows", expected)
            if graph.directed:
                assert_blocks_hold(file, "transpose", expected.transpose())
            assert_same(file.graph(), expected)
    assert_same(tg.read(path), expected)
    assert list(path.parent.iterdir()) == [path]


def test_wide_neighbors(tmp_path):
    """int64 neighbours, as 2**31 vertices would need them."""
    offset, neighbors = torch.tensor([0, 2, 3]), torch.tensor([0, 1, 1])
    facts = GraphInfo(2, 3, False, torch.int64, None)
    plan = cut(offset, torch.tensor([0, 1, 3]))
    resident = resident_tensors([offset], None, None)
    path = tmp_path / "wide.tg"
    with atomic_write.whole_file(path, writing.file_size([plan], resident, facts)) as file:
        writer = BlockWriter(file, facts)
        for stretch in plan:
            arcs = neighbors[stretch.first_arc : stretch.end_arc]
            writer.block(0, stretch, local_offset(offset, stretch), arcs, None)
        writer.finish(resident)
    with BlockFile(path) as file:
        assert_blocks_hold(file, "rows", Graph(offset, neighbors, directed=False))


def test_a_number_of_parts_splits_only_hubs(tmp_path):
    graph = random_graph(60, 900)
    write_partitioned(graph, tmp_path / "some.tg", 9)
    with BlockFile(tmp_path / "some.tg") as file:
        assert file.num_blocks == 18 and file.blocks("transpose") == range(9, 18)
        inside = set(file.bounds().tolist()) - set(graph.offset.tolist())
        assert inside and max(inside) < int(graph.offset[1])  # vertex 0 is the hub


def test_safetensors_reads_the_file(tmp_path):
    write_partitioned(LABELLED, tmp_path / "some.tg", 2)
    with safe_open(tmp_path / "some.tg", framework="pt") as file:
        assert torch.equal(file.get_tensor("rows.offset"), LABELLED.offset)
        index = [Extent(*entry) for entry in file.get_tensor("index").tolist()]
    assert all(extent.position % PAGE == 0 and extent.nbytes % PAGE == 0 for extent in index)


def test_read_takes_the_options_of_any_tg_file(tmp_path):
    path = tmp_path / "some.tg"
    write_partitioned(LABELLED, path, 2)
    assert tg.read(path, weights=False).weights is None
    with pytest.raises(ArgumentError):
        tg.read(path, directed=False)  # its arcs do not mirror each other
    write_partitioned(LABELLED.to_undirected(), path, 2)
    assert tg.read(path, directed=True).directed


@pytest.mark.parametrize(
    ("parts", "transpose_parts", "named"),
    [
        (0, None, "parts"),
        ("two", None, "parts"),
        (Parts(None, torch.tensor([0, 9])), None, "graph"),
        (2, 0, "parts"),
        (2, Parts(None, torch.tensor([0, 9])), "transpose_parts"),
        (2, Parts(torch.tensor([1, 0, 2, 3]), torch.tensor([0, 4])), "transpose_parts"),
    ],
)
def test_parts_that_do_not_fit(tmp_path, parts, transpose_parts, named):
    with pytest.raises(ArgumentError, match=named):
        write_partitioned(LABELLED, tmp_path / "some.tg", parts, transpose_parts)
    assert not list(tmp_path.iterdir())


def test_damaged_tensors_are_not_written(tmp_path):
    wrong = Graph(torch.tensor([0, 1, 2]), torch.tensor([1, 7], dtype=torch.int32), directed=False)
    with pytest.raises(ArgumentError, match="neighbors: 7"):
        write_partitioned(wrong, tmp_path / "some.tg", 1)
    assert not list(tmp_path.iterdir())


def test_buffers_and_numbers_are_checked(tmp_path):
    write_partitioned(LABELLED, tmp_path / "some.tg", 1)
    with BlockFile(tmp_path / "some.tg") as file:
        for memory in (page_aligned(100), page_aligned(2 * PAGE)[1:], torch.empty(PAGE)):
            with pytest.raises(ArgumentError, match=r"memory: .*page_aligned"):
                file.read(0, memory)
        for number in (-1, 2):
            with pytest.raises(ArgumentError, match="block: "):
                file.read(number, page_aligned(PAGE))
        with pytest.raises(ArgumentError, match="section: "):
            file.blocks("columns")


def test_a_file_without_blocks_is_named(tmp_path):
    tg.write(random_graph(500, 2000), tmp_path / "plain.tg")
    with pytest.raises(FileFormatError, match=r"plain.tg: the file is not partitioned.*tgraph.read"):
        BlockFile(tmp_path / "plain.tg")


def test_import_tgraph_alone_reads_and_verifies_partitioned_files(tmp_path):
    """`tgraph.io` reads such files by a reader that `tgraph.stream` registers when imported."""
    path = tmp_path / "some.tg"
    write_partitioned(random_graph(50, 200), path, 2)
    code = "import sys, tgraph; print(tgraph.verify(sys.argv[1]), tgraph.read(sys.argv[1]).num_arcs)"
    ran = interpreters.run(code, path)
    assert ran.stdout.split() == [str(path.stat().st_size), "200"]


# ---- damage ---------------------------------------------------------------------------------------------------------


def read_all(path):
    """Every byte of the file through its checks; what it returns is never computed on when one fails."""
    with BlockFile(path) as file:
        memory = page_aligned(max(extent.nbytes for extent in file.index))
        for number in range(file.num_blocks):
            file.read(number, memory)
        for section in file.sections:
            file.offset(section)
        return file.order, file.vertices


def write_sample(path, layout):
    """A file of four parts, one of them empty, whose blocks are as they are, or compressed."""
    if layout is None:
        graph = Graph.from_edges(
            *torch.randint(0, 900, (2, 9000)), torch.rand(9000), vertices=[f"v{v}" for v in range(900)]
        )
    else:
        graph = cliques(40, 15, directed=True, extra=2000)
    bounds = torch.tensor([0, 2000, 2000, 5001, graph.num_arcs])
    write_partitioned(graph, path, Parts(torch.randperm(graph.num_vertices), bounds), layout=layout)
    return path


@pytest.fixture(params=[None, "virtual"])
def sample(request, tmp_path):
    return write_sample(tmp_path / "sample.tg", request.param)


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(50))
def test_a_flipped_bit_is_named(sample, seed):
    chance = random.Random(seed)
    data = bytearray(sample.read_bytes())
    place = chance.randrange(len(data) if seed % 5 else PAGE)
    data[place] ^= 1 << chance.randrange(8)
    sample.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"sample\.tg: .*(again|upgrade|partition)"):
        read_all(sample)


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(20))
def test_a_truncated_file_is_named(sample, seed):
    size = sample.stat().st_size
    os.truncate(sample, random.Random(seed).choice([0, 7, PAGE, size - 1, random.Random(seed).randrange(size)]))
    for read in (read_all, tg.read):
        with pytest.raises(FileFormatError, match=r"sample\.tg: .*(again|damaged)"):
            read(sample)


@pytest.mark.fault
@pytest.mark.parametrize("direct", [None, False])
def test_damage_names_section_and_block(sample, direct):
    with BlockFile(sample, direct=direct) as file:
        extent = file.index[6]
        memory = page_aligned(extent.nbytes)
        with open(sample, "r+b") as raw:
            raw.seek(extent.position + 5)
            raw.write(b"x")
        with pytest.raises(FileFormatError, match=r"block 6 \(section 'transpose'\) is damaged.*again"):
            file.read(6, memory)
        file.read(5, memory)
        os.truncate(sample, extent.position + 100)
        with pytest.raises(FileFormatError, match=r"block 6 \(section 'transpose'\) is truncated: 100 of"):
            file.read(6, memory)


# ---- interruption ---------------------------------------------------------------------------------------------------

REWRITING = """
from tgraph.core.graph import Graph
from tgraph.stream.file.writing import write_partitioned
src, dst = torch.randint(0, 20000, (2, 300_000), generator=torch.Generator().manual_seed(1))
graph = Graph.from_edges(src, dst, num_vertices=20000)
graph.transpose()

def work():
    while True:
        write_partitioned(graph, sys.argv[1], 16)
"""


def kill_while_writing(path, waits):
    """Kill processes that write the file over and over: it is whole all the time, and in the end nothing else is
    there."""
    write_partitioned(LABELLED, path, 2)
    kills = 0
    for was_killed in killed(REWRITING, [path], waits):
        read_all(path)
        kills += was_killed
    assert kills == len(waits)
    write_partitioned(LABELLED, path, 2)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.fault
def test_kill_leaves_a_whole_file(tmp_path):
    kill_while_writing(tmp_path / "some.tg", [0.002, 0.05, 0.3])


@pytest.mark.fault
@pytest.mark.soak
def test_kill_at_20_moments(tmp_path):
    chance = random.Random(0)
    kill_while_writing(tmp_path / "some.tg", [chance.uniform(0, 0.3) for _ in range(20)])


@pytest.mark.fault
def test_a_failure_keeps_the_file_that_was_there(tmp_path, monkeypatch):
    path = tmp_path / "some.tg"
    write_partitioned(LABELLED, path, 2)
    before = path.read_bytes()

    def no_room(file, nbytes):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic_write, "reserve", no_room)
    size = len(before)
    with pytest.raises(OSError, match=rf"{size} bytes are needed, \d+ are free.*some\.tg") as caught:
        write_partitioned(LABELLED, path, 2)
    assert caught.value.errno == errno.ENOSPC and caught.value.filename == os.fspath(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.fault
def test_a_disk_that_is_full(mounted):
    path = mounted("256k") / "some.tg"
    write_partitioned(LABELLED, path, 2)
    with pytest.raises(OSError, match=r"bytes are needed, \d+ are free") as caught:
        write_partitioned(random_graph(3000, 90_000), path, 2)
    assert caught.value.errno == errno.ENOSPC
    assert list(path.parent.iterdir()) == [path]
    assert_same(tg.read(path), LABELLED)
