"""The loop: when it ends, what it raises, that directions and buckets never change an answer, and what a step costs."""

import gc
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import MODES, arcs, graphs, grid, random_graph, relaxed
from torch.utils._python_dispatch import TorchDispatchMode

import tgraph as tg
from tgraph.algorithms import BFS, SSSP, WCC, PageRank
from tgraph.core.system import devices
from tgraph.errors import ArgumentError, NotConvergedError

# ---- relaxations in every combination -------------------------------------------------------------------------------

# (reduce, edge): weights for which the fixpoint exists
CONVERGENT = {
    ("min", "copy"): (0, 9),
    ("min", "add"): (0, 9),
    ("min", "mul"): (1, 3),
    ("min", "min"): (0, 9),
    ("min", "max"): (0, 9),
    ("max", "copy"): (0, 9),
    ("max", "add"): (-9, 0),
    ("max", "mul"): (0, 1),
    ("max", "min"): (0, 9),
    ("max", "max"): (0, 9),
}


class Declared(tg.Relaxation):
    """Any relaxation; None among the first values means not reached."""

    def __init__(self, reduce, edge, start, dtype, weight=None, delta=None, active=None):
        self.reduce, self.edge, self.weight, self.delta = reduce, edge, weight, delta
        self.start, self.dtype, self.active = start, dtype, active

    def init(self, graph):
        identity = self.reduction.identity(self.dtype)
        values = torch.tensor([identity if value is None else value for value in self.start], dtype=self.dtype)
        if self.active is not None:
            return values, getattr(graph, self.active)()
        return values, graph.select(torch.tensor([value is not None for value in self.start], dtype=torch.bool))


def expected_values(graph, reduce, edge, start, weights, dtype):
    found = relaxed(graph, start, reduce, edge, weights)
    identity = {"min": math.inf, "max": -math.inf}[reduce]
    if not dtype.is_floating_point:
        identity = torch.iinfo(dtype).max if reduce == "min" else torch.iinfo(dtype).min
    return [identity if value is None else value for value in found]


@pytest.mark.parametrize(("reduce", "edge"), CONVERGENT)
@given(graph=graphs(), data=st.data())
def test_every_relaxation_in_every_direction(reduce, edge, graph, data):
    """Compared with relaxing all arcs until nothing changes. Unreached vertices must not send: the largest value of
    their dtype, an infinity, or the weight alone would pass for a message."""
    dtype = data.draw(st.sampled_from([torch.int32, torch.int64, torch.float32, torch.float64]))
    lowest, highest = CONVERGENT[reduce, edge]
    n, m = graph.num_vertices, graph.num_arcs
    number = st.integers(0, 20)
    start = data.draw(st.lists(st.none() | st.none() | number, min_size=n, max_size=n))
    form = data.draw(st.sampled_from(["number", "tensor", "own"]))
    if form == "number":
        weight = data.draw(st.integers(lowest, highest))
        weights = [weight] * m
    else:
        weights = data.draw(st.lists(st.integers(lowest, highest), min_size=m, max_size=m))
        weight = torch.tensor(weights, dtype=dtype)
    if form == "own":  # on a directed graph, for then the weights need not be symmetric
        graph, weight = tg.Graph(graph.offset, graph.neighbors, weight), None
    expected = expected_values(graph, reduce, edge, start, weights, dtype)
    for active in (None, "everything"):
        for mode in MODES:
            program = Declared(reduce, edge, start, dtype, weight, active=active)
            assert tg.run(program, graph, mode=mode).values.tolist() == expected, (mode, active)


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.float64])
@pytest.mark.parametrize(("reduce", "edge"), CONVERGENT)
def test_every_relaxation_on_a_larger_graph(reduce, edge, dtype, backend):
    graph = random_graph(150, 900, dtype=dtype)
    lowest, highest = CONVERGENT[reduce, edge]
    random = torch.Generator().manual_seed(0)
    weights = torch.randint(lowest, highest + 1, (graph.num_arcs,), generator=random).to(dtype)
    start = [(7 * v) % 11 if v % 5 == 0 else None for v in range(150)]
    expected = expected_values(graph, reduce, edge, start, weights.tolist(), dtype)
    for mode in MODES:
        run = tg.run(Declared(reduce, edge, start, dtype, weights), graph, mode=mode, backend=backend)
        assert run.values.tolist() == expected, mode


