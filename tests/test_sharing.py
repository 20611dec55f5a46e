"""Results are their caller's: to write into it changes no graph, no argument and no later result. Every
public function that takes a graph is called, and so is every member of a graph."""

import dataclasses
import inspect

import numpy as np
import pytest
import torch
from public_interface import PUBLIC
from test_smoke import N, arguments, graphs

import tgraph as tg
from tgraph import stores

# The tensors of a graph itself, which is immutable: `docs/model.md`, "Whose memory".
VIEWS = {"Graph.offset", "Graph.neighbors", "Graph.weights", "Graph.vertices", "Graph.order", "Graph.row_offset"}
VIEWS |= {
    "Graph.as_vertices",
    "Graph.selection",
    "Graph.kept",
    "Graph.of_storage",
    "Graph.restore",
    "Graph.with_order",
    "Graph.with_columns_of",
    "Graph.frame",
}


def held(tree):
    """All tensors and arrays of a result."""
    if isinstance(tree, (torch.Tensor, np.ndarray)):
        yield tree
    elif isinstance(tree, dict):
        for each in tree.values():
            yield from held(each)
    elif isinstance(tree, (list, tuple)):
        for each in tree:
            yield from held(each)
    elif hasattr(tree, "indptr"):
        yield from (tree.data, tree.indices, tree.indptr)
    elif dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        for field in dataclasses.fields(tree):
            yield from held(getattr(tree, field.name))


def copies(tree):
    return [each.clone() if isinstance(each, torch.Tensor) else each.copy() for each in held(tree)]


def write(tree):
    """Write into every tensor of a result."""
    for each in held(tree):
        if isinstance(each, torch.Tensor) and each.numel():
            each.logical_not_() if each.dtype == torch.bool else each.fill_(113)
        elif isinstance(each, np.ndarray) and each.size and each.flags.writeable and each.dtype != object:
            each[...] = 113 if each.dtype != bool else ~each


def same(one, other):
    return len(one) == len(other) and all(
        torch.equal(a.nan_to_num() if a.is_floating_point() else a, b.nan_to_num() if b.is_floating_point() else b)
        if isinstance(a, torch.Tensor)
        else np.array_equal(a, b)
        for a, b in zip(one, other, strict=True)
    )


def state_of(graph):
    """The graph, and what follows from its tensors."""
    own = [each for each in (graph.offset, graph.neighbors, graph.weights, graph.vertices) if each is not None]
    return copies([*own, graph.out_degree, graph.in_degree, graph.transpose().neighbors, graph.transpose_permutation])


def check(call, graph, given):
    """Call twice, with writes into the first result between."""
    before, tensors = state_of(graph), [each for each in given.values() if isinstance(each, torch.Tensor)]
    kept = copies(tensors)
    result = call()
    assert same(copies(tensors), kept), "an argument was written to"
    expected = copies(result)
    write(result)
    assert same(copies(tensors), kept), "a result shares memory with an argument"
    assert same(state_of(graph), before), "a result shares memory with the graph"
    assert same(copies(call()), expected), "a result shares memory with something that is kept"


FUNCTIONS = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isfunction(value) and name.startswith(("tgraph.algorithms.", "tgraph.drawing.", "tgraph.Graph."))
    if next(iter(inspect.signature(value).parameters), "") in ("graph", "self")
    if name.count(".") == 2 or name.startswith("tgraph.Graph.")
}
PROPERTIES = [
    name for name, value in PUBLIC.items() if name.startswith("tgraph.Graph.") and isinstance(value, property)
]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.removeprefix("tgraph.") not in VIEWS])
def test_results_of_functions(name):
    function, refusals = FUNCTIONS[name], []
    if name in ("tgraph.drawing.draw", "tgraph.Graph.drop_caches"):
        pytest.skip("returns nothing")
    if name == "tgraph.Graph.to_igraph":
        pytest.importorskip("igraph", reason="igraph is not installed")
    for graph in graphs():
        given = arguments(function, graph)
        try:
            function(graph, **given)
        except (tg.errors.TGraphError, ValueError) as error:
            refusals.append(str(error))
            continue
        return check(lambda graph=graph, given=given: function(graph, **given), graph, given)
    raise AssertionError(f"no graph will do: {refusals}")


@pytest.mark.parametrize("name", [name for name in PROPERTIES if name.removeprefix("tgraph.") not in VIEWS])
def test_what_is_derived(name):
    for graph in graphs():
        check(lambda graph=graph: getattr(graph, name.rpartition(".")[2]), graph, {})


PROGRAMS = [tg.algorithms.BFS(0), tg.algorithms.PageRank(), tg.algorithms.WCC(), tg.algorithms.HITS()]
PROGRAMS += [tg.algorithms.PlainPageRank(), tg.algorithms.PlainWCC(), tg.algorithms.SSSP(0), tg.algorithms.Katz()]
PROGRAMS += [tg.algorithms.WidestPath(0), tg.algorithms.Eigenvector(start=torch.ones(N))]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: type(program).__name__)
def test_programs_of_this_package_make_their_values(program):
    """`tgraph.engine.ownership` relies on it."""
    graph = next(graphs())
    check(lambda: tg.run(program, graph).values, graph, vars(program))
    check(lambda: program.init(graph)[0], graph, vars(program))


