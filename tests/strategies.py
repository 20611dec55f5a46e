"""Random graphs for hypothesis, the same graph for networkx, and slow references that share no code with tgraph."""

from __future__ import annotations

import contextlib
import itertools
import math
import operator

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import strategies as st

import tgraph as tg
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError

MODES = ("auto", "push", "pull")
BACKENDS = ("auto", "portable")
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@st.composite
def edge_lists(draw, min_vertices=0):
    """(n, [(u, v), ...]) with self-loops, parallel edges, isolated vertices, hubs and long paths."""
    shape = draw(st.sampled_from(["any", "any", "hub", "path"]))
    n = draw(st.integers(min_vertices, 9 if shape == "any" else 24))
    if n == 0:
        return 0, []
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=25 if shape == "any" else 5))
    if shape == "hub":
        hub = draw(vertex)
        edges += [(hub, v) if draw(st.booleans()) else (v, hub) for v in range(n) if draw(st.integers(0, 3))]
    if shape == "path":
        order = draw(st.permutations(range(n)))
        edges += list(itertools.pairwise(order))
    return n, edges


def exact_weights(draw, count, dtype, lowest=0, highest=9):
    """Weights whose sums over a few arcs are exact in every dtype: whole numbers, or quarters where floating."""
    values = draw(st.lists(st.integers(lowest, highest), min_size=count, max_size=count))
    weights = torch.tensor(values, dtype=torch.int64)
    return (weights / 4).to(dtype) if dtype.is_floating_point else weights.to(dtype)


@st.composite
def graphs(draw, min_vertices=0, directed=None, dtypes=(None,), lowest=0, highest=9):
    """A Graph whose weights are of one of the dtypes; None means no weights."""
    n, edges = draw(edge_lists(min_vertices))
    dtype = draw(st.sampled_from(dtypes))
    return Graph.from_edges(
        torch.tensor([u for u, _ in edges], dtype=torch.int64),
        torch.tensor([v for _, v in edges], dtype=torch.int64),
        None if dtype is None else exact_weights(draw, len(edges), dtype, lowest, highest),
        num_vertices=n,
        directed=draw(st.booleans()) if directed is None else directed,
    )