def test_infinities_and_zeros_do_not_meet():
    """An unreached vertex holds an infinity, and infinity times 0 is NaN; a NaN must neither be chosen nor hide other
    messages."""
    src, dst = [0, 1, 4, 4, 5, 6, 7, 8], [2, 2, 2, 3, 3, 3, 3, 3]
    graph = tg.Graph.from_edges(src, dst, num_vertices=9)
    for reduce, better in (("min", min), ("max", max)):
        weights = torch.tensor([1.0, 1.0, 0, 0, 0, 0, 0, 0])
        program = Declared(reduce, "mul", [3.0, 2.0, *[None] * 7], torch.float32, weights)
        for mode in MODES:
            values = tg.run(program, graph, mode=mode).values
            assert values[2] == better(3, 2) and not values.isnan().any()


@pytest.mark.parametrize(("reduce", "edge"), [("max", "min"), ("max", "mul")])
def test_widest_and_most_reliable_path(reduce, edge, mode):
    graph = random_graph(60, 300)
    weights = torch.rand(graph.num_arcs, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for unreached in (0.0, None):
        start = [1.0 if v == 5 else unreached for v in range(60)]
        expected = [-math.inf if x is None else x for x in relaxed(graph, start, reduce, edge, weights.tolist())]
        found = tg.run(Declared(reduce, edge, start, torch.float64, weights), graph, mode=mode).values
        assert found.tolist() == expected


def test_label_propagation(mode):
    class Smallest(tg.Relaxation):
        reduce, edge = "min", "copy"

        def init(self, graph):
            return torch.arange(graph.num_vertices), graph.everything()

    graph = random_graph(80, 60, directed=False)
    assert torch.equal(tg.run(Smallest(), graph, mode=mode).values, tg.run(WCC(), graph).values)


def test_reachability_in_bool(mode):
    class Reachable(tg.Relaxation):
        reduce, edge = "max", "copy"

        def init(self, graph):
            return torch.arange(graph.num_vertices) == 0, graph.select(0)

    graph = random_graph(50, 60)
    assert torch.equal(tg.run(Reachable(), graph, mode=mode).values, tg.run(BFS(0), graph).values >= 0)


@pytest.mark.parametrize("weight", [0.1, 1 / 3])
def test_a_fractional_number_is_added_in_the_precision_of_the_values(weight, mode):
    path = tg.Graph.from_edges(range(6), range(1, 7))
    start = [0.0, *[None] * 6]
    found = tg.run(Declared("min", "add", start, torch.float64, weight), path, mode=mode).values
    assert found.tolist() == relaxed(path, start, "min", "add", [weight] * 6)


@pytest.mark.parametrize(
    ("weights", "place"), [("tensor", "position 1"), ("own", "position 1"), ("number", "position 0")]
)
def test_a_weight_that_is_nan(weights, place, mode):
    """One direction would drop it, another spread it, a third let it hide the other messages of its row."""
    bad = torch.tensor([1.0, math.nan])
    graph = tg.Graph.from_edges([0, 1], [2, 2], bad if weights == "own" else None)
    weight = {"tensor": bad, "own": None, "number": math.nan}[weights]
    for reduce, edge in CONVERGENT:
        program = Declared(reduce, edge, [0.0, 9.0, None], torch.float32, weight)
        if edge == "copy":
            assert tg.run(program, graph, mode=mode).values[2] == (0 if reduce == "min" else 9)
        else:
            with pytest.raises(ArgumentError, match=rf"weights: nan at {place}, arc \d -> 2; "):
                tg.run(program, graph, mode=mode)


def test_a_bound_is_never_worse_than_a_message():
    """A pull skips vertices that the bound cannot improve: rounding it up by one bit would skip some that it can."""
    graph = tg.Graph.from_edges([0], [1])
    for weight in (0.1, 1 / 3, 0.7):
        for dtype in (torch.float32, torch.float64):
            message = torch.tensor(0.0, dtype=dtype) + torch.tensor(weight, dtype=dtype)
            just_worse = float(torch.nextafter(message, torch.tensor(9.0, dtype=dtype)))
            program = Declared("min", "add", [0.0, just_worse], dtype, weight)
            assert tg.run(program, graph, mode="pull").values[1] == message


@given(graphs(min_vertices=1, dtypes=(torch.float64, torch.int64)), st.integers(0, 4))
def test_rounds_are_hops_in_every_direction(graph, rounds):
    """After k rounds a vertex holds the best of the paths of at most k arcs, whatever the direction."""

    class Hops(Declared):
        pass

    Hops.rounds = rounds
    start = [0] + [None] * (graph.num_vertices - 1)
    best = {0: 0}
    for _ in range(rounds):
        heard = [(v, best[u] + w) for u, v, w in arcs(graph) if u in best]
        for v, message in heard:
            best[v] = min(best.get(v, math.inf), message)
    unreached = math.inf if graph.weights.is_floating_point() else torch.iinfo(torch.int64).max
    for mode in MODES:
        run = tg.run(Hops("min", "add", start, graph.weights.dtype), graph, mode=mode)
        assert run.values.tolist() == [best.get(v, unreached) for v in range(graph.num_vertices)]
        assert run.converged and run.iterations <= rounds


@given(graphs(dtypes=(torch.int64,)), st.data())
def test_columns_are_independent_problems(graph, data):
    n = graph.num_vertices
    starts = data.draw(
        st.lists(st.lists(st.none() | st.integers(0, 9), min_size=n, max_size=n), min_size=1, max_size=3)
    )

    class Columns(tg.Relaxation):
        def init(self, graph):
            far = torch.iinfo(torch.int64).max
            rows = [[far if start[v] is None else start[v] for start in starts] for v in range(n)]
            values = torch.tensor(rows, dtype=torch.int64).reshape(n, len(starts))
            return values, graph.select((values < far).any(1))

    weights = [weight for _, _, weight in arcs(graph)]
    columns = [expected_values(graph, "min", "add", start, weights, torch.int64) for start in starts]
    for mode in MODES:
        found = tg.run(Columns(), graph, mode=mode).values
        assert [column.tolist() for column in found.unbind(1)] == columns


# ---- the end of a run -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_negative_cycle_is_reported(mode):
    graph = tg.Graph.from_edges([0, 1, 2, 3], [1, 2, 1, 4], [1.0, -2.0, 1.0, 1.0])
    with pytest.raises(NotConvergedError) as caught:
        tg.run(Declared("min", "add", [0.0, *[None] * 4], torch.float64), graph, mode=mode)
    assert caught.value.run.iterations == 6 and "cycle" in str(caught.value)


@pytest.mark.parametrize("mode", MODES)
def test_negative_weights_without_a_negative_cycle(mode):
    graph = tg.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3], [4.0, -3.0, 2.0, -1.0])
    found = tg.run(Declared("min", "add", [0.0, None, None, None], torch.float64), graph, mode=mode).values
    assert found.tolist() == [0, 4, 1, 0]


