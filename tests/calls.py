"""Every public function that takes a graph, with the arguments that it needs."""

import inspect

import torch
from public_interface import PUBLIC

import tgraph as tg

N = 12

# Arguments by the names of parameters that have no default.
GIVEN = {
    **{"source": 0, "target": 3, "left": None, "k": 3, "length": 4, "count": 3, "dimensions": 2, "vertex": 1},
    **{"vertices": torch.tensor([0, 1, 2]), "start": torch.tensor([0, 1]), "pairs": torch.tensor([[0, 1], [1, 2]])},
    **{"labels": torch.arange(N) % 3, "communities": torch.arange(N) % 3, "values": torch.arange(N) + 1.0},
    **{
        "states": torch.arange(N) / N,
        "heuristic": torch.zeros(N),
        "method": "rcm",
        "order": torch.arange(N).flip(0),
        "ids": [0, 1],
    },
    **{"index": torch.tensor([0, 1]), "name": "sell", "position": 0, "device": "cpu"},
}

OTHER = {True: lambda graph: tg.Graph(graph.offset, graph.neighbors, vertices=torch.arange(N) + 100)}
OTHER[False] = lambda graph: graph.transpose()


def graphs():
    """Graphs, one of which each function takes."""
    source = torch.Generator().manual_seed(3)
    ends = torch.randint(0, N, (2, 40), generator=source)
    for directed in (False, True):
        weights = torch.rand(40, generator=source) + 0.5
        yield tg.Graph.from_edges(*ends, weights, num_vertices=N, directed=directed, multi="first", self_loops="drop")
    yield tg.Graph.from_edges(*ends.sort(0).values, num_vertices=N, multi="first", self_loops="drop")
    yield tg.Graph.from_edges(torch.arange(N - 1), torch.arange(1, N), num_vertices=N, directed=False)
    yield tg.Graph.from_edges(torch.arange(N - 1), torch.arange(1, N), torch.ones(N - 1), num_vertices=N)


def arguments(function, graph):
    """(positional, named) that a function needs beside the graph."""
    named = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        if needed and parameter.kind is not parameter.VAR_POSITIONAL:
            value = OTHER[function.__name__ == "union"](graph) if name == "other" else GIVEN[name]
            named[name] = value.clone() if isinstance(value, torch.Tensor) else value
        elif name == "seed":
            named[name] = 1
    return named


FUNCTIONS = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isfunction(value) and name.startswith(("tgraph.algorithms.", "tgraph.drawing.", "tgraph.Graph."))
    if next(iter(inspect.signature(value).parameters), "") in ("graph", "self")
    if name.count(".") == 2 or name.startswith("tgraph.Graph.")
}
