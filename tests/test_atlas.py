"""Every graph of up to seven vertices (Read and Wilson, "An Atlas of Graphs", 1998), as it is and with arcs oriented.

The 1253 graphs are laid side by side in one graph for each kind, and each is searched from one of its vertices, so
that a run of milliseconds covers them all.
"""

import functools
import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from strategies import BACKENDS, MODES, arcs, close

import tgraph as tg

KINDS = ("undirected", "acyclic", "mixed")


@functools.cache
def atlas():
    return nx.graph_atlas_g()


def oriented(edges, kind):
    """The edges as they are, all towards the larger vertex, or a mix of forward, backward and both."""
    for u, v in edges:
        turn = (3 * u + 5 * v) % 4
        if kind != "mixed" or turn != 1:
            yield u, v
        if kind == "mixed" and turn in (1, 2):
            yield v, u


@functools.cache
def graphs(kind):
    """Each graph by itself: (networkx graph, tgraph graph)."""
    found = []
    for G in atlas():
        own = nx.Graph() if kind == "undirected" else nx.DiGraph()
        own.add_nodes_from(G)
        own.add_edges_from((u, v, {"weight": 1 + (7 * u + 11 * v + u * v) % 9}) for u, v in oriented(G.edges(), kind))
        ends = torch.tensor(list(own.edges()), dtype=torch.int64).reshape(-1, 2)
        weights = torch.tensor([weight for _, _, weight in own.edges(data="weight")], dtype=torch.int64)
        directed = kind != "undirected"
        graph = tg.Graph.from_edges(ends[:, 0], ends[:, 1], weights, num_vertices=len(own), directed=directed)
        found.append((own, graph))
    return found


@functools.cache
def union(kind, dtype=torch.int64):
    """(graph, first vertex of each): all of them side by side."""
    sizes = [graph.num_vertices for _, graph in graphs(kind)]
    starts = [0, *itertools.accumulate(sizes)]
    rows = [
        (u + start, v + start, w) for (_, g), start in zip(graphs(kind), starts, strict=False) for u, v, w in arcs(g)
    ]
    src, dst, weights = torch.tensor(rows).unbind(1)
    graph = tg.Graph.from_edges(src, dst, weights.to(dtype), num_vertices=starts[-1])
    return tg.Graph(graph.offset, graph.neighbors, graph.weights, directed=kind != "undirected").validate(), starts


def rooted(kind, at, dtype=torch.int64):
    """(graph, roots, starts): the union and one more vertex; an arc of weight 1 leads from that to a vertex of each."""
    graph, starts = union(kind, dtype)
    roots = [start + at % (end - start) for start, end in itertools.pairwise(starts) if end > start]
    src = torch.cat(
        (torch.arange(starts[-1]).repeat_interleave(graph.out_degree), torch.full((len(roots),), starts[-1]))
    )
    dst = torch.cat((graph.neighbors.long(), torch.tensor(roots)))
    weights = torch.cat((graph.weights, torch.ones(len(roots), dtype=dtype)))
    return tg.Graph.from_edges(src, dst, weights, num_vertices=starts[-1] + 1), roots, starts


def test_there_are_1253_graphs():
    assert len(atlas()) == 1253 and atlas()[0].number_of_nodes() == 0
    for kind in KINDS:
        graph, starts = union(kind)
        assert starts[-1] == graph.num_vertices == sum(map(len, atlas())) and graph.directed == (kind != "undirected")


