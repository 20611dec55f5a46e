"""Batches from graphs in a layout: those of the same graph in memory, without decoding more than the rows needed."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
from samples import citation_graph, same, with_both
from strategies import on_threads, random_graph, refused

import tgraph as tg
from tgraph import stores
from tgraph.core.csr import Csr
from tgraph.formats import LAYOUTS
from tgraph.pyg import NeighborLoader
from tgraph.sampling import LaborSampler, LayerSampler, NeighborSampler

OPTIONS = {"ell": {"limit": 1e9}, "wsb": {"min_density": 0}, "csr": {"narrow": True}, "sell": {"C": 4, "sigma": 64}}
DIRECT = ("coo", "csr", "dcsr", "ell", "sell")  # single arcs are read without their row
CHOICES = {
    "": {},
    "replace": {"replace": True},
    "disjoint": {"disjoint": True},
    "induced": {"induced": True},
    "induced trees": {"induced": True, "disjoint": True},
    "weighted": {"weighted": True},
    "weighted, replace": {"weighted": True, "replace": True},
}


def simple_graph(n, m, *, directed=False, weighted=False):
    """A hub and isolated vertices, without parallel edges, which not all layouts hold; sums of weights are exact."""
    drawn = random_graph(n, m)
    src, dst = torch.arange(n).repeat_interleave(drawn.out_degree), drawn.neighbors.long()
    weights = (src * dst % 7).float() if weighted else None
    return tg.Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed, multi="first")


def stored(graph, name):
    return graph.to_format(name, **OPTIONS.get(name, {}))


@contextmanager
def decoding(graph):
    """The arcs that are decoded meanwhile, of each call; all of the graph never are."""
    decoded = []
    layout = type(graph.storage)
    with pytest.MonkeyPatch.context() as patch:
        rows = layout.rows
        patch.setattr(layout, "rows", lambda self, some: decoded.append(rows(self, some)) or decoded[-1])
        patch.setattr(layout, "to_csr", lambda self: pytest.fail("the graph is decoded"))
        yield decoded
    assert not graph.caches.get("arcs") and (graph.transpose() is graph or not graph.transpose().caches.get("arcs"))


@pytest.mark.covering(1)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", LAYOUTS)
def test_as_from_the_graph_in_memory(kernels, name, choice):
    options = CHOICES[choice]
    if name == "cbm" and "weighted" in options:
        pytest.skip("cbm holds no weights")
    for direction, directed in (("in", False), ("in", True), ("out", True)):
        graph = simple_graph(70, 900, directed=directed, weighted="weighted" in options)
        held = stored(graph, name)
        how = {"direction": direction, "seed": 3} | options
        expected = NeighborSampler(graph, [4, 3, -1], **how).sample([5, 0, 5, 69], draw=2)
        sampler = NeighborSampler(held, [4, 3, -1], **how)
        with decoding(held):
            found = sampler.sample([5, 0, 5, 69], draw=2)
        assert found.edge is None
        for each in ("node", "row", "col", "batch"):
            one, other = getattr(found, each), getattr(expected, each)
            assert (one is None and other is None) or torch.equal(one, other), each
        assert found.num_sampled_nodes == expected.num_sampled_nodes
        same(NeighborSampler(held, [4, 3, -1], numbered=True, **how).sample([5, 0, 5, 69], draw=2), expected)


@pytest.mark.parametrize("name", LAYOUTS)
def test_labor_as_from_the_graph_in_memory(name):
    for directed in (False, True):
        graph = simple_graph(70, 900, directed=directed)
        expected = LaborSampler(graph, [4, 3], seed=1).sample([5, 0, 69], draw=2)
        held = stored(graph, name)
        sampler = LaborSampler(held, [4, 3], seed=1)
        with decoding(held):
            found = sampler.sample([5, 0, 69], draw=2)
        assert torch.equal(found.node, expected.node) and torch.equal(found.row, expected.row) and found.edge is None
        same(LaborSampler(held, [4, 3], seed=1, numbered=True).sample([5, 0, 69], draw=2), expected)


@pytest.mark.parametrize("options", [{}, {"method": "fastgcn"}, {"weighted": True, "normalize": True}])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layers_as_from_the_graph_in_memory(name, options):
    if name == "cbm" and "weighted" in options:
        pytest.skip("cbm holds no weights")
    for directed in (False, True):
        graph = simple_graph(70, 900, directed=directed, weighted="weighted" in options)
        expected = LayerSampler(graph, [9, 5], seed=1, **options).sample([5, 0, 69], draw=2)
        held = stored(graph, name)
        sampler = LayerSampler(held, [9, 5], seed=1, **options)
        with decoding(held):
            found = sampler.sample([5, 0, 69], draw=2)
        same(replace(found, edge=expected.edge), expected)
        assert found.edge is None


@pytest.mark.parametrize("name", LAYOUTS)
def test_only_rows_of_the_batch_are_decoded(name):
    """Of a graph of 40,000 arcs; none where single arcs can be read, not even those of the hub. Nothing is kept."""
    graph = simple_graph(4000, 20_000)
    held = stored(graph, name)
    with decoding(held) as decoded:
        found = NeighborSampler(held, [3, 2], seed=1).sample([0, 7])
    assert len(found.row) > 6 and not held.caches
    arcs = sum(len(neighbors) for _, neighbors, _ in decoded)
    if name in DIRECT:
        assert arcs == 0
    elif name not in ("csc", "dcsc"):
        frontier = found.node[: sum(found.num_sampled_nodes[:2])]
        assert 0 < arcs == int(graph.out_degree[frontier].sum()) < graph.num_arcs / 2


def test_in_parts_and_on_any_number_of_threads():
    graph = simple_graph(3000, 30_000)
    held, seeds = stored(graph, "virtual"), torch.arange(3000)
    expected = NeighborSampler(graph, [3, 2], seed=3).sample(seeds, draw=1)
    sampler = NeighborSampler(held, [3, 2], seed=3, numbered=True)
    for found in on_threads(lambda: sampler.sample(seeds, draw=1)):
        same(found, expected)


def test_several_types_some_of_them_in_a_layout():
    graph = citation_graph()
    cites = graph["paper", "cites", "paper"]
    source, target = cites.neighbors.long(), cites.row_of_arc()
    whole = tg.Graph.from_edges(source, target, num_vertices=40, multi="first")
    graphs = [graph | {("paper", "cites", "paper"): each} for each in (whole, stored(whole, "virtual"))]
    seeds = {"paper": torch.tensor([3, 0]), "author": torch.tensor([1])}
    expected, found = (with_both(NeighborSampler(each, [4, 3], disjoint=True), seeds) for each in graphs)
    for kind, edges in found.edge.items():
        assert edges is None if kind == ("paper", "cites", "paper") else torch.equal(edges, expected.edge[kind])
        assert torch.equal(found.row[kind], expected.row[kind]) and torch.equal(found.col[kind], expected.col[kind])
    for kind, vertices in found.node.items():
        assert torch.equal(vertices, expected.node[kind]) and torch.equal(found.batch[kind], expected.batch[kind])


def test_from_a_file_that_is_streamed(tmp_path):
    graph = simple_graph(500, 5000)
    tg.write(graph, tmp_path / "graph.tg")
    opened = tg.open(tmp_path / "graph.tg", memory="10MB")
    assert opened.layout.streams
    sampler = NeighborSampler(opened, [4, 3], seed=3, numbered=True)
    with decoding(opened):
        found = sampler.sample([5, 0, 7], draw=2)
    mapped = tg.read(tmp_path / "graph.tg")
    for other in (graph, mapped):
        same(found, NeighborSampler(other, [4, 3], seed=3).sample([5, 0, 7], draw=2))


class Reads(stores.MemoryStore):
    """A store that notes how many rows of each tensor are read at once, None for all."""

    def _rows(self, stat, index):
        self.seen.append(None if index is None else len(index))
        return super()._rows(stat, index)


@pytest.mark.parametrize("choice", [name for name in CHOICES if "weighted" not in name])
def test_from_rows_in_a_store(choice):
    """A hop reads the arcs that it draws, in one request."""
    graph = simple_graph(70, 900, directed=True)
    rows, edges = graph.transpose(), stores.GraphStore(Reads())
    edges.store.seen = []
    edges[None, "csc", True, (70, 70)] = rows.neighbors, rows.offset.int()
    options = {"seed": 3, "numbered": True} | CHOICES[choice]
    sampler = NeighborSampler(edges.rows(), [4, 3, -1], **options)
    edges.store.seen.clear()
    found = sampler.sample([5, 0, 5, 69], draw=2)
    in_memory = NeighborSampler(Csr(rows.offset, rows.neighbors, None, 70), [4, 3, -1], **options)
    same(found, in_memory.sample([5, 0, 5, 69], draw=2))
    assert None not in edges.store.seen and len(edges.store.seen) == 3 + ("induced" in choice)
    assert found.num_sampled_edges is None or edges.store.seen == found.num_sampled_edges


def test_loaders_leave_edges_in_the_store():
    """The batches of types of edges are those of the edges read at first, and no edge is read before."""
    graph, kind = simple_graph(70, 900, directed=True), ("a", "to", "a")
    rows, batches = graph.transpose(), []
    for in_store in (False, True):
        edges = stores.GraphStore(Reads(), in_store=in_store)
        edges.store.seen, features = [], stores.FeatureStore(edges.store)
        edges[kind, "csc", True, (70, 70)], features["a", "x", None] = (
            (rows.neighbors, rows.offset.int()),
            torch.rand(70, 1),
        )
        edges.store.seen.clear()
        torch.manual_seed(1)
        loader = NeighborLoader((features, edges), [3, 2], input_nodes=("a", torch.arange(70)), batch_size=20)
        assert edges.store.seen == [71 if in_store else None]
        batches.append(list(loader))
    for one, other in zip(*batches, strict=True):
        for name in ("edge_index", "e_id"):
            assert torch.equal(one[kind][name], other[kind][name])
        assert torch.equal(one["a"].n_id, other["a"].n_id)


def test_rows_that_a_store_refuses():
    edges = stores.GraphStore()
    refused("put them as CSC", edges.rows, error=KeyError)
    edges[None, "csc", True, (2, 2)] = torch.tensor([1, 0]), torch.tensor([0, 1, 2])
    refused("by destination", NeighborSampler, edges.rows(), [1], direction="out")
    refused("sorted by time", NeighborSampler, edges.rows(), [1], node_time=torch.zeros(2).long())
    stat = edges.store.stat("edges/~/csc")
    edges.store.put(stat.key, torch.tensor([1, 7, 0, 1, 2]), stat.notes)
    refused("arc 1 leads to 7, of 2 vertices", NeighborSampler(edges.rows(), [1]).sample, [1])


def test_refusals():
    graph = tg.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0], directed=False).to_format("virtual")
    refused("vertex 1 has one of -1", lambda: NeighborSampler(graph, [2], weighted=True).sample([1]))
    refused("no weights", NeighborSampler, tg.Graph.from_edges([0], [1]).to_format("dcsr"), [2], weighted=True)
