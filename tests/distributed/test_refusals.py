"""Every public function on small graphs that are spread over ranks: all of these end alike, and in time."""

import functools
import inspect
import time

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks

import tgraph as tg
from tgraph.distributed import Sharded, spread
from tgraph.errors import ArgumentError, RankError, TGraphError

# Of each: ends, the number of vertices, whether they are directed.
GRAPHS = {
    "one vertex": ([], [], 1, False),
    "fewer vertices than ranks": ([0], [1], 2, False),
    "one arc, one owner": ([0], [1], 4, True),
    "no arcs": ([], [], 40, True),
    "no arcs, undirected": ([], [], 40, False),
    "loops": ([0, 1, 1], [0, 1, 2], 3, False),
    "a path": ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], 6, False),
    "no vertices": ([], [], 0, True),
}
SKIPPED = {"power_law_fit", "power_law_p_value", "as_undirected"}  # which take no graph
# What functions are given for arguments without a default, by the names of these.
GIVEN = {
    "pairs": lambda n: torch.zeros(1, 2, dtype=torch.int64),
    "values": lambda n: torch.arange(n),
    "scores": lambda n: torch.arange(n),
    "categories": lambda n: torch.zeros(n, dtype=torch.int64),
    "community": lambda n: torch.zeros(n, dtype=torch.int64),
    "communities": lambda n: torch.zeros(n, dtype=torch.int64),
    "group": lambda n: torch.zeros(n, dtype=torch.int64),
    "partition": lambda n: torch.zeros(n, dtype=torch.int64),
    "heuristic": lambda n: torch.zeros(n),
    "mate": lambda n: torch.full((n,), -1),
    "alpha": lambda n: 0.01,
    "potential": lambda n: torch.zeros(n),
}


def functions():
    """{name: a function of a graph} of `tg.algorithms`, and what else is computed of graphs."""
    found = {}
    for name in tg.algorithms.__all__:
        function = getattr(tg.algorithms, name)
        if inspect.isfunction(function) and name not in SKIPPED:
            found[name] = functools.partial(called, function)
    found |= {
        "aggregate whole": lambda graph: tg.aggregate(graph, torch.arange(float(graph.num_vertices)), "sum"),
        "aggregate own": lambda graph: tg.aggregate(graph, torch.ones(graph.layout.ownership.num_own, 2), "max"),
        "aggregate with gradient": lambda graph: tg.aggregate(
            graph, torch.ones(graph.layout.ownership.num_own, 2, requires_grad=True), "sum"
        ),
        "aggregate wrong": lambda graph: tg.aggregate(graph, torch.ones(graph.num_vertices + 1)),
        "degrees": lambda graph: graph.out_degree + graph.in_degree,
        "validate": lambda graph: graph.validate(),
        "to_undirected": lambda graph: graph.to_undirected(),
        "to_scipy": lambda graph: graph.to_scipy(),
        "write": lambda graph: tg.write(graph, "never.tg"),
        "draw": lambda graph: tg.draw(graph, "never.svg"),
        "report": lambda graph: tg.report(graph),
        "sampler": lambda graph: tg.sampling.NeighborSampler(graph, [2]).sample([0]),
        "layer": lambda graph: tg.nn.GCNConv(2, 3)(torch.ones(graph.layout.ownership.num_own, 2), graph),
        "repr": lambda graph: len(repr(graph)) > 0,
    }
    return found


def called(function, graph):
    """The function, with something for each argument that it needs."""
    parameters = list(inspect.signature(function).parameters.values())
    needed = [
        each.name for each in parameters[1:] if each.default is each.empty and each.kind <= each.POSITIONAL_OR_KEYWORD
    ]
    given = [GIVEN.get(name, lambda n: 0)(graph.num_vertices) if name != "other" else graph for name in needed]
    found = function(graph, *given)
    return next(found, None) if inspect.isgenerator(found) else found


def kind(value):
    """The part of an outcome in which all ranks have to agree."""
    if isinstance(value, (tuple, list)):
        return [kind(each) for each in value[:5]]
    if isinstance(value, torch.Tensor):
        return ["Sharded" if isinstance(value, Sharded) else "Tensor", str(value.dtype), value.dim()]
    return type(value).__name__


