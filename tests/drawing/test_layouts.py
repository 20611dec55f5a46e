"""Layouts put vertices where their methods say: neighbours near, layers below each other, the same for a seed."""

import networkx as nx
import pytest
import torch
from strategies import refused

import tgraph as tg
from tgraph.drawing.pivots import embedded
from tgraph.errors import ArgumentError

place = tg.drawing
FORCES = [place.forceatlas2, place.spring]


def edge_length(graph, positions) -> float:
    """The mean length of edges over that of all pairs."""
    src = torch.repeat_interleave(graph.out_degree)
    edges = (positions[src] - positions[graph.neighbors.long()]).norm(dim=1).mean()
    return float(edges / torch.pdist(positions).mean())


@pytest.mark.parametrize("layout", FORCES)
def test_forces_put_neighbours_near(layout):
    graph = tg.generators.grid2d(12, 12)
    positions = layout(graph)
    assert positions.dtype == torch.float64 and positions.isfinite().all()
    assert edge_length(graph, positions) < 0.25
    assert layout(graph).equal(positions) and not layout(graph, seed=1).equal(positions)


@pytest.mark.parametrize("layout", FORCES)
def test_forces_pull_communities_apart(layout):
    graph = tg.generators.stochastic_block_model([40, 40], [[0.4, 0.01], [0.01, 0.4]], 2)
    positions = layout(graph)
    centre = positions[:40].mean(0), positions[40:].mean(0)
    spread = max(float((positions[:40] - centre[0]).norm(dim=1).mean()), 1e-9)
    assert float((centre[0] - centre[1]).norm()) > 1.2 * spread


@pytest.mark.parametrize("layout", [*FORCES, place.spectral, place.circular])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_small_graphs_and_isolated_vertices(layout, n):
    for graph in (tg.generators.path(n), tg.generators.erdos_renyi(n, 0)):
        positions = layout(graph)
        assert positions.shape == (n, 2) and positions.isfinite().all()


def distance(positions) -> float:
    """The distance of the two nearest vertices over that of the two farthest."""
    pairs = torch.pdist(positions)
    return float(pairs.min() / pairs.max())


@pytest.mark.parametrize("layout", [*FORCES, place.spectral, place.circular])
def test_both_ends_of_an_edge_are_seen(layout):
    assert distance(layout(tg.generators.path(2))) == 1


@pytest.mark.parametrize("layout", [*FORCES, embedded])
def test_no_two_vertices_lie_on_one_point(layout):
    """Of all graphs of up to 5 vertices, and pairs beside a path and isolated vertices."""
    graphs = [tg.from_networkx(G) for G in nx.graph_atlas_g()[3:53]]
    pairs = [tg.Graph.from_edges([0, 2, 4], [1, 3, 5], num_vertices=n, directed=False) for n in (6, 38)]
    for graph in [*graphs, *pairs, tg.Graph.from_edges([0, 1, 3], [1, 2, 4], directed=False)]:
        positions = layout(graph, seed=0) if layout is embedded else layout(graph, iterations=10)
        assert distance(positions) > 1e-3


def test_heavy_edges_are_short():
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], torch.tensor([10.0, 1, 1]), directed=False)
    positions = place.forceatlas2(graph, weighted=True, iterations=300)
    length = [float((positions[u] - positions[v]).norm()) for u, v in ((0, 1), (1, 2), (2, 0))]
    assert length[0] < 0.6 * min(length[1:])
    with pytest.raises(ArgumentError, match="no weights"):
        place.spring(tg.generators.path(3), weighted=True)


@pytest.mark.parametrize("options", [{"linlog": True}, {"strong_gravity": True}, {"theta": 0.5}])
def test_options_of_forceatlas2(options):
    graph = tg.generators.grid2d(8, 8, weighted=True)
    usual, other = place.forceatlas2(graph), place.forceatlas2(graph, **options)
    assert edge_length(graph, other) < 0.35 and not other.equal(usual)


def test_forces_go_on_from_positions():
    graph = tg.generators.cycle(20)
    start = place.circular(graph) * 50
    for layout in FORCES:
        moved = layout(graph, positions=start, iterations=1)
        assert 0 < float((moved - start).norm(dim=1).max()) < 60
        assert layout(graph, positions=start, iterations=0).equal(start)
        with pytest.raises(ArgumentError, match=r"positions: expected \[20, 2\]"):
            layout(graph, positions=start[:3])


def test_circular():
    positions = place.circular(tg.generators.cycle(8), order=torch.arange(7, -1, -1))
    torch.testing.assert_close(positions.norm(dim=1), torch.ones(8).double())
    torch.testing.assert_close(positions[7], torch.tensor([1.0, 0]).double())


def test_spectral_is_that_of_the_laplacian():
    graph = tg.generators.grid2d(9, 5)
    matrix = torch.from_numpy(nx.normalized_laplacian_matrix(nx.grid_2d_graph(9, 5)).toarray())
    vectors = torch.linalg.eigh(matrix).eigenvectors[:, 1:3] / graph.out_degree.double().sqrt()[:, None]
    found = place.spectral(graph)
    for column in range(2):
        true = vectors[:, column] / vectors[:, column].abs().max()
        difference = min(float((found[:, column] - true * sign).abs().max()) for sign in (1, -1))
        assert difference < 1e-3


def test_layers_are_longest_paths():
    key = tg.random.key(3)
    ends = tg.random.below(key, torch.arange(160), 40).reshape(2, 80)
    src, dst = ends.amin(0), ends.amax(0)
    graph = tg.Graph.from_edges(src, dst, num_vertices=40, self_loops="drop")
    positions = place.layered(graph)
    reference = nx.DiGraph([(u, v) for u, v in zip(src.tolist(), dst.tolist(), strict=True) if u != v])
    reference.add_nodes_from(range(40))
    for depth, layer in enumerate(nx.topological_generations(reference)):
        assert all(float(positions[v, 1]) == -depth for v in layer)
        assert len({float(positions[v, 0]) for v in layer}) == len(layer)


def test_layers_need_directions_without_cycles():
    refused("undirected", place.layered, tg.generators.path(3))
    refused("vertex 1 is on a cycle", place.layered, tg.Graph.from_edges([0, 1, 2], [1, 2, 1]))
