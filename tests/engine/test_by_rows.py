"""Programs whose messages are computed at the vertices that send: the values, directions and errors of `fuse=False`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tgraph as tg
from tgraph.engine import by_rows

N = 200


@pytest.fixture(autouse=True, params=["by a kernel", "by torch"])
def small_graphs_are_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("LEAST_VERTICES", "LEAST_COMPILED"):
        monkeypatch.setattr(by_rows, name, 0)
    monkeypatch.setattr(by_rows, "MOST_ACTIVE", 1)
    if request.param == "by torch":
        monkeypatch.setattr(by_rows, "MOST_ARCS", -1)
    return request.param


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the frontiers of rounds that a kernel did."""
    seen: list[int] = []
    whole = by_rows.RowSteps.rounds
    monkeypatch.setattr(
        by_rows.RowSteps, "rounds", lambda self, x, *given: (seen.append(len(given[0])), whole(self, x, *given))[1]
    )
    return seen


def graph_of(weighted: bool = True) -> tg.Graph:
    plain = tg.generators.rmat(8, 6, directed=True, seed=2).subgraph(torch.arange(N))
    return tg.Graph(plain.offset, plain.neighbors, (plain.neighbors % 7 + 1).double() if weighted else None)


class From(tg.Program):
    """A program from every fifth vertex."""

    rounds = 6
    reduce, edge = "min", "copy"

    def __init__(self, dtype: torch.dtype = torch.float64):
        self.dtype = dtype
        self.cost = (torch.arange(N) % 5).to(dtype)

    def init(self, graph: tg.Graph) -> Any:
        return (torch.arange(N) * 7 % 50).to(self.dtype), graph.select(torch.arange(0, N, 5))


class Payload(From):
    def compute(self, sub, x, active):
        near = lambda old, new: torch.where(new < old - 1, new - 1, old)  # noqa: E731
        return tg.update(x, active, tg.aggregate(sub, x * 2 + 1, "min"), near)


class Weighted(From):
    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, (x + self.cost).sqrt(), "max", edge="mul"), torch.fmax)


class AtVertices(From):
    def compute(self, sub, x, active):
        mixed = lambda old, new, at: torch.clamp(old, max=20) + new.clamp(max=9) * self.cost[at]  # noqa: E731
        return tg.update(x, active, tg.aggregate(sub, x / 2, "sum"), mixed)


class Many(From):
    """Every operation that kernels have."""

    reduce, edge = "max", "min"

    def compute(self, sub, x, active):
        sent = torch.where((x > 3) & ~(x == 7) | (x <= self.cost), torch.maximum(-x, x - 2) / 3, abs(x * x) + self.cost)
        received = tg.aggregate(sub, torch.minimum(sent, x + 40), self.reduce, edge=self.edge)

        def function(old, new, at):
            better = torch.logical_or(new >= old, torch.logical_not(old != self.cost[at])).to(self.dtype)
            return torch.where((new < 50) & (new > -50), better + old, 1 - better) * 0.5

        return tg.update(x, active, received, function)


class Ids(From):
    def compute(self, sub, x, active):
        first = lambda old, new: torch.where(old < 25, new * 2**30, abs(-old))  # noqa: E731
        return tg.update(x, active, tg.aggregate(sub, x * x - 3, "max"), first)


class Sent(From):
    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, x, "sum", edge="mul"), lambda old, new: new * 1e-2 + old)


class Counts(From):
    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, x % 11, "sum"), lambda old, new: (old + new) % 101)


class NotANumber(From):
    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, (x - 20).log(), "mean"), lambda old, new: new - old)