def test_a_path_through_all_vertices_is_within_the_limit(mode):
    path = tg.Graph.from_edges(range(9), range(1, 10), [1.0] * 9)
    assert tg.run(Declared("min", "add", [0.0, *[None] * 9], torch.float64), path, mode=mode).converged


def test_a_min_of_minima_may_walk_every_arc_of_a_path_twice(mode):
    """To the far end for the least weight, and back."""
    n = 12
    weights = torch.full((2 * n - 2,), 5.0)
    path = tg.Graph.from_edges(range(n - 1), range(1, n), directed=False)
    weights[-1] = 1.0  # from the last vertex back
    start = [9.0, *[None] * (n - 1)]
    assert tg.run(Declared("min", "min", start, torch.float32, weights), path, mode=mode).values.tolist() == [1.0] * n


def test_max_iterations(mode):
    graph = tg.Graph.from_edges(range(9), range(1, 10))
    with pytest.raises(NotConvergedError) as caught:
        tg.run(BFS(0), graph, mode=mode, max_iterations=4)
    run = caught.value.run
    assert run.iterations == 4 and not run.converged and caught.value.residual is None
    assert run.values.tolist() == [0, 1, 2, 3, 4, -1, -1, -1, -1, -1]  # finished: -1, not the largest int32
    for word in ("BFS", "4 iterations", "1 vertices still active", "max_iterations"):
        assert word in str(caught.value), caught.value
    assert tg.run(BFS(0), graph, mode=mode, max_iterations=10).converged
    with pytest.raises(ArgumentError, match=r"max_iterations.*-1"):
        tg.run(BFS(0), graph, max_iterations=-1)
    with pytest.raises(NotConvergedError):
        tg.run(BFS(0), graph, max_iterations=0)
    assert tg.run(BFS(9), graph, max_iterations=1).converged


