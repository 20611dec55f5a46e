"""Data of arcs on ranks, as tensors [m] and as columns: what is computed is what one process computes, whichever the
order of the vertices and wherever the arcs of a vertex lie."""

import itertools
from collections.abc import Iterator

import pytest
import torch
from ranks import nothing_is_wrong, on_ranks, said_of
from torch import Tensor

import tgraph as tg
from tgraph.distributed import from_local, gather, open, spread

DTYPES = (torch.bool, torch.uint8, torch.int16, torch.bfloat16, torch.float64)


class Cheapest(tg.Relaxation):
    """Cheapest paths by the data of arcs."""

    reduce, edge = "min", "add"

    def __init__(self, source, weight):
        self.source, self.weight = source, weight

    def init(self, graph):
        cost = torch.full((graph.num_vertices,), torch.inf, dtype=torch.float64)
        cost[self.source] = 0
        return cost, graph.select(self.source)


class WrittenOut(tg.Program):
    """The same as a program of its own steps."""

    init = Cheapest.init
    __init__ = Cheapest.__init__

    def compute(self, sub, cost, active):
        received = tg.aggregate(sub, cost, "min", edge="add", weights=self.weight)
        return tg.update(cost, active, received, torch.minimum)


def made(directed: bool) -> tg.Graph:
    """With loops, parallel edges, and vertices without arcs."""
    random = torch.Generator().manual_seed(5)
    ends = torch.randint(0, 24, (2, 120), generator=random)
    columns = {
        "toll": torch.randint(0, 9, (120,), generator=random),
        "length": torch.rand(120, generator=random).double(),
    }
    graph = tg.Graph.from_edges(*ends, num_vertices=30, directed=directed, columns=columns | {"name": ["road"] * 120})
    return graph.with_columns(vertices={"height": torch.arange(30)})


def pairs(graph: tg.Graph, parts: tg.Graph) -> Iterator[tuple[str, Tensor, Tensor]]:
    """(what is computed, in one process, and on ranks), by vertices in the order of the graph."""
    random = torch.Generator().manual_seed(1)
    x, data = torch.rand(30, generator=random).double(), torch.rand(graph.num_arcs, generator=random).double()
    order = torch.arange(30) if parts.order is None else parts.order
    here, source = x[order], int((order == 3).nonzero())
    whole = lambda values: parts.restore(gather(parts, values))  # noqa: E731
    reversed_ = graph.transpose(), parts.transpose()
    for name, weights in (("toll", "toll"), ("data", data)):
        turned = weights if weights is not data else data[graph.transpose_permutation]
        for reduce, edge in (("sum", "mul"), ("max", "add")):
            yield (
                f"{reduce} of {name}",
                tg.aggregate(graph, x, reduce, edge=edge, weights=weights),
                whole(tg.aggregate(parts, here, reduce, edge=edge, weights=weights)),
            )
        one, other = (tg.aggregate(g, v, edge="mul", weights=turned) for g, v in zip(reversed_, (x, here), strict=True))
        yield f"sum of {name} over the transpose", one, whole(other)
        for program in (Cheapest, WrittenOut):
            found = tg.run(program(3, weights), graph).values, tg.run(program(source, weights), parts).values
            yield f"{program.__name__} of {name}", found[0], whole(found[1])
    for column in ("length", graph.arc_columns["toll"], None):
        distance = [tg.algorithms.sssp(g.weighted_by(column), v) for g, v in ((graph, 3), (parts, source))]
        yield f"weighted by {column}", distance[0], whole(distance[1])
    yield "heights", graph.vertex_columns["height"], parts.restore(parts.vertex_columns["height"])
    yield "the way to the transpose", graph.transpose_permutation, parts.transpose_permutation
    yield "a column of the transpose", *(g.arc_columns["toll"] for g in reversed_)


