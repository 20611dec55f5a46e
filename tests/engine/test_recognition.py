"""Programs that are a relaxation written out run as one, with the values of the program as it is written."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tgraph as tg
from tests.strategies import graphs
from tgraph import aggregate as gathered
from tgraph.engine.recognition import recognised

LOG: list[int] = []
STEP = 1
COUNT = 0


class Least(tg.Program):
    """Least value that reaches a vertex; subclasses say how."""

    def __init__(self, values: torch.Tensor | None = None, **options: Any):
        self.values, self.number, self.own = values, 2, None
        for name, value in options.items():
            setattr(self, name, value)

    def init(self, graph: tg.Graph) -> Any:
        if self.values is not None:
            return self.values, graph.everything()
        values = torch.full((graph.num_vertices,), 100)
        values[:1] = 0
        return values, graph.select([0] if graph.num_vertices else [])


def program(compute: Any, **attributes: Any) -> type[Least]:
    """A program of that COMPUTE."""
    return type(compute.__name__, (Least,), {"compute": compute, **attributes})


def hops(self, sub, depth, active):
    received = tg.aggregate(sub, depth + 1, "min")
    return tg.update(depth, active, received, torch.minimum)


def by_edge(self, sub, depth, active):
    depth, active = tg.update(
        depth, active, tg.aggregate(sub, depth, "min", edge="add", weights=STEP), lambda old, new: old.minimum(new)
    )
    return depth, active


def by_an_attribute(self, sub, depth, active):
    return tg.update(depth, active, gathered(sub, self.number + depth, reduce="min"), function=torch.minimum)


def by_where(self, sub, depth, active):
    return tg.update(depth, active, gathered(sub, depth - -1, "min"), lambda old, new: torch.where(new < old, new, old))


def better(old, new):
    return torch.where(old <= new, old, new)


def by_a_function(self, sub, depth, active):
    return tg.update(depth, active, gathered(sub, depth, "min"), better)


def sent(self, depth):
    return depth * 1 if self.number > 3 else depth


def by_a_method(self, sub, depth, active):
    return tg.update(depth, active, tg.aggregate(sub, self.sent(depth), "min"), better)


def greatest(self, sub, depth, active):
    return tg.update(depth, active, tg.aggregate(sub, depth, "max", edge="min", weights=50), torch.maximum)


def twice(self, sub, depth, active):
    tg.aggregate(sub, depth, "min")
    return hops(self, sub, depth, active)


@torch.no_grad()
def without_gradients(self, sub, depth, active):
    return hops(self, sub, depth, active)


WRITTEN_OUT = [
    program(hops),
    program(by_edge),
    program(by_an_attribute),
    program(by_where),
    program(by_a_function),
    program(by_a_method, sent=sent),
    program(without_gradients),
    program(twice),
]


@pytest.mark.parametrize("kind", WRITTEN_OUT, ids=lambda kind: kind.__name__)
def test_a_relaxation_written_out_runs_in_a_compiled_loop(kind: type[Least]) -> None:
    graph = tg.generators.rmat(6, seed=1)
    run = tg.run(kind(), graph, trace=True)
    assert "fixpoint" in {choice.split(":")[0] for choice in run.trace.choices}
    assert run.trace.conditions.computed.startswith("as a Relaxation of")
    assert run.trace.name == kind.__name__
    written = tg.run(kind(), graph, fuse=False, trace=True)
    assert "aggregate" in {choice.split(":")[0] for choice in written.trace.choices}
    assert run.values.equal(written.values) and run.iterations == written.iterations


def counts(self, sub, depth, active):
    self.number += 1
    return hops(self, sub, depth, active)


def prints(self, sub, depth, active):
    print("a round")
    return hops(self, sub, depth, active)


def logs(self, sub, depth, active):
    LOG.append(1)
    return hops(self, sub, depth, active)


def counts_globally(self, sub, depth, active):
    global COUNT
    COUNT += 1
    return hops(self, sub, depth, active)


def counts_in_its_class(self, sub, depth, active):
    self.__class__.rounds_done = 1
    return hops(self, sub, depth, active)


def imports(self, sub, depth, active):
    import time

    time.time()
    return hops(self, sub, depth, active)


def hides(self, sub, depth, active):
    try:
        print("a round")
    except Exception:
        LOG.append(1)
    return hops(self, sub, depth, active)


def branches(self, sub, depth, active):
    if depth[0] > 3:
        return depth, active
    return hops(self, sub, depth, active)


def of_the_whole_graph(self, sub, depth, active):
    received = tg.aggregate(sub.graph, depth, "min")
    return torch.minimum(depth, received), active.graph.nothing()


def other_reduction(self, sub, depth, active):
    return tg.update(depth, active, tg.aggregate(sub, depth, "min"), torch.maximum)


def without_the_old(self, sub, depth, active):
    return tg.update(depth, active, tg.aggregate(sub, depth + 1, "min"))


def sums(self, sub, depth, active):
    return tg.update(depth, active, tg.aggregate(sub, depth), torch.minimum)


def keeps_active(self, sub, depth, active):
    depth, _ = hops(self, sub, depth, active)
    return depth, active


def two_steps(self, sub, depth, active):
    return tg.update(depth, active, tg.aggregate(sub, depth + 1 + 1, "min"), torch.minimum)


def in_place(self, sub, depth, active):
    depth += 1
    return hops(self, sub, depth, active)


def halves(self, sub, depth, active):
    return tg.update(depth, active, tg.aggregate(sub, depth, "min"), lambda old, new: torch.minimum(old, new // 2))


OTHERS = [
    counts,
    prints,
    logs,
    counts_globally,
    counts_in_its_class,
    imports,
    hides,
    branches,
    of_the_whole_graph,
    other_reduction,
    without_the_old,
    sums,
    keeps_active,
    two_steps,
    in_place,
    halves,
]


@pytest.mark.parametrize("compute", OTHERS, ids=lambda compute: compute.__name__)
def test_other_programs_run_as_they_are_written(compute: Any) -> None:
    graph, made = tg.generators.rmat(6, seed=1), program(compute)()
    assert recognised(made, graph, *made.init(graph), "auto") is None


@pytest.mark.parametrize(
    "attributes",
    [
        {"tensorize": lambda self, graph, active, mode: tg.Program.tensorize(self, graph, active, mode)},
        {"residual": lambda self, before, after: 0.0},
        {"tolerance": 0.5},
        {"__getattribute__": lambda self, name: object.__getattribute__(self, name)},
    ],
    ids=lambda attributes: next(iter(attributes)),
)
def test_steps_of_its_own_are_called(attributes: dict[str, Any]) -> None:
    graph, made = tg.generators.rmat(6, seed=1), program(hops, **attributes)()
    assert recognised(made, graph, *made.init(graph), "auto") is None


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.bool])
def test_other_dtypes_run_as_they_are_written(dtype: torch.dtype) -> None:
    graph, made = tg.generators.rmat(6, seed=1), program(by_a_function)(torch.ones(64, dtype=dtype))
    assert recognised(made, graph, made.values, graph.everything(), "auto") is None


@pytest.mark.parametrize("edge", ["add", "mul"])
@pytest.mark.parametrize(
    ("weights", "dtype", "is_same"),
    [
        (torch.float64, torch.float32, True),
        (torch.int64, torch.float32, True),
        (torch.int32, torch.float64, True),
        (torch.float32, torch.float64, True),
        ("a fraction", torch.float32, False),  # of which float32 holds another one
        (torch.int64, torch.int32, False),
    ],
)
def test_weights_of_another_dtype_that_give_the_same_messages(
    weights: Any, dtype: torch.dtype, is_same: bool, edge: str
):
    def by_weights(self, sub, length, active):
        return tg.update(length, active, tg.aggregate(sub, length, "min", edge=edge), torch.minimum)

    plain = tg.generators.rmat(8, 4, seed=1, directed=True)
    numbers = torch.arange(plain.num_arcs, dtype=torch.float64) % 97 + (1.1 if weights == "a fraction" else 1)
    graph = tg.Graph(plain.offset, plain.neighbors, numbers if weights == "a fraction" else numbers.to(weights))
    values = torch.full((graph.num_vertices,), 10**6).to(dtype)
    values[:2] = torch.tensor([3, 11])
    own = program(by_weights, max_iterations=1000)(values)
    found = tg.run(own, graph, trace=True)
    assert found.trace.conditions.computed.startswith("as a Relaxation") == is_same
    written = tg.run(own, graph, fuse=False)
    assert torch.equal(found.values, written.values) and found.values.dtype == written.values.dtype == dtype


def test_gradients_run_as_they_are_written() -> None:
    graph, start = tg.generators.path(4), torch.ones(4, requires_grad=True)
    tg.run(program(hops)(start * 2), graph).values.sum().backward()
    assert start.grad is not None


def test_a_cycle_that_improves_products_for_ever_runs_as_it_is_written() -> None:
    def grows(self, sub, depth, active):
        return tg.update(depth, active, tg.aggregate(sub, depth * self.number, "max"), torch.maximum)

    run = tg.run(program(grows)(torch.ones(3)), tg.Graph.from_edges([0, 1, 2], [1, 2, 0]))
    assert run.values.isinf().all()


def test_the_limit_of_a_program_names_it() -> None:
    with pytest.raises(tg.errors.NotConvergedError, match=r"^hops has not converged after 2 iterations"):
        tg.run(program(hops)(), tg.generators.path(9), max_iterations=2)


def test_a_checkpoint_resumes(tmp_path: Any) -> None:
    graph, file = tg.generators.path(30), tmp_path / "hops.tgc"
    with pytest.raises(tg.errors.NotConvergedError):
        tg.run(program(hops)(), graph, max_iterations=5, checkpoint=file)
    assert tg.run(program(hops)(), graph, checkpoint=file).values.tolist() == [*range(30)]


NUMBERS = {
    torch.int32: st.integers(-9, 9),
    torch.int64: st.integers(-9, 9),
    torch.float32: st.sampled_from([-2.5, -1.0, 0.0, 0.25, 0.5, 1.0, 1.5, torch.inf, -torch.inf]),
    torch.float64: st.sampled_from([-1.0, 0.0, 0.1, 0.5, 1.0, 3.7, torch.inf, -torch.inf]),
}


@given(st.data())
def test_values_are_those_of_the_program_as_it_is_written(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    n, dtype = graph.num_vertices, data.draw(st.sampled_from([*NUMBERS]))
    reduce, edge = (
        data.draw(st.sampled_from(["min", "max"])),
        data.draw(st.sampled_from(["copy", "add", "mul", "min", "max"])),
    )
    numbers = NUMBERS[dtype]
    values = torch.tensor(data.draw(st.lists(numbers, min_size=n, max_size=n)), dtype=dtype)
    active = data.draw(st.lists(st.integers(0, n - 1), max_size=n)) if n else []
    everything, rounds = data.draw(st.booleans()), data.draw(st.sampled_from([None, 1, 2, 5]))
    weights: Any = data.draw(numbers)
    if data.draw(st.booleans()):
        length = {"min_size": graph.num_arcs, "max_size": graph.num_arcs}
        weights = torch.tensor(data.draw(st.lists(numbers, **length)), dtype=dtype)
    if edge == "copy":
        weights = None

    class Drawn(tg.Program):
        def __init__(self) -> None:
            self.weights, self.rounds = weights, rounds

        def init(self, graph: tg.Graph) -> Any:
            return values.clone(), graph.everything() if everything else graph.select(active)

        def compute(self, sub: Any, values: Any, active: Any) -> Any:
            received = tg.aggregate(sub, values, reduce, edge=edge, weights=self.weights)
            return tg.update(values, active, received, torch.minimum if reduce == "min" else torch.maximum)

    mode = data.draw(st.sampled_from(["auto", "push", "pull"]))
    if recognised(Drawn(), graph, *Drawn().init(graph), "auto") is None:
        return

    def result(fuse: bool) -> Any:
        try:
            return tg.run(Drawn(), graph, fuse=fuse, mode=mode, max_iterations=3 * n + 9 if rounds is None else None)
        except tg.errors.NotConvergedError as error:
            return error.run
        except tg.errors.ArgumentError:
            return None

    found, expected = result(True), result(False)
    if found is None or expected is None:  # sums that do not fit
        assert not dtype.is_floating_point
    elif found.converged or rounds is not None:
        torch.testing.assert_close(found.values, expected.values, rtol=0, atol=0, equal_nan=True)
        assert found.converged == expected.converged
