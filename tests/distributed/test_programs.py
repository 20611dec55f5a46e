"""Programs of users on two ranks, with functions of arcs and reductions of segments; and those that say why not."""

import itertools

import engines
import torch
from programs import PROGRAMS
from ranks import nothing_is_wrong, on_ranks

import tgraph as tg
from tgraph.distributed import from_local, gather, spread
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS


def made() -> tg.Graph:
    plain = tg.generators.rmat(8, 8, directed=True, seed=3)
    return tg.Graph(plain.offset, plain.neighbors, (plain.neighbors % 9 + 1).double())


def differences() -> list[str]:
    """The programs whose values on ranks are others, or which do not run for another reason than the one given."""
    outcomes = engines.cells(PROGRAMS, ["two ranks"], 6)
    expected = {name: engines.declared(name, "two ranks") for name in PROGRAMS}
    wrong = [f"{name}: {each['two ranks']}" for name, each in outcomes.items() if each["two ranks"] != expected[name]]
    graph = made()
    parts = spread(graph)
    x = torch.rand(graph.num_vertices, generator=torch.Generator().manual_seed(0)).double()
    held = x.clone().requires_grad_()
    tg.aggregate(graph, held, edge=lambda u, v: u * v).square().sum().backward()
    own = parts.layout.own(x).clone().requires_grad_()
    local = from_local(own, parts.layout.ownership)
    tg.aggregate(parts, local, edge=lambda u, v: u * v).square().sum().backward()
    if not torch.allclose(parts.layout.own(held.grad), own.grad):
        wrong.append("the gradient differs")
    ties = torch.arange(graph.num_vertices) % 3
    for reduce in ("first", "median", "argmax", tg.TopK(2)):
        expected = tg.aggregate(graph, ties, reduce)
        found = tg.aggregate(parts, from_local(parts.layout.own(ties), parts.layout.ownership), reduce)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        if not all(torch.equal(gather(parts, one), other) for one, other in pairs):
            wrong.append(f"{reduce} differs")
    return wrong


def partly_differing() -> list[str]:
    """The reductions that give others on ranks, or raise an error, of messages from some active vertices."""
    graph, wrong, kinds = made(), [], (torch.bool, torch.int32, torch.float64)
    graph = tg.Graph(graph.offset, graph.neighbors, (graph.neighbors % 9 + 1).long())
    parts, some = spread(graph), [0, 3, 5, 7]
    graph = graph if parts.order is None else graph.permute(parts.order)
    for kind, reduce, edge in itertools.product(kinds, REDUCTIONS, EDGE_OPERATIONS):
        data = (torch.arange(graph.num_vertices) % 5).to(kind)
        found = []
        for each in (graph, parts):
            sub = tg.Program().tensorize(each, each.select(some), "pull")
            given = tg.aggregate(sub, each.storage.spread_out(data), reduce, edge=edge).values
            found.append(tg.primitives.values.whole(given))
        if found[0].dtype != found[1].dtype or not torch.allclose(*(each.double() for each in found), rtol=1e-6):
            wrong.append(f"{reduce} of {edge} of {kind} differs")
    return wrong


def test_programs() -> None:
    nothing_is_wrong(2, differences, timeout=240)


def test_reductions_of_what_some_vertices_send() -> None:
    assert on_ranks(2, partly_differing) == [[], []]