@pytest.mark.parametrize("mode", ["auto", "push", "pull"])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (Payload, torch.int64),
        (Payload, torch.float32),
        (Many, torch.float64),
        (Ids, torch.int32),
        (Ids, torch.int64),
        (Weighted, torch.float64),
        (AtVertices, torch.float64),
        (Counts, torch.int64),
        (Counts, torch.int16),
        (NotANumber, torch.float64),
    ],
)
def test_values_are_those_of_the_program_as_written(kind: Any, dtype: torch.dtype, mode: str) -> None:
    graph = graph_of()
    run = tg.run(kind(dtype), graph, mode=mode, trace=True)
    assert run.trace.conditions.computed.startswith("by rows")
    written = tg.run(kind(dtype), graph, mode=mode, fuse=False, trace=True)
    torch.testing.assert_close(run.values, written.values, rtol=0, atol=0, equal_nan=True)
    columns = ["direction", "active_vertices", "active_edges", "changed_vertices"]
    assert run.trace.frame()[columns].equals(written.trace.frame()[columns])


@pytest.mark.parametrize(
    ("kind", "reduce", "edge"),
    [(Many, reduce, edge) for reduce in ("min", "max", "sum") for edge in ("add", "mul", "max")],
)
def test_reductions_of_a_kernel(kind: Any, reduce: str, edge: str, rounds: list[int], request: Any) -> None:
    program, graph = kind(torch.float64), graph_of()
    program.reduce, program.edge = reduce, edge
    found = tg.run(program, graph, mode="push")
    assert bool(rounds) == ("by a kernel" in request.node.name)
    torch.testing.assert_close(found.values, tg.run(program, graph, mode="push", fuse=False).values, rtol=0, atol=0)


def expressions(leaves: tuple[str, ...], is_real: bool) -> st.SearchStrategy[str]:
    """Functions of `leaves` in the operations that kernels have."""
    number = st.sampled_from(["3", "-2", "40"])
    numbers = st.recursive(
        st.sampled_from(leaves),
        lambda each: st.one_of(
            st.builds("torch.{}({}, {})".format, st.sampled_from(["minimum", "maximum"]), each, each),
            st.builds("({} {} {})".format, each, st.sampled_from("+-*" if is_real else "+-"), number),
            st.builds("({} - {})".format, each, each),
            st.builds("torch.where({}, {}, {})".format, truths(each, is_real), each, each),
        ),
        max_leaves=5,
    )
    return numbers


def truths(each: st.SearchStrategy[str], is_real: bool) -> st.SearchStrategy[str]:
    compared = st.builds("({} {} {})".format, each, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), each)
    kinds = ["isinf", "isnan", "isfinite"] if is_real else []
    known = [st.builds("torch.{}({})".format, st.sampled_from(kinds), each)] if kinds else []
    one = st.one_of(compared, *known)
    return st.one_of(one, st.builds("~{}".format, one), st.builds("({} {} {})".format, one, st.sampled_from("&|"), one))


class Chosen(From):
    """Any functions, of values that may be infinite or NaN."""

    rounds = 4

    def __init__(self, first: torch.Tensor, sent: str, become: str, reduce: str):
        self.first, self.reduce = first, reduce
        self.sent = eval(f"lambda x: {sent}", {"torch": torch})
        self.become = eval(f"lambda old, new: {become}", {"torch": torch})

    def init(self, graph: tg.Graph) -> Any:
        return self.first.clone(), graph.select(torch.arange(0, graph.num_vertices, 3))

    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, self.sent(x), self.reduce), self.become)


@settings(max_examples=min(30, settings().max_examples), deadline=None)
@given(st.data(), st.booleans(), st.sampled_from(["min", "max"]), st.integers(0, 99))
def test_any_functions(data: st.DataObject, is_real: bool, reduce: str, seed: int) -> None:
    sent, become = (data.draw(expressions(each, is_real)) for each in (("x",), ("old", "new")))
    generator = torch.Generator().manual_seed(seed)
    ends = torch.randint(70, (2, 150), generator=generator)
    graph = tg.Graph.from_edges(*ends, num_vertices=80, directed=bool(seed % 2))
    values = torch.tensor([torch.inf, -torch.inf, torch.nan, 0, 1, 5, 9, 50] if is_real else [0, 1, 5, 9, 50])
    chosen = torch.randint(2 if seed % 3 else len(values), (80,), generator=generator)
    program = Chosen(values[len(values) - 1 - chosen], sent, become, reduce)
    for mode in ("pull", "push"):
        found = [tg.run(program, graph, mode=mode, fuse=fuse).values for fuse in (True, False)]
        torch.testing.assert_close(*found, rtol=0, atol=0, equal_nan=True)


