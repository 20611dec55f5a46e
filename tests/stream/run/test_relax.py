"""Relaxations over blocks: in which order blocks are visited, when they are left, and how many are loaded."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Any, graphs, grid, random_graph
from streams import loads, streamed

import tgraph as tg
from tgraph.core.dispatch import is_available
from tgraph.errors import FileFormatError
from tgraph.stream.file import writing
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.writing import write_partitioned
from tgraph.stream.memory import page_aligned
from tgraph.stream.partitioning.cuts import partition
from tgraph.stream.run import fixpoint
from tgraph.stream.run.host import HostBlocks

al = tg.algorithms


class LeastLabel(tg.Relaxation):
    """Components by relaxation: the smallest index, in the graph that was partitioned, that reaches a vertex."""

    reduce, edge = "min", "copy"

    def init(self, graph):
        first = torch.arange(graph.num_vertices) if graph.order is None else graph.order
        return first.clone(), graph.everything()


@pytest.fixture
def cautious(monkeypatch):
    """Every block is left as soon as something better waits elsewhere."""
    monkeypatch.setattr(fixpoint, "SHARE", 0)
    monkeypatch.setattr(fixpoint, "LEAST", 1)


def jumbled(rows, columns, weights=None):
    """A grid whose vertices are numbered at random."""
    graph = grid(rows, columns, weights)
    return graph.permute(torch.randperm(graph.num_vertices, generator=torch.Generator().manual_seed(1)))


def parted(graph, method, blocks, buffers):
    """The graph in parts by a method, with memory for some of them."""
    parts = partition(graph, blocks, method)
    held = parts.apply(graph)
    return streamed(held, source=HostBlocks(held, parts.bounds), buffers=buffers)


def in_given_order(graph, values):
    """Values of the partitioned graph for the vertices as they were before."""
    return values if graph.order is None else torch.empty_like(values).scatter_(0, graph.order, values)


def changes(program, graph):
    """How often values improved in a run."""
    return sum(each.changed_vertices for each in tg.run(program, graph, trace=True).trace.iterations)


# ---- loads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("buffers", [1, 4])
def test_components_by_relaxation_load_half_as_many_well_connected_blocks(buffers):
    graph = jumbled(50, 50)
    needed = {}
    for method in ("ebp", "wcp"):
        held = parted(graph, method, 16, buffers)
        labels = tg.run(LeastLabel(), held).values
        assert torch.equal(in_given_order(held, labels), al.wcc(graph))
        needed[method] = loads(held)
    assert needed["wcp"] <= needed["ebp"] / 2
    assert needed["wcp"] <= 3 * 16


@pytest.mark.parametrize("buffers", [1, 2])
def test_a_flood_enters_each_strip_of_a_grid_twice_at_most(buffers):
    held = streamed(grid(64, 32), 16, buffers)  # strips of 4 rows, vertex 0 in the first
    tg.run(LeastLabel(), held)
    assert loads(held) <= 2 * 16
    held = streamed(grid(64, 32), 16, buffers)
    al.bfs(held, 0)
    assert loads(held) <= 2 * 16


def test_a_split_row_calls_no_block_back_to_what_it_has_sent_itself():
    spokes = torch.arange(1, 400)
    star = tg.Graph.from_edges(torch.zeros_like(spokes), spokes, num_vertices=400)
    held = streamed(star, 8, 8)
    al.bfs(held, 0)
    assert held.layout.counts.visits == 8


# ---- blocks that are left early -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("cautious")
@settings(max_examples=min(30, settings().max_examples))
@given(
    graph=graphs(min_vertices=1, dtypes=(torch.int64, torch.int32, torch.float32, torch.float64), lowest=0),
    blocks=st.sampled_from([2, 7, 64]),
    buffers=st.integers(1, 3),
    semiring=st.sampled_from([("min", "copy"), ("max", "copy"), ("min", "add"), ("max", "min"), ("min", "max")]),
    weight=st.sampled_from([None, 1, 3]),
)
def test_blocks_may_be_left_at_any_time(graph, blocks, buffers, semiring, weight):
    values = torch.arange(graph.num_vertices).to(graph.weight_dtype)
    program = Any(*semiring, values, weight=weight)
    assert torch.equal(tg.run(program, streamed(graph, blocks, buffers)).values, tg.run(program, graph).values)


def test_what_is_far_is_not_sent_in_vain(monkeypatch):
    graph = jumbled(30, 30, torch.float64)
    eager = changes(al.SSSP(0), streamed(graph, 8, 8))
    monkeypatch.setattr(fixpoint, "SHARE", 0)
    monkeypatch.setattr(fixpoint, "LEAST", 1)
    held = streamed(graph, 8, 8)
    if is_available("native"):
        assert changes(al.SSSP(0), held) < eager / 2
    torch.testing.assert_close(al.sssp(held, 0), al.sssp(graph, 0))


# ---- contents of a file ----------------------------------------------------------------------------------------------


def test_neighbours_that_are_no_vertices_are_found_before_anything_follows_them(tmp_path, monkeypatch):
    graph = random_graph(100, 800, directed=False)
    monkeypatch.setattr(writing.validate, "check_entries", lambda *section: None)
    for number, wrong in enumerate((-1, 100, 2**31 - 1)):
        graph.neighbors[number - 3] = wrong
        path = tmp_path / f"{number}.tg"
        write_partitioned(graph, path, 4)
        for algorithm in (al.wcc, al.pagerank, lambda held: al.bfs(held, 0)):
            with pytest.raises(FileFormatError, match=rf"{number}\.tg.*block 3.*neighbors: -?\d+ at position"):
                algorithm(tg.open(path, memory="100kB"))


def test_offsets_that_fall_are_found(tmp_path):
    graph = random_graph(50, 400, directed=False)
    path = tmp_path / "graph.tg"

    class Careless(writing.BlockWriter):
        def block(self, section, stretch, offset, neighbors, weights):
            offset = offset.clone()
            offset[3] = offset[-1] + 1
            super().block(section, stretch, offset, neighbors, weights)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "BlockWriter", Careless)
        write_partitioned(graph, path, 2)
    with BlockFile(path) as file, pytest.raises(FileFormatError, match=r"block 0.*decreases after position 3"):
        file.read(0, page_aligned(file.index[0].nbytes))


# ---- the range of weights -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.int32, torch.float64, torch.float16])
@pytest.mark.parametrize("directed", [True, False])
def test_a_file_stores_the_range_of_its_weights(tmp_path, dtype, directed):
    graph = random_graph(60, 500, directed=directed, dtype=dtype)
    path = tmp_path / "graph.tg"
    write_partitioned(graph, path, 4)
    for is_told in (True, False):
        held = tg.open(path, memory="200kB")
        if not is_told:
            del held.layout.source._notes["weights"]  # as in files of earlier versions
        assert held.weight_range == graph.weight_range
        assert held.mean_weight == pytest.approx(graph.mean_weight)
        assert (held.layout.counts.visits == 0) == is_told


def test_nan_weights_are_recorded(tmp_path):
    weights = torch.tensor([1.0, torch.nan, 3.0, -torch.inf])
    write_partitioned(tg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights), tmp_path / "graph.tg", 4)
    smallest, largest = tg.open(tmp_path / "graph.tg", memory="100kB").weight_range
    assert smallest != smallest
    assert largest != largest


def test_a_file_without_weights_has_no_range(tmp_path):
    for number, graph in enumerate((grid(3, 3), tg.Graph.from_edges([], [], torch.tensor([])))):
        write_partitioned(graph, tmp_path / f"{number}.tg", 2)
        assert tg.open(tmp_path / f"{number}.tg", memory="100kB").weight_range == (1, 1)