class Returned(tg.Program):
    """A program that returns a tensor which it keeps."""

    def __init__(self, first, reduce="min", later=None):
        self.first, self.reduce, self.later = first, reduce, later

    def init(self, graph):
        return self.first(graph), graph.select([1, 2, 3])

    def compute(self, sub, x, active):
        if self.later is not None:
            later, self.later = self.later(sub.graph), None
            return later, active
        return tg.update(x, active, tg.aggregate(sub, x, self.reduce), torch.minimum)


@pytest.mark.parametrize("mode", ["push", "pull", "auto"])
@pytest.mark.parametrize("late", [False, True])
def test_a_run_writes_into_memory_of_its_own(mode, late):
    graph, start = next(graphs()), torch.arange(N).flip(0)
    before = state_of(graph)
    for first in (lambda graph: graph.out_degree, lambda graph: graph.in_degree, lambda graph: start):
        made = (lambda graph: torch.arange(N), first) if late else (first, None)
        runs = [tg.run(Returned(made[0], later=made[1]), graph, mode=mode) for _ in range(2)]
        assert torch.equal(runs[0].values, runs[1].values)
        assert same(state_of(graph), before) and torch.equal(start, torch.arange(N).flip(0))


def test_a_relaxation_writes_into_memory_of_its_own():
    start = torch.arange(N).flip(0)

    class Least(tg.Relaxation):
        reduce, edge = "min", "copy"

        def init(self, graph):
            return start, graph.everything()

    for options in ({}, {"backend": "portable"}, {"mode": "push"}):
        tg.run(Least(), next(graphs()), **options)
        assert torch.equal(start, torch.arange(N).flip(0))


@pytest.mark.parametrize("folder", [False, True])
def test_snapshots_of_stores(folder, tmp_path):
    columns = {"weights": torch.float32, "times": torch.int64, "multi": "keep"}
    store = tg.dynamic.open(tmp_path / "s", **columns) if folder else tg.dynamic.Store(**columns)
    store.insert([0, 1], [1, 2], [2.0, 4.0], times=[1, 2])
    old = store.snapshot()
    assert old.weights.tolist() == [2, 4]
    for _ in range(2):
        write([store.snapshot().weights, store.arc_data(old), store.neighbors([0, 1]), store.snapshot().out_degree])
        write([store.snapshot(at=2).weights, tg.algorithms.sssp(store.snapshot(), 0)])
        assert old.weights.tolist() == store.snapshot().weights.tolist() == [2, 4]
        store.compact()
    store.insert([5], [6], [1.0], times=[3])
    write(store.snapshot().transpose().out_degree)
    assert store.snapshot().weights.tolist() == [2, 4, 1] and store.arc_data(store.snapshot())["times"].tolist() == [
        1,
        2,
        3,
    ]
    if folder:
        store.compact()
        store.close()
        with tg.dynamic.open(tmp_path / "s", mode="r") as read:
            assert read.snapshot().weights.tolist() == [2, 4, 1]


@pytest.mark.parametrize("kind", ["memory", "disk", "cached"])
def test_features_of_stores(kind, tmp_path):
    store = stores.DiskStore(tmp_path) if kind == "disk" else stores.MemoryStore()
    store = stores.CachedStore(store, "1MB") if kind == "cached" else store
    x = torch.arange(12.0).view(6, 2)
    store.put("x", x)
    write(x)
    stat, expected = store.stat("x"), torch.arange(12.0).view(6, 2)
    for _ in range(2):
        for read in (lambda: store.get_rows(stat), lambda: store.get_rows(stat, torch.tensor([1, 4, 1]))):
            wanted = expected if len(read()) == 6 else expected[[1, 4, 1]]
            found = read()
            assert torch.equal(found, wanted)
            write(found)
            assert torch.equal(read(), wanted)
        write([store.get_blocks(stat, [0]), store.get_joined(stat, [0])])
        assert torch.equal(store.get_rows(stat), expected)


def test_conversions_share_nothing_with_what_they_were_made_of():
    scipy = pytest.importorskip("scipy.sparse")
    dense = np.triu(np.ones((4, 4), "float32"), 1)
    matrix, weights, ids = scipy.csr_array(dense), torch.ones(3), torch.tensor([5, 6, 7])
    ends = torch.tensor([[0, 0, 1], [1, 2, 2]])
    made = [
        tg.from_scipy(matrix),
        tg.Graph.from_edges(*ends, weights, vertices=ids),
        tg.from_edge_index(ends, weights),
        tg.Graph.from_edges(*ends.numpy(), weights.numpy()),
    ]
    before = [state_of(graph) for graph in made]
    write([matrix, weights, ids, ends])
    assert all(same(state_of(graph), kept) for graph, kept in zip(made, before, strict=True))