def outcome(function, graph):
    try:
        return kind(function(graph))
    except Exception as fault:
        return [type(fault).__name__, isinstance(fault, TGraphError), str(fault).partition("\n")[0]]


def outcomes(name, chosen):
    """Of the functions of these names on a graph, by name, and the longest of them in seconds."""
    src, dst, n, directed = GRAPHS[name]
    weights = torch.ones(len(src))
    graph = tg.Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    parts, known, found, longest = spread(graph), functions(), {}, 0.0
    for each in chosen:
        begun = time.monotonic()
        found[each] = outcome(known[each], parts)
        longest = max(longest, time.monotonic() - begun)
        if not dist.is_initialized():
            break
    return found, longest


def compared(ranks, name, chosen, timeout=120):
    """The functions in which ranks end in other ways, or by an error that is none of tgraph."""
    told = on_ranks(ranks, outcomes, name, chosen, timeout=timeout)
    faults = {}
    for place, each in enumerate(chosen):
        ends = [found.get(each, "not run") for found, _ in told]
        if ends[0] == "not run":
            return faults | compared(ranks, name, chosen[place:], timeout)
        raw = isinstance(ends[0], list) and len(ends[0]) == 3 and ends[0][1] is False
        if any(end != ends[0] for end in ends) or raw or (ends[0] and "aten" in str(ends[0])):
            faults[each] = ends
    return faults


SOME = [
    "dominating_set", "greedy_color", "bfs", "pagerank", "betweenness", "is_dag", "degree_centrality", "wcc",
    "k_hop", "semi_synchronous_label_propagation", "aggregate whole", "aggregate own", "aggregate with gradient",
    "aggregate wrong",
]  # fmt: skip


@pytest.mark.parametrize("name", ["one arc, one owner", "no arcs"])
def test_some_functions_end_alike_on_all_ranks(name):
    assert compared(3, name, SOME) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_all_functions_end_alike_on_all_ranks(ranks, name):
    assert compared(ranks, name, list(functions())) == {}


def ends_of_one_that_fails(which):
    """The error of each rank, and after how many seconds, where one is given what it refuses."""
    graph = spread(tg.generators.cycle(12))
    wrong = dist.get_rank() == 1
    begun = time.monotonic()
    try:
        if which == "aggregate":
            tg.aggregate(graph, torch.ones(13 if wrong else 12))
        elif which == "bfs":
            tg.algorithms.bfs(graph, 12 if wrong else 0)
        elif which == "k_hop":
            tg.algorithms.k_hop(graph, 12 if wrong else 0, 2)
        elif which == "degree_centrality":
            tg.algorithms.degree_centrality(*([] if wrong else [graph]), **({"graph": graph, "x": 1} if wrong else {}))
        elif which == "operators":
            tg.aggregate(graph, graph.out_degree, "sum" if not wrong else "none")
    except Exception as fault:
        return type(fault).__name__, time.monotonic() - begun
    return None, time.monotonic() - begun


@pytest.mark.parametrize(
    "which",
    [
        "aggregate",
        *(pytest.param(w, marks=pytest.mark.thorough) for w in ("k_hop", "bfs", "degree_centrality", "operators")),
    ],
)
def test_what_one_rank_refuses_ends_the_others_at_once(which):
    first, second = on_ranks(2, ends_of_one_that_fails, which, timeout=60)
    known = "ArgumentError" if which == "bfs" else RankError.__name__  # of programs that differ, before they begin
    assert second[0] in ("ArgumentError", "TypeError", "UnknownVertexError") and first[0] == known
    assert issubclass(ArgumentError, TGraphError)


def test_a_group_without_a_launcher_is_a_rank_error(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RankError, match="RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT: not in the environment"):
        tg.distributed.init_process_group()
    told = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    for change in ({}, {"RANK": "x"}, {"MASTER_PORT": "x"}, {"WORLD_SIZE": ""}):
        for name, value in (told | change).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(RankError, match="did not meet within 1 s by RANK="):
            tg.distributed.init_process_group(timeout=1)