def test_the_limit_of_run_overrides_the_program():
    graph = random_graph(40, 100)
    with pytest.raises(NotConvergedError) as caught:
        tg.run(PageRank(tol=1e-12, dtype=torch.float64), graph, max_iterations=2)
    assert caught.value.run.iterations == 2 and caught.value.residual == caught.value.run.residual > 0


def test_a_graph_without_vertices_ends_at_once(mode):
    empty = tg.Graph.from_edges([], [])
    run = tg.run(PageRank(), empty, mode=mode)
    assert run.iterations == 0 and run.converged and run.values.shape == (0,)


# ---- what the user may get wrong ------------------------------------------------------------------------------------


def returning(init=None, compute=None):
    class Wrong(tg.Program):
        def init(self, graph):
            return (torch.zeros(graph.num_vertices), graph.everything()) if init is None else init(graph)

        def compute(self, sub, values, active):
            return (values + 1, active) if compute is None else compute(sub, values, active)

    return Wrong()


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (returning(init=lambda g: torch.zeros(3)), ("Wrong.init", "(vertex data, Frontier)", "graph.select")),
        (returning(init=lambda g: (torch.zeros(3), [0])), ("Wrong.init", "Frontier")),
        (returning(init=lambda g: (torch.zeros(4), g.everything())), ("Wrong.init", "[4]", "[3, ...]")),
        (returning(init=lambda g: ({"a": torch.zeros(2)}, g.everything())), ("'a'", "[2]", "[3, ...]")),
        (returning(init=lambda g: ([0, 0, 0], g.everything())), ("init", "list", "dict of tensors")),
        (returning(init=lambda g: (torch.zeros(3, device="meta"), g.everything())), ("meta", "cpu", "graph.device")),
        (returning(compute=lambda s, v, a: v), ("Wrong.compute", "(vertex data, Frontier)", "tg.update")),
        (returning(compute=lambda s, v, a: (v, torch.ones(3))), ("Wrong.compute", "Frontier")),
        (returning(compute=lambda s, v, a: (v, random_graph(9, 9).everything())), ("Wrong.compute", "another graph")),
        (PageRank, ("program", "instance", "PageRank")),
        (Declared("sum", "add", [0] * 3, torch.int64, 1), ("reduce", "'sum'", "'max'", "Program")),
        (Declared("min", "div", [0] * 3, torch.int64, 1), ("edge", "'div'", "'add'")),
        (Declared("min", "add", [0] * 3, torch.int64), ("weights", "none", "weights=")),
        (Declared("min", "add", [0] * 3, torch.int64, 0.5), ("int64", "float", "init")),
        (Declared("min", "add", [0] * 3, torch.int32, torch.ones(2, dtype=torch.int64)), ("int32", "int64", "init")),
        (Declared("min", "add", [0] * 3, torch.float32, torch.ones(2).double()), ("float32", "float64", "init")),
        (Declared("min", "add", [0] * 3, torch.int64, torch.ones(5, dtype=torch.int64)), ("weights", "[2]", "[5]")),
        (Declared("max", "min", [0] * 3, torch.int64, 1, delta=2), ("delta", "'max'", "'min'")),
        (Declared("min", "add", [0] * 3, torch.int64, 1, delta=0), ("delta", "positive", "0")),
        (Declared("min", "add", [0] * 3, torch.int64, -1, delta=2), ("delta", "negative", "None")),
        (
            Declared("min", "add", [0.0] * 3, torch.float64, torch.tensor([1, -1.0]).double(), delta=2),
            ("delta", "negative"),
        ),
        (Declared("min", "add", [0.0] * 3, torch.float64, math.nan, delta=2), ("weights", "NaN")),
    ],
)
def test_errors_name_a_remedy(program, words):
    graph = tg.Graph.from_edges([0, 1], [1, 0], num_vertices=3)
    for mode in MODES:
        with pytest.raises(ArgumentError) as caught:
            tg.run(program, graph, mode=mode, max_iterations=50)
        for word in words:
            assert word in str(caught.value), caught.value


