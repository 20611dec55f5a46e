"""Functions that work in place: an error that says so, or the result of those that do not."""

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.core.system import native
from tgraph.engine import fusion

N = 40


@pytest.fixture(params=[False, True], ids=["as written", "fused"])
def fuse(request, monkeypatch):
    if request.param and native.load() is None:
        pytest.skip("the native kernels are not installed")
    monkeypatch.setattr(fusion, "LEAST_ARCS", 0)
    return request.param


def graph_of(layout=None, tmp_path=None):
    graph = random_graph(N, 200, directed=True)
    if layout == "streamed":
        tg.write(graph, tmp_path / "graph.tg")
        return tg.open(tmp_path / "graph.tg", memory="1MB")
    return graph if layout is None else graph.to_format(layout)


IN_PLACE = {
    "add_": lambda old, new: old.add_(new),
    "two": lambda old, new: old.mul_(0.5).add_(new),
    "out": lambda old, new: torch.add(old, new, out=old),
    "copy_": lambda old, new: old.copy_(new),
    "a view": lambda old, new: old[:].add_(new),
    "some rows": lambda old, new: old.index_fill_(0, torch.tensor([0]), 7) + new,
    "an operator": lambda old, new: old.__iadd__(new),
}
FINE = {
    "received": lambda old, new: new.add_(old),
    "into received": lambda old, new: torch.add(old, new, out=new),
    "nothing": lambda old, new: old,
}


class Stepped(tg.Program):
    rounds = 4

    def __init__(self, function, everything, kind="tensor"):
        self.function, self.everything, self.kind = function, everything, kind

    def init(self, graph):
        values = torch.arange(N) / N
        first = {"tensor": values, "dict": {"x": values}, "nested": {"x": {"y": values}}}[self.kind]
        return first, graph.everything() if self.everything else graph.select([1, 2, 3])

    def compute(self, sub, values, active):
        x = {"tensor": lambda: values, "dict": lambda: values["x"], "nested": lambda: values["x"]["y"]}[self.kind]()
        x, active = tg.update(x, active, tg.aggregate(sub, x, "sum"), self.function)
        return {"tensor": x, "dict": {"x": x}, "nested": {"x": {"y": x}}}[self.kind], active


@pytest.mark.parametrize("kind", ["tensor", "dict", "nested"])
@pytest.mark.parametrize("mode", ["push", "pull", "auto"])
@pytest.mark.parametrize("everything", [False, True])
def test_functions_of_update(kind, mode, everything, fuse):
    graph = graph_of()
    for function in IN_PLACE.values():
        with pytest.raises(tg.errors.ArgumentError, match="function: wrote into its first argument"):
            tg.run(Stepped(function, everything, kind), graph, mode=mode, fuse=fuse)
    for name, function in FINE.items():
        pure = (lambda old, new: old) if name == "nothing" else (lambda old, new: old + new)
        runs = [tg.run(Stepped(each, everything), graph, mode=mode, fuse=fuse) for each in (function, pure)]
        assert torch.allclose(runs[0].values, runs[1].values) and runs[0].iterations == runs[1].iterations


@pytest.mark.parametrize("layout", ["streamed", "sell"])
def test_functions_of_update_on_other_graphs(layout, tmp_path):
    graph = graph_of(layout, tmp_path)
    for name in ("add_", "copy_", "two"):
        with pytest.raises(tg.errors.TGraphError, match="first argument"):
            tg.run(Stepped(IN_PLACE[name], True), graph)


def test_functions_of_update_in_several_runs():
    with pytest.raises(tg.errors.ArgumentError, match="first argument"):
        tg.run_each([Stepped(IN_PLACE["add_"], False) for _ in range(2)], graph_of())


def test_inference_mode_computes_what_was_meant():
    with torch.inference_mode():
        pure = tg.run(Stepped(lambda old, new: old + new, True), graph_of())
        found = tg.run(Stepped(IN_PLACE["add_"], True), graph_of())
    assert found.iterations == 4 and torch.equal(found.values, pure.values)


class Halved(tg.Program):
    """Halves its values, in a way that is given."""

    tolerance = 1e-3

    def __init__(self, halve, kind="tensor"):
        self.halve, self.kind = halve, kind

    def init(self, graph):
        values = torch.ones(N)
        return values if self.kind == "tensor" else {"x": values}, graph.everything()

    def compute(self, sub, values, active):
        return self.halve(values), active

    def residual(self, before, after):
        one, other = (before, after) if self.kind == "tensor" else (before["x"], after["x"])
        return (one - other).abs().max()


def replaced(values):
    values["x"] = values["x"] / 2
    return values


def test_computes_in_place_with_a_residual(fuse):
    expected = tg.run(Halved(lambda x: x / 2), graph_of(), fuse=fuse)
    assert expected.iterations == 10
    for halve in (lambda x: x.mul_(0.5), lambda x: x.mul_(0.5)[:], lambda x: torch.mul(x, 0.5, out=x)):
        with pytest.raises(tg.errors.ArgumentError, match="compute: wrote into the given values"):
            tg.run(Halved(halve), graph_of(), fuse=fuse)
    with pytest.raises(tg.errors.ArgumentError, match="compute: wrote into the given values"):
        tg.run(Halved(lambda values: {"x": values["x"].mul_(0.5)}, "dict"), graph_of(), fuse=fuse)
    found = tg.run(Halved(replaced, "dict"), graph_of(), fuse=fuse)
    assert found.iterations == 10 and torch.equal(found.values["x"], expected.values)
    with torch.inference_mode():
        assert tg.run(Halved(lambda x: x.mul_(0.5)), graph_of(), fuse=fuse).iterations == 10


def test_a_relaxation_with_a_residual_is_measured():
    class Least(tg.Relaxation):
        reduce, edge, tolerance = "min", "copy", 1e-6

        def init(self, graph):
            return torch.arange(N) + 0.0, graph.everything()

        def residual(self, before, after):
            self.seen = [*getattr(self, "seen", []), float((before - after).abs().sum())]
            return self.seen[-1]

    program = Least()
    tg.run(program, graph_of())
    assert program.seen[0] > 0


def test_a_residual_writes_into_nothing(fuse):
    class Writing(Halved):
        def residual(self, before, after):
            return after.sub_(before).abs().max()

    with pytest.raises(tg.errors.ArgumentError, match="residual: wrote into the values"):
        tg.run(Writing(lambda x: x / 2), graph_of(), fuse=fuse)