@pytest.mark.covering(1)
@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("kind", KINDS)
def test_bfs(kind, at):
    graph, roots, starts = rooted(kind, at)
    depth, parent = [-1] * starts[-1], [-1] * starts[-1]
    pieces = [(G, start) for (G, _), start in zip(graphs(kind), starts, strict=False) if len(G)]
    for (G, start), root in zip(pieces, roots, strict=True):
        hops = nx.single_source_shortest_path_length(G, root - start)
        for v, hop in hops.items():
            nearer = [u for u in (G.predecessors(v) if G.is_directed() else G[v]) if hops.get(u) == hop - 1]
            depth[start + v], parent[start + v] = hop + 1, start + min(nearer) if nearer else starts[-1]
    for mode in MODES:
        found = tg.algorithms.bfs(graph, starts[-1], parents=True, mode=mode)
        assert found[0].tolist() == [*depth, 0]
        assert found[1].tolist() == [*parent, starts[-1]]


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_sssp(kind, dtype):
    for at in (0, 3, 6):
        graph, roots, starts = rooted(kind, at, dtype)
        dist = [float("inf") if dtype.is_floating_point else -1] * starts[-1]
        pieces = [(G, start) for (G, _), start in zip(graphs(kind), starts, strict=False) if len(G)]
        for (G, start), root in zip(pieces, roots, strict=True):
            for v, length in nx.single_source_dijkstra_path_length(G, root - start).items():
                dist[start + v] = 1 + length
        for mode, delta in itertools.product(MODES, (None, 2)):
            assert tg.algorithms.sssp(graph, starts[-1], mode=mode, delta=delta).tolist() == [*dist, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_wcc(kind):
    graph, starts = union(kind)
    label = [0] * starts[-1]
    for (G, _), start in zip(graphs(kind), starts, strict=False):
        for members in nx.weakly_connected_components(G) if G.is_directed() else nx.connected_components(G):
            for v in members:
                label[start + v] = start + min(members)
    for backend in BACKENDS:
        assert tg.algorithms.wcc(graph, backend=backend).tolist() == label


@pytest.mark.parametrize(
    "kind", ["mixed", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in KINDS if kind != "mixed")]
)
def test_every_graph_by_itself(kind):
    for G, graph in graphs(kind):
        if len(G):
            source = len(G) // 2
            hops = nx.single_source_shortest_path_length(G, source)
            assert tg.algorithms.bfs(graph, source).tolist() == [hops.get(v, -1) for v in G]
        found = tg.algorithms.wcc(graph)
        components = nx.weakly_connected_components(G) if G.is_directed() else nx.connected_components(G)
        assert sorted(map(min, components)) == found.unique().tolist()


@pytest.mark.covering(1)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_pagerank(kind, weighted):
    options = {"weighted": weighted, "dtype": torch.float64, "max_iterations": 1000}
    name = "weight" if weighted else None
    graph, _ = union(kind)
    G = nx.disjoint_union_all([G for G, _ in graphs(kind)])
    expected = list(nx.pagerank(G, weight=name, tol=1e-17, max_iter=1000).values())
    for mode in MODES:
        found = tg.algorithms.pagerank(graph, tol=1e-14, mode=mode, **options)
        assert np.abs(found.numpy() - expected).max() < 1e-13 and abs(float(found.sum()) - 1) < 1e-12
    for G, graph in graphs(kind)[1::24]:
        expected = nx.pagerank(G, weight=name, tol=1e-15, max_iter=1000).values()
        assert close(tg.algorithms.pagerank(graph, tol=1e-13, **options).tolist(), expected, 1e-11)


@pytest.mark.covering(1)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_hits(kind, weighted):
    """Rounds of a dense power iteration, which are defined for every graph; and networkx where the limit is unique."""
    unique = 0
    for number, (G, graph) in enumerate(graphs(kind)[1::12]):
        matrix = nx.to_numpy_array(G, weight="weight" if weighted else None)
        hub = authority = np.full(len(G), 1 / len(G))
        for _ in range(7):
            authority = matrix.T @ hub / max((matrix.T @ hub).sum(), 1e-300)
            hub = matrix @ authority / max((matrix @ authority).sum(), 1e-300)
        options = {"weighted": weighted, "dtype": torch.float64, "backend": BACKENDS[number % 2]}
        found = tg.algorithms.hits(graph, tol=None, max_iterations=7, **options)
        assert close(found[0].tolist(), hub) and close(found[1].tolist(), authority)
        values = np.linalg.svd(matrix, compute_uv=False)
        if not weighted and len(values) > 1 and values[1] < 0.8 * values[0]:  # networkx ignores weights here
            unique += 1
            expected = nx.hits(nx.Graph(G.edges) if kind == "undirected" else nx.DiGraph(G.edges))
            limit = tg.algorithms.hits(graph, tol=1e-13, **options)
            for score, reference in zip(limit, expected, strict=True):
                assert close(score.tolist(), [reference.get(v, 0) for v in G], 1e-8)
    assert weighted or unique > 25