def test_wrong_options():
    graph = random_graph(4, 6)
    with pytest.raises(ArgumentError, match=r"mode.*'sideways'.*'pull'"):
        tg.run(BFS(0), graph, mode="sideways")
    with pytest.raises(ArgumentError, match=r"backend.*'abacus'.*'portable'"):
        tg.run(BFS(0), graph, backend="abacus")
    with pytest.raises(ArgumentError, match=r"graph.*list"):
        tg.run(BFS(0), [1, 2])


def test_weights_on_a_graph_without_arcs(mode):
    """A tensor of no weights has no least one."""
    graph = tg.Graph.from_edges([], [], num_vertices=2)
    program = Declared("min", "add", [0.0, None], torch.float64, torch.empty(0, dtype=torch.float64))
    assert tg.run(program, graph, mode=mode).values.tolist() == [0, math.inf]


# ---- running on -----------------------------------------------------------------------------------------------------


def test_an_interrupted_run_leaves_everything_usable(mode):
    class Impatient(SSSP):
        steps = 0

        def compute(self, sub, values, active):
            self.steps += 1
            if self.steps == 3:
                raise KeyboardInterrupt
            return super().compute(sub, values, active)

    graph = grid(4, 9, torch.int32)
    caches = set(graph.caches)
    program = Impatient(0)
    with pytest.raises(KeyboardInterrupt):
        tg.run(program, graph, mode=mode, trace=True, progress=True)
    assert tg.run(program, graph, mode=mode).values.tolist() == tg.run(SSSP(0), graph).values.tolist()
    assert graph.validate() is graph and caches <= set(graph.caches)


