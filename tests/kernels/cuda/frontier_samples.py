"""What the tests of the frontier kernels share: subgraphs, and graphs of extreme shapes."""

import torch
from strategies import grid, random_graph

import tgraph as tg


def star(n, outwards):
    """One vertex with an arc to or from each other: a row longer than a tile, and a single frontier that is a hub."""
    hub, others = torch.zeros(n - 1, dtype=torch.int64), torch.arange(1, n)
    return tg.Graph.from_edges(*((hub, others) if outwards else (others, hub)), num_vertices=n)


def awkward_graphs():
    """Empty ones, a single vertex with and without a loop, multi-edges, hubs longer than every border, a long path."""
    none = torch.empty(0, dtype=torch.int64)
    loop = torch.zeros(3, dtype=torch.int64)
    return {
        "empty": tg.Graph.from_edges(none, none, num_vertices=0),
        "one": tg.Graph.from_edges(none, none, num_vertices=1),
        "loops": tg.Graph.from_edges(loop, loop, num_vertices=1),
        "isolated": tg.Graph.from_edges(none, none, num_vertices=300),
        "random": random_graph(301, 1500, 1),
        "undirected": random_graph(257, 900, 2, directed=False),
        "hub": random_graph(40, 9000, 3),
        "out-star": star(2600, outwards=True),
        "in-star": star(2600, outwards=False),
        "grid": grid(5, 13),
    }


def with_index(graph, dtype):
    """The same graph with neighbours of that dtype."""
    return tg.Graph(graph.offset, graph.neighbors.to(dtype), graph.weights, directed=graph.directed)


def subgraph(graph, active, mode):
    """The arcs of a round, as the engine holds them."""
    return tg.Program().tensorize(graph, active, mode)