def random_graph(n, m, seed=0, *, directed=True, dtype=None):
    """A seeded graph with self-loops and parallel edges; its last vertex is isolated, its first is a hub."""
    random = torch.Generator().manual_seed(seed)
    src, dst = torch.randint(max(n - 1, 1), (2, m), generator=random).unbind()
    src[: m // 4] = 0
    dst[m // 4 : m // 3] = 0
    weights = None if dtype is None else torch.randint(1, 10, (m,), generator=random).to(dtype)
    return Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed)


def grid(rows, columns, weights=None):
    """An undirected grid: a long way across, and a frontier that is never more than a diagonal."""
    number = torch.arange(rows * columns).view(rows, columns)
    src = torch.cat((number[:, :-1].flatten(), number[:-1].flatten()))
    dst = torch.cat((number[:, 1:].flatten(), number[1:].flatten()))
    if weights is not None:
        weights = torch.randint(1, 50, (len(src),), generator=torch.Generator().manual_seed(1)).to(weights)
    return Graph.from_edges(src, dst, weights, directed=False)


def arcs(graph):
    """The arcs as [(u, v, weight)] in stored order; the weight is 1 where there are none."""
    offset, neighbors = graph.offset.tolist(), graph.neighbors.tolist()
    weights = [1] * len(neighbors) if graph.weights is None else graph.weights.tolist()
    source = [v for v in range(graph.num_vertices) for _ in range(offset[v], offset[v + 1])]
    return list(zip(source, neighbors, weights, strict=True))


def dense(graph, weighted):
    """The adjacency matrix, whose entries add up parallel arcs, each of them 1 unless `weighted`."""
    matrix = np.zeros((graph.num_vertices, graph.num_vertices))
    for u, v, weight in arcs(graph):
        matrix[u, v] += weight if weighted else 1
    return matrix


def twin(graph):
    """The arcs as a networkx MultiDiGraph, both arcs of an undirected edge; the weight is 1 where there are none."""
    G = nx.MultiDiGraph()
    G.add_nodes_from(range(graph.num_vertices))
    G.add_weighted_edges_from(arcs(graph))
    return G


def least_members(groups, num_vertices):
    """The smallest vertex of the group of each vertex."""
    label = [0] * num_vertices
    for members in groups:
        for vertex in members:
            label[vertex] = min(members)
    return label


def components(graph):
    """The smallest vertex of the component of each vertex, by networkx."""
    return least_members(nx.weakly_connected_components(twin(graph)), graph.num_vertices)


EDGE = {
    "copy": lambda value, weight: value,
    "add": operator.add,
    "mul": operator.mul,
    "min": min,
    "max": max,
}


def relaxed(graph, values, reduce, edge, weights):
    """The fixpoint of a relaxation by trying every arc again and again; what holds the identity sends nothing.

    `values` are Python numbers with None for "not reached", `weights` one number per stored arc.
    """
    values = list(values)
    better = operator.lt if reduce == "min" else operator.gt
    for _ in range(graph.num_vertices + 1):
        before = list(values)
        for (u, v, _), weight in zip(arcs(graph), weights, strict=True):
            if values[u] is not None:
                message = EDGE[edge](values[u], weight)
                if values[v] is None or better(message, values[v]):
                    values[v] = message
        if values == before:
            return values
    raise AssertionError("the reference does not converge: choose other weights")


def close(found, expected, tolerance=1e-9):
    """True where all numbers agree within a tolerance that is relative, and absolute below one."""
    found, expected = list(found), list(expected)
    return len(found) == len(expected) and all(
        math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in zip(found, expected, strict=True)
    )


def simple_twin(graph, directed=False):
    """The graph in networkx without self-loops, parallel edges and, unless `directed`, directions."""
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(range(graph.num_vertices))
    G.add_edges_from((u, v) for u, v, _ in arcs(graph) if u != v)
    return G


def random_data(shape, dtype, seed=0):
    """Small numbers: floats between 0.5 and 1.5, bools, or integers that are negative where the dtype allows."""
    random = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return (torch.rand(shape, generator=random) + 0.5).to(dtype)
    if dtype == torch.bool:
        return torch.randint(2, shape, generator=random).bool()
    return torch.randint(0 if dtype == torch.uint8 else -3, 5, shape, generator=random).to(dtype)


@contextlib.contextmanager
def thread_count(count):
    """So many threads for torch and the kernels, which take more than one for graphs of some 100,000 arcs."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def on_threads(function):
    """The results of a function with one, two, three and five threads for torch and the kernels."""
    results = []
    for count in (1, 2, 3, 5):
        with thread_count(count):
            results.append(function())
    return results


def same_on_threads(function):
    """The tensor that a function gives, which any number of threads gives to the bit."""
    one, *others = on_threads(function)
    assert all(torch.equal(one, other) for other in others), "the number of threads changes a bit"
    return one


class Any(tg.Relaxation):
    """A relaxation of any semiring: from given values, from all vertices or those that `active` selects."""

    def __init__(self, reduce, edge, values=None, weight=None, active=None, delta=None, rounds=None):
        self.reduce, self.edge, self.values, self.weight, self.active = reduce, edge, values, weight, active
        self.delta, self.rounds = delta, rounds

    def init(self, graph):
        return self.values.clone(), graph.everything() if self.active is None else graph.select(self.active)

    def to(self, device):
        """The same with its tensors on a device."""
        moved = (part.to(device) if isinstance(part, torch.Tensor) else part for part in vars(self).values())
        return type(self)(**dict(zip(vars(self), moved, strict=True)))


def networkx_of(graph):
    """The graph for networkx, directed or not, its parallel edges and weights kept; simple where it has no parallel
    ones."""
    parallel = graph.num_parallel_edges
    kinds = (nx.MultiDiGraph, nx.MultiGraph) if parallel else (nx.DiGraph, nx.Graph)
    G = kinds[not graph.directed]()
    G.add_nodes_from(range(graph.num_vertices))
    G.add_weighted_edges_from((u, v, w) for u, v, w in arcs(graph) if graph.directed or u <= v)
    return G


def merged_twin(graph, combine, weighted=True):
    """A simple graph for networkx, directed or not, whose edges weigh what `combine` makes of the weights of parallel
    ones, or of a 1 for each."""
    found = {}
    for u, v, weight in arcs(graph):
        if graph.directed or u <= v:
            found.setdefault((u, v), []).append(weight if weighted else 1)
    G = nx.DiGraph() if graph.directed else nx.Graph()
    G.add_nodes_from(range(graph.num_vertices))
    G.add_weighted_edges_from((u, v, combine(each)) for (u, v), each in found.items())
    return G


def refused(match, function, *given, error=ArgumentError, **options):
    """A call raises an error whose message matches."""
    with pytest.raises(error, match=match):
        function(*given, **options)


def refused_naming(words, function, *given, **options):
    """A call raises an ArgumentError that has all of the words."""
    with pytest.raises(ArgumentError) as caught:
        function(*given, **options)
    for word in words:
        assert word in str(caught.value), caught.value
