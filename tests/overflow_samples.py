"""Relaxations on integers near the limits of their dtype, and what exact integers give for them."""

import torch
from hypothesis import strategies as st
from strategies import EDGE, Any, arcs, graphs

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS


class Overflow(Exception):
    pass


def exact(graph, program, weights, rounds):
    """The values after so many synchronous rounds, in Python's integers; Overflow where a message that is sent does not
    fit the dtype, or would read as "not reached"."""
    info, identity = torch.iinfo(program.values.dtype), program.reduction.identity(program.values.dtype)
    values, active = program.values.tolist(), [True] * graph.num_vertices
    if program.active is not None:
        active = program.active.tolist()
    for _ in range(rounds):
        best = list(values)
        for (u, v, _), weight in zip(arcs(graph), weights, strict=True):
            if not active[u] or values[u] == identity:
                continue
            message = EDGE[program.edge](values[u], weight)
            if program.edge in ("add", "mul") and (message == identity or not info.min <= message <= info.max):
                raise Overflow
            best[v] = (min if program.reduce == "min" else max)(best[v], message)
        active = [new != old for new, old in zip(best, values, strict=True)]
        values = best
        if not any(active):
            break
    return values


def extremes(dtype, low=None):
    """Numbers of a dtype: small ones, round ones, and those near its limits."""
    info = torch.iinfo(dtype)
    low = info.min if low is None else low
    near = [low, low + 5, info.max, info.max - 1, info.max - 7, info.max // 2, 2**30, 10**8, -(2**30), info.min // 2]
    return st.integers(-3, 9).filter(lambda x: x >= low) | st.sampled_from([x for x in near if x >= low])


@st.composite
def programs(draw, grows=True):
    """(graph, program, weights of its arcs as integers)"""
    graph = draw(graphs(min_vertices=1))
    n, m = graph.num_vertices, graph.num_arcs
    dtype, reduce = draw(st.sampled_from([torch.int32, torch.int64])), draw(st.sampled_from(["min", "max"]))
    edge = draw(st.sampled_from(["add", *EDGE_OPERATIONS])) if grows else "add"
    weight_dtype = draw(st.sampled_from([torch.int32, dtype]))
    numbers = extremes(weight_dtype, None if grows else 0)
    weights = draw(st.one_of(st.lists(numbers, min_size=m, max_size=m), numbers.map(lambda number: [number] * m)))
    if not grows and reduce == "max":
        weights = [-number for number in weights]
    identity = REDUCTIONS[reduce].identity(dtype)
    values = torch.tensor(draw(st.lists(extremes(dtype) | st.just(identity), min_size=n, max_size=n)), dtype=dtype)
    active = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
    graph = tg.Graph(graph.offset, graph.neighbors, torch.tensor(weights, dtype=weight_dtype))
    one = len(set(weights)) == 1 and draw(st.booleans())
    program = Any(reduce, edge, values, weights[0] if one else None, None if active is None else torch.tensor(active))
    return graph, program, weights


def outcome(program, graph, **options):
    """The values of a run; None where it raises for a number that does not fit."""
    try:
        return tg.run(program, graph, **options).values.tolist()
    except ArgumentError as error:
        assert "does not fit" in str(error) and str(program.values.dtype) in str(error), error
        return None


def wanted(graph, program, weights, rounds):
    try:
        return exact(graph, program, weights, rounds)
    except Overflow:
        return None