def pairs_by_rows(graph: tg.Graph, parts: tg.Graph) -> Iterator[tuple[str, Tensor, Tensor]]:
    """The same of what needs the arcs of a vertex in one place."""
    held, random = parts.layout.ownership, torch.Generator().manual_seed(2)
    x, own = torch.rand(30, 2, generator=random).double(), held.own
    function = lambda u, v, arc: u["x"] * arc["toll"][:, None] + v["x"] * arc["length"][:, None]  # noqa: E731
    for reduce in ("sum", "median"):
        options = {"edge": function, "weights": ["toll", "length"]}
        one, other = tg.aggregate(graph, {"x": x}, reduce, **options), tg.aggregate(parts, {"x": x}, reduce, **options)
        yield f"{reduce} of a function", one, gather(parts, other)
    data = torch.rand(graph.num_arcs, 2, generator=random).double()
    for weights, edge in ((data, "mul"), (data[:, 0].contiguous(), "mul"), (data, lambda u, v, w: u * w - v)):
        given = weights.clone().requires_grad_(), weights.clone().requires_grad_()
        one = tg.aggregate(graph, x, edge=edge, weights=given[0])
        sent = own(x) if isinstance(edge, str) else from_local(own(x), held)
        other = tg.aggregate(parts, sent, edge=edge, weights=given[1])
        other = other.to_local() if hasattr(other, "to_local") else other
        yield "values beside gradients", own(one), other
        one.square().sum().backward()
        other.square().sum().backward()
        yield "gradients", given[0].grad, held.sum(given[1].grad)
    for name, derived in {
        "undirected": lambda g: g.to_undirected(),
        "without loops": lambda g: g.without_self_loops(),
        "a part of the transpose": lambda g: g.transpose().subgraph([3, 9, 1, 20, 11]),
        "more columns": lambda g: g.with_columns(arcs={"toll": g.arc_columns["toll"] * 2}).to_undirected(),
    }.items():
        yield name, *(derived(g).arc_columns["toll"] for g in (graph, parts))


def wrong_among(found: Iterator[tuple[str, Tensor, Tensor]], where: str) -> list[str]:
    return [
        f"{name} {where}: {other} is not {one}"
        for name, one, other in found
        if one.dtype != other.dtype or one.shape != other.shape or not torch.allclose(one, other)
    ]


def differences(cases: list[tuple[bool, str, str | None]]) -> list[str]:
    wrong = []
    for directed, method, cut in cases:
        graph = made(directed)
        parts = spread(graph, method=method, cut=cut)
        wrong += wrong_among(pairs(graph, parts), f"by {method}, {cut}, {directed}")
        if cut is None and parts.order is None:
            wrong += wrong_among(pairs_by_rows(graph, parts), f"by {method}, {directed}")
    return wrong


def test_data_of_arcs() -> None:
    nothing_is_wrong(2, differences, [(True, "ebp", None), (False, "wcp", "hubs")])


@pytest.mark.thorough
def test_data_of_arcs_in_more_orders() -> None:
    nothing_is_wrong(3, differences, list(itertools.product((True, False), ("ebp", "wcp"), (None, "hubs", "grid"))))


def differences_in_files(folder: str) -> list[str]:
    wrong = []
    for name, cut in itertools.product(("True", "False"), (None, "grid")):
        graph, parts = tg.read(f"{folder}/{name}.tg"), open(f"{folder}/{name}.tg", cut=cut)
        wrong += wrong_among(pairs(graph, parts), f"in a file, {cut}")
        assert parts.arc_columns["name"] == graph.arc_columns["name"]
    return wrong


def test_columns_of_files(tmp_path) -> None:
    for directed in (True, False):
        tg.stream.write_partitioned(made(directed), tmp_path / f"{directed}.tg", 3)
    nothing_is_wrong(2, differences_in_files, str(tmp_path))


def differing_dtypes() -> list[str]:
    graph = tg.Graph.from_edges([0, 0, 1, 3], [1, 1, 2, 0], num_vertices=5)
    parts, wrong = spread(graph), []
    for kind, by, reduce, edge in itertools.product(DTYPES, DTYPES, ("mean", "min", "any"), ("add",)):
        x, weights = (torch.arange(5) % 3).to(kind), torch.arange(4).to(by)
        one, other = (tg.aggregate(g, x, reduce, edge=edge, weights=weights) for g in (graph, parts))
        wrong += wrong_among(iter([(f"{reduce} {edge} {kind} {by}", one, gather(parts, other))]), "")
    return wrong


def test_dtypes() -> None:
    nothing_is_wrong(2, differing_dtypes)


def refusals() -> list[str]:
    parts = spread(made(True))
    x, weights = torch.ones(30), torch.ones(parts.num_arcs)
    return said_of(
        lambda: tg.aggregate(parts, x, edge="mul", weights=torch.ones(7)),
        lambda: tg.aggregate(parts, x, edge=lambda u, v, w: w, weights=torch.ones(7)),
        lambda: tg.aggregate(parts, x, edge="mul", weights="hue"),
        lambda: tg.aggregate(parts, x, edge="mul", weights="name"),
        lambda: tg.run(Cheapest(0, torch.ones(7)), parts),
        lambda: parts.weighted_by(weights.clone().requires_grad_()),
        lambda: tg.aggregate(spread(made(True), cut="hubs"), x, edge=lambda u, v, w: w, weights=weights),
    )


def test_what_is_refused() -> None:
    for said in on_ranks(2, refusals):
        heads = ["weights"] * 6 + ["graph"]
        assert [each.partition(":")[0] for each in said] == heads and "records no gradient" in said[5]