def test_progress_counts_iterations_on_stderr(capsys):
    graph = tg.Graph.from_edges(range(9), range(1, 10))
    run = tg.run(BFS(0), graph, progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "BFS" in shown.err and f"{run.iterations} iterations" in shown.err
    assert tg.run(BFS(0), graph).values is not None
    assert capsys.readouterr() == ("", "")


def test_programs_hold_no_state_that_spoils_a_second_run(mode):
    graph, other = random_graph(40, 120, dtype=torch.int64), random_graph(30, 60, seed=3, dtype=torch.float32)
    for program in (BFS(0), SSSP(0), WCC(), PageRank(), BFS([0, 1])):
        first = [tg.run(program, g, mode=mode).values for g in (graph, other, graph)]
        assert torch.equal(first[0], first[2])
        assert len(first[1]) == 30


def test_runs_keep_nothing_alive():
    import weakref

    graph = random_graph(40, 120)
    run = tg.run(BFS(0), graph, trace=True)
    watched = weakref.ref(graph)
    del graph
    gc.collect()
    assert watched() is None and len(run.trace) == run.iterations


# ---- what a user writes, as in DESIGN.md ----------------------------------------------------------------------------


def test_the_relaxation_of_the_design():
    # fmt: off
    class SSSP(tg.Relaxation):
        """Shortest distance from a source: dist[v] = min over in-edges of dist[u] + weight."""
        reduce, edge = "min", "add"                      # BFS: weight = 1; WCC: edge = "copy"

        def __init__(self, source):
            self.source = source

        def init(self, graph):
            dist = torch.full((graph.num_vertices,), torch.inf)
            dist[self.source] = 0
            return dist, graph.select(self.source)
    # fmt: on

    graph = random_graph(50, 200, dtype=torch.float32)
    dist = tg.run(SSSP(source=0), graph).values
    assert torch.equal(dist, tg.algorithms.sssp(graph, 0))


def test_the_program_of_the_design():
    class PageRank(tg.Program):
        def init(self, graph):
            n = graph.num_vertices
            return torch.full((n,), 1 / n), graph.everything()

        def compute(self, sub, rank, active):
            share = rank / sub.graph.out_degree.clamp(min=1)
            received = tg.aggregate(sub, share, "sum")
            return tg.update(rank, active, received, self.teleport)

        def teleport(self, rank, received):
            return 0.15 / len(rank) + 0.85 * received

    graph = random_graph(50, 200)
    for mode in MODES:
        run = tg.run(PageRank(), graph, mode=mode)
        assert run.converged
        expected = tg.algorithms.pagerank(graph, dangling="ignore", tol=1e-12, max_iterations=500, dtype=torch.float64)
        np.testing.assert_allclose(run.values.numpy(), expected.numpy(), rtol=1e-4)


def test_a_frontier_program_by_aggregate_and_update():
    """BFS by the operators alone, in place where the frontier is sparse, equal in every direction."""

    class Levels(tg.Program):
        def init(self, graph):
            level = torch.full((graph.num_vertices,), 1000)
            level[0] = 0
            return level, graph.select(0)

        def compute(self, sub, level, active):
            return tg.update(level, active, tg.aggregate(sub, level, "min", edge="add", weights=1), self.nearer)

        @staticmethod
        def nearer(old, received):
            return torch.where(received < 0, old, torch.minimum(old, received))  # the largest int64 + 1 is negative

    graph = random_graph(60, 120)
    expected = tg.run(BFS(0), graph).values
    for mode in MODES:
        found = tg.run(Levels(), graph, mode=mode).values
        assert torch.equal(torch.where(found == 1000, -1, found), expected.to(torch.int64))


# ---- what an iteration costs ----------------------------------------------------------------------------------------

# These may be handed whole vertex data, for they touch only what the indices name, or nothing at all.
# fmt: off
SPARSE = {
    "index_select", "index", "gather", "scatter_reduce_", "scatter_", "index_put_", "index_copy_", "empty", "new_empty",
    "empty_like", "slice", "select", "view", "alias", "detach", "as_strided", "expand", "unsqueeze", "squeeze",
}
WAITS = {
    "_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique2", "unique_dim",
    "unique_consecutive", "unique_dim_consecutive", "bincount",
}
# fmt: on


class Watch(TorchDispatchMode):
    """Notes, while `on`, operations on whole vertex data and operations for which a host must wait."""

    def __init__(self, num_vertices, monkeypatch):
        super().__init__()
        self.num_vertices, self.on, self.whole, self.waits = num_vertices, False, [], []
        for name in ("tolist",):  # reads the memory without an operation
            original = getattr(torch.Tensor, name)

            def counted(tensor, *arguments, original=original, name=name):
                self._wait(name)
                return original(tensor, *arguments)

            monkeypatch.setattr(torch.Tensor, name, counted)
        original_tensor = torch.tensor

        def uploaded(*arguments, **options):
            self._wait("torch.tensor")
            return original_tensor(*arguments, **options)

        monkeypatch.setattr(torch, "tensor", uploaded)

    def _wait(self, name):
        if self.on:
            self.waits[-1].append(name)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if self.on:
            name = function.overloadpacket.__name__
            by_mask = name in ("index", "index_put_", "index_put") and any(
                place is not None and place.dtype in (torch.bool, torch.uint8) for place in args[1]
            )
            tensors = [
                x for x in torch.utils._pytree.tree_leaves((args, kwargs, result)) if isinstance(x, torch.Tensor)
            ]
            if max((x.numel() for x in tensors), default=0) >= self.num_vertices // 4 and (
                by_mask or name not in SPARSE
            ):
                self.whole[-1].append(f"{function} {[list(x.shape) for x in tensors]}")
            sizeless = name == "repeat_interleave" and (kwargs or {}).get("output_size") is None
            if by_mask or sizeless or name in WAITS:
                self.waits[-1].append(str(function))
        return result


def watched(program, watch):
    """The program with the watch on from its first TENSORIZE to its end."""

    class Watched(type(program)):
        def tensorize(self, *arguments):
            watch.on = True
            watch.whole.append([])
            watch.waits.append([])
            return super().tensorize(*arguments)

        def finish(self, values):
            watch.on = False
            return super().finish(values)

    program.__class__ = Watched
    return program


@pytest.mark.covering(1)
@pytest.mark.parametrize("program", [BFS(0), SSSP(0), SSSP(0, delta=1000)], ids=["BFS", "SSSP", "SSSP-wide"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.float32])
def test_a_sparse_iteration_touches_nothing_of_the_size_of_the_graph(program, dtype, monkeypatch):
    """On a grid the frontier is a diagonal. All but allocation must be of its size: no fill, no scan, no copy."""
    graph = grid(120, 120, dtype)
    graph.out_degree  # noqa: B018  computed once per graph
    watch = Watch(graph.num_vertices, monkeypatch)
    with watch:
        run = tg.run(watched(type(program)(program.source), watch), graph, trace=False)
    assert len(watch.whole) == run.iterations > 100
    assert not any(watch.whole), next(step for step in watch.whole if step)


