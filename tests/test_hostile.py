"""Public functions on tensors without sound memory and on graphs with wild entries: an answer or a TGraphError, never a
signal; see `hostile`."""

from pathlib import Path

import interpreters
import pytest
import torch

import tgraph as tg
from tgraph.core.building import memory
from tgraph.errors import ArgumentError

CODE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import hostile
hostile.main(*sys.argv[1:])
"""
COMMON = ("modularity", "label_propagation", "in_degree", "transpose")


def lines(*arguments):
    done = interpreters.run(CODE, *arguments)
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-2]) > 0
    return done.stdout.splitlines()


def test_common_functions_on_wild_graphs():
    assert not lines("graphs", 1, *COMMON)


def test_common_functions_on_hostile_tensors():
    assert not [line for line in lines("tensors", 1, "modularity") if "ended the process" in line]


@pytest.mark.thorough
def test_all_functions_on_wild_graphs():
    assert not lines("graphs", 1)


@pytest.mark.thorough
def test_no_tensor_ends_the_process():
    assert not [line for line in lines("tensors", 1) if "ended the process" in line]


# ---- what was written into ------------------------------------------------------------------------------------------


@pytest.fixture
def graph():
    return tg.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], num_vertices=5)


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.neighbors.__setitem__(2, 10**9),
        lambda graph: graph.neighbors.data.__setitem__(2, -5) or graph.neighbors.add_(0),
        lambda graph: graph.offset.__setitem__(2, 2**40),
        lambda graph: graph.neighbors.untyped_storage().resize_(0),
        lambda graph: graph.neighbors.set_(torch.zeros(1, dtype=torch.int32)),
        lambda graph: setattr(graph.neighbors, "data", torch.full((5,), 77, dtype=torch.int32)),
        lambda graph: graph.offset.resize_(3),
        lambda graph: graph.neighbors.resize_(10),
    ],
)
def test_rows_are_checked_again_once_they_changed(graph, change):
    tg.algorithms.scc(graph), tg.algorithms.pagerank(graph), tg.aggregate(graph, torch.rand(5))
    change(graph)
    for call in (tg.algorithms.scc, tg.algorithms.pagerank):
        with pytest.raises(ArgumentError, match=r"neighbors|offset"):
            call(graph)


def test_what_was_derived_before_a_write_is_dropped(graph):
    assert graph.in_degree.tolist() == [1, 1, 2, 1, 0]
    tg.algorithms.scc(graph)
    graph.neighbors[0] = 4
    tg.algorithms.scc(graph)
    assert graph.in_degree.tolist() == [1, 0, 2, 1, 1]


def test_a_transpose_that_was_written_into_is_an_error(graph):
    tg.aggregate(graph, torch.rand(5), "max")
    graph.transpose().neighbors[0] = 10**9
    with pytest.raises(ArgumentError, match="1000000000 at position 0"):
        tg.aggregate(graph, torch.rand(5), "max")


def test_inference_tensors_become_ones_with_a_version():
    with torch.inference_mode():
        graph = tg.Graph(torch.tensor([0, 1, 2]), torch.tensor([1, 0], dtype=torch.int32))
    assert not graph.neighbors.is_inference()
    graph.neighbors[0] = 9
    with pytest.raises(ArgumentError, match="9 at position 0"):
        tg.algorithms.scc(graph)


def test_a_finding_does_not_travel_with_copies(graph, tmp_path):
    tg.algorithms.scc(graph)
    torch.save(graph.neighbors, tmp_path / "neighbors.pt")
    loaded = torch.load(tmp_path / "neighbors.pt", weights_only=True)
    loaded[1] = 10**9
    with pytest.raises(ArgumentError, match="1000000000 at position 1"):
        tg.algorithms.scc(tg.Graph(graph.offset, loaded))


# ---- tensors that are not what they seem ----------------------------------------------------------------------------


def test_an_unwrapped_tensor_has_the_values():
    index = pytest.importorskip("torch_geometric").Index(torch.tensor([3, 1, 2]))
    assert type(memory.readable(index, "index")) is torch.Tensor and memory.readable(index, "index").tolist() == [
        3,
        1,
        2,
    ]
    assert memory.readable(torch._neg_view(torch.tensor([1.0])), "view").tolist() == [-1.0]


def test_edge_index_of_pyg():
    geometric = pytest.importorskip("torch_geometric")
    ring = torch.arange(6)
    edges = geometric.EdgeIndex(torch.stack([ring, (ring + 1) % 6]), sparse_size=(6, 6))
    graph = tg.Graph.from_edge_index(edges, num_nodes=6)
    assert type(graph.neighbors) is torch.Tensor
    assert tg.algorithms.bfs(graph, 0).tolist() == list(range(6))
    assert tg.algorithms.bfs(tg.Graph.from_edges(edges[0], edges[1]), 0).tolist() == list(range(6))


# ---- headers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.mtx", "x.graph", "x.gr"])
def test_numbers_of_thousands_of_digits(name, tmp_path):
    digits = "9" * 5000
    head = {"x.mtx": "%%MatrixMarket matrix coordinate pattern general\n", "x.graph": "", "x.gr": "p sp "}[name]
    (tmp_path / name).write_text(f"{head}{digits} 3 1\n1 1\n")
    with pytest.raises(tg.errors.FileFormatError, match="line"):
        tg.read(tmp_path / name)


def test_an_order_that_is_none(tmp_path):
    graph = tg.generators.path(3)
    for order in ([10**9, -5, 0], [0, 0, 1], [0, 1]):
        with pytest.raises(ArgumentError, match="order"):
            tg.Graph(graph.offset, graph.neighbors).with_order(torch.tensor(order))