def test_a_row_of_very_many_arcs_and_rounds_that_are_left() -> None:
    many = 1 << 17
    star = tg.Graph.from_edges(torch.arange(1, many), torch.zeros(many - 1, dtype=torch.long), num_vertices=many)
    first = torch.arange(many, dtype=torch.float32).flip(0)
    program = Chosen(first, "x - 1", "torch.where(new < old, new, old)", "min")
    found = [tg.run(program, star, mode="pull", fuse=fuse).values for fuse in (True, False)]
    assert torch.equal(*found) and found[0][0] == 0
    path = tg.generators.path(50)
    program = Chosen(torch.arange(50.0), "x - 0.5", "torch.maximum(new, old)", "max")
    program.rounds = 7
    runs = [tg.run(program, path, fuse=fuse) for fuse in (True, False)]
    assert runs[0].iterations == runs[1].iterations == 7 and torch.equal(runs[0].values, runs[1].values)


@pytest.mark.parametrize("kind", [Payload, Sent])
def test_data_that_is_sent_as_it_is(kind: Any, rounds: list[int], request: Any) -> None:
    found = tg.run(kind(), graph_of(), mode="push")
    assert bool(rounds) == ("by a kernel" in request.node.name)
    assert torch.equal(found.values, tg.run(kind(), graph_of(), mode="push", fuse=False).values)


def test_values_that_a_user_holds_are_not_written_to(rounds: list[int], request: Any) -> None:
    class Keeps(Payload):
        def init(self, graph: tg.Graph) -> Any:
            self.first, active = super().init(graph)
            return self.first, active

    program = Keeps()
    tg.run(program, graph_of(), mode="push")
    assert bool(rounds) == ("by a kernel" in request.node.name)
    assert torch.equal(program.first, Keeps().init(graph_of())[0])


@pytest.mark.parametrize("layout", ["sell", "virtual", "elias_fano"])
def test_in_layouts(layout: str) -> None:
    graph = graph_of(weighted=False)
    found = tg.run(Payload(), graph.to_format(layout), trace=True)
    assert found.trace.conditions.computed.startswith("by rows")
    assert torch.equal(found.values, tg.run(Payload(), graph, fuse=False).values)


class Everywhere(From):
    """Reads a tensor of all vertices, where some received."""

    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, x + 1, "min"), lambda old, new: new + self.cost)


class Overflows(From):
    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, x * 0 + 2**62, "sum"), torch.maximum)


class Gradient(From):
    def init(self, graph: tg.Graph) -> Any:
        values, active = super().init(graph)
        return values.requires_grad_(), active

    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, x + 1, "sum"), lambda old, new: old + new)


class Sums(From):
    def compute(self, sub, x, active):
        return tg.update(x, active, tg.aggregate(sub, x / x.sum(), "sum"))


@pytest.mark.parametrize("kind", [Everywhere, Gradient, Sums])
def test_other_programs_are_called_as_they_are_written(kind: Any) -> None:
    graph = graph_of()
    ends = []
    for fuse in (True, False):
        try:
            run = tg.run(kind(), graph, mode="push", fuse=fuse, trace=True)
        except tg.errors.ArgumentError as error:
            ends.append(str(error))
        else:
            assert not run.trace.conditions.computed.startswith("by rows")
            ends.append(run.values.sum().item())
    assert ends[0] == ends[1]


def test_errors_are_those_of_the_program_as_written() -> None:
    graph = graph_of()
    with pytest.raises(tg.errors.ArgumentError) as written:
        tg.run(Overflows(torch.int64), graph, fuse=False)
    with pytest.raises(tg.errors.ArgumentError) as found:
        tg.run(Overflows(torch.int64), graph)
    assert str(found.value) == str(written.value)