def test_the_watch_sees_a_scan(monkeypatch):
    class Scanning(BFS):
        def compute(self, sub, values, active):
            values.clone()
            torch.full_like(values, 0)
            (values >= 0).nonzero()
            return super().compute(sub, values, active)

    graph = grid(60, 60)
    watch = Watch(graph.num_vertices, monkeypatch)
    with watch:
        tg.run(watched(Scanning(0), watch), graph)
    seen = " ".join(watch.whole[0])
    assert all(name in seen for name in ("clone", "full_like", "ge", "nonzero"))
    assert any("nonzero" in name for name in watch.waits[0])


@pytest.mark.parametrize("source", [0, [0, 3]])
def test_a_search_waits_for_an_accelerator_once_per_iteration(mode, source, monkeypatch):
    """The size of the next frontier, and nothing else, must come back to the host."""
    monkeypatch.setattr(devices, "waits_are_free", lambda tensor: False)
    for graph in (random_graph(300, 1500), grid(20, 20)):
        graph.out_degree  # noqa: B018  once per graph
        graph.transpose()
        watch = Watch(graph.num_vertices, monkeypatch)
        with watch:
            run = tg.run(watched(BFS(source), watch), graph, mode=mode)
        assert len(watch.waits) == run.iterations > 2
        assert max(map(len, watch.waits)) <= 1, max(watch.waits, key=len)


@pytest.mark.parametrize("program", [BFS(0), BFS([0, 3]), SSSP(0), WCC()], ids=["BFS", "BFS-several", "SSSP", "WCC"])
def test_code_paths_of_accelerators_give_the_same_answers(program, monkeypatch):
    graph = random_graph(200, 700, dtype=torch.float32)
    expected = tg.run(program, graph).values
    monkeypatch.setattr(devices, "waits_are_free", lambda tensor: False)
    for mode in MODES:
        assert torch.equal(tg.run(program, graph, mode=mode).values, expected)


@pytest.mark.parametrize(
    "limits", [{"rounds": -1}, {"max_iterations": -1}, {"tolerance": -1.0}, {"tolerance": math.nan}]
)
def test_limits_that_would_never_be_met_are_refused(limits):
    program = PageRank()
    for name, value in limits.items():
        setattr(program, name, value)
    with pytest.raises(ArgumentError, match=next(iter(limits))):
        tg.run(program, random_graph(5, 9))


# ---- found in review ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edge", ["copy", "add"])
def test_only_the_frontier_sends(edge, mode):
    """Vertex 0 holds a better value than 3, but is not active: it sends nothing."""

    class Partial(tg.Relaxation):
        weight = 1

        def init(self, graph):
            return torch.arange(graph.num_vertices) * 10, graph.select(3)

    Partial.edge = edge
    graph = tg.Graph.from_edges([3, 0, 0], [4, 4, 2])
    assert tg.run(Partial(), graph, mode=mode).values.tolist() == [0, 10, 20, 30, 30 if edge == "copy" else 31]


def test_first_values_that_compare_with_nothing_are_refused():
    program = Declared("min", "add", [0.0, math.nan, 1.0], torch.float32, 1.0)
    with pytest.raises(ArgumentError, match="NaN"):
        tg.run(program, tg.Graph.from_edges([0, 1], [1, 2]))


def test_integer_sums_that_would_wrap_are_refused():
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3], torch.full((3,), 2**30, dtype=torch.int32))
    far = 2**31 - 1
    with pytest.raises(ArgumentError, match=r"values: 1073741824 \+ 1073741824 on the arc 1 -> 2 .*int32.*int64"):
        tg.run(Declared("min", "add", [0, far, far, far], torch.int32), graph)
    assert tg.run(Declared("min", "add", [0, 9, 9, 9], torch.int32), graph).values.tolist() == [0, 9, 9, 9]
    assert tg.run(Declared("min", "add", [0, 2**40, 2**40, 2**40], torch.int64), graph).values[3] == 3 * 2**30


def test_a_relaxation_runs_on_weights_that_record_gradients(mode):
    weights = torch.tensor([1.0, 2.0], requires_grad=True)
    distance = tg.algorithms.sssp(tg.Graph.from_edges([0, 1], [1, 2], weights), 0, mode=mode)
    assert distance.tolist() == [0, 1, 3]
    assert torch.autograd.grad(distance[2], weights)[0].tolist() == [1, 1]


@pytest.mark.parametrize("name", ["rounds", "max_iterations"])
def test_limits_are_whole_numbers(name):
    program = PageRank()
    setattr(program, name, 1.5)
    with pytest.raises(ArgumentError, match=f"{name}.*1.5"):
        tg.run(program, random_graph(5, 9))


@pytest.mark.parametrize("deterministic", [True, False])
def test_deterministic_torch_gives_the_same_answers(deterministic):
    graph = random_graph(200, 700, dtype=torch.float32)
    expected = [tg.algorithms.bfs(graph, 0), tg.algorithms.sssp(graph, 0), tg.algorithms.wcc(graph)]
    torch.use_deterministic_algorithms(deterministic)
    try:
        found = [tg.algorithms.bfs(graph, 0), tg.algorithms.sssp(graph, 0), tg.algorithms.wcc(graph)]
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(map(torch.equal, found, expected))


def test_a_weight_that_is_neither_number_nor_tensor_is_refused():
    with pytest.raises(ArgumentError, match=r"weight: .*list"):
        tg.run(Declared("min", "add", [0, 9], torch.int64, [1]), tg.Graph.from_edges([0], [1]))


def test_what_is_no_vertex_is_in_no_frontier():
    graph = random_graph(5, 9)
    for active in (graph.everything(), graph.select([1, 2]), graph.select(torch.ones(5, dtype=torch.bool))):
        assert 2 in active and 5 not in active and -1 not in active


class Halves(tg.Program):
    """Each value is halved, in as many rounds as are asked for."""

    rounds = 5

    def __init__(self):
        self.asked = []

    def init(self, graph):
        return torch.ones(graph.num_vertices), graph.everything()

    def compute(self, sub, values, active):
        return values / 2, active

    def compute_rounds(self, sub, values, most):
        count = min(most, 2)
        self.asked.append(most)
        return values / 2**count, count


class Thirds(Halves):
    def compute(self, sub, values, active):
        return values / 3, active


def test_a_program_may_compute_several_rounds_in_a_call():
    graph, program = tg.generators.path(4), Halves()
    run = tg.run(program, graph)
    assert program.asked == [5, 3, 1] and run.iterations == 5 and run.converged
    assert run.values.tolist() == [1 / 32] * 4
    assert tg.run(program, graph, max_iterations=5).iterations == 5
    with pytest.raises(NotConvergedError, match="after 3 iterations"):
        tg.run(program, graph, max_iterations=3)


def test_each_round_is_computed_where_it_is_watched_or_overridden(tmp_path):
    graph = tg.generators.path(4)
    for program, divisor, options in (
        (Halves(), 2, {"trace": True}),
        (Halves(), 2, {"checkpoint": tmp_path / "halves"}),
        (Thirds(), 3, {}),
    ):
        run = tg.run(program, graph, **options)
        assert not program.asked and run.iterations == 5
        assert torch.equal(run.values, torch.ones(4) / divisor**5)


@given(graphs(), st.sampled_from([None, 1e-3]), st.booleans())
@settings(max_examples=20)
def test_affine_programs_in_one_call_have_the_bits_of_rounds_one_by_one(graph, tol, wide):
    dtype = torch.float64 if wide else torch.float32
    for program in (
        lambda: tg.algorithms.PageRank(tol=tol, max_iterations=60, dtype=dtype),
        lambda: tg.algorithms.PageRank(tol=tol, max_iterations=60, dangling="ignore", dtype=dtype),
        lambda: tg.algorithms.Katz(alpha=0.01, tol=1e-3, dtype=dtype),
    ):
        watched, *runs = (tg.run(program(), graph, trace=trace) for trace in (True, False, False))
        for run in runs:  # the second finds what the first has kept
            assert torch.equal(run.values, watched.values)
            assert (run.iterations, run.residual) == (watched.iterations, watched.residual)
