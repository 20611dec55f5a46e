"""Program and Relaxation: what a user writes. The engine that runs them is `tgraph.run`."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import InLayout, Mode, Subgraph, Weights, arc_weights, whole
from tgraph.errors import ArgumentError
from tgraph.files.pytree import is_plain
from tgraph.kernels import choose
from tgraph.kernels.call import Call
from tgraph.kernels.messages import across
from tgraph.kernels.reductions import Reduction, check_edge_operation, reduction_of
from tgraph.model.operators import neighbor_select, reconstruct, vertex_select
from tgraph.primitives import weights as kinds
from tgraph.primitives.paths.shortest_paths import bucket_width


class Program:
    """A graph program: INIT, then TENSORIZE and COMPUTE until no vertex is active (paper, Algorithm 1).

    Vertex data is a tensor [n] or [n, ...], or a dict of them. A subclass writes `init` and `compute`; TENSORIZE is
    supplied and may be overridden. A program that stops at a tolerance writes `residual` and sets `tolerance`.

    rounds : the program is complete after so many iterations by its own definition (k hops, a fixed number of power
        iterations); None where it runs until no vertex is active or the tolerance is met.
    max_iterations : beyond so many iterations `run` raises NotConvergedError; None for no limit.
    one_torch_thread : True where torch itself computes little beside the compiled kernels: it then has one thread
        during a run on the CPU, since its threads spin after each operation and take processors from the kernels.
    finishes_each : True where what `finish` makes of a vertex depends on the value of that vertex alone.

    >>> class Hops(tg.Program):
    ...     rounds = 2
    ...
    ...     def init(self, graph):
    ...         return torch.zeros(graph.num_vertices).index_fill(0, torch.tensor(0), 1), graph.everything()
    ...
    ...     def compute(self, sub, walks, active):
    ...         return tg.update(walks, active, tg.aggregate(sub, walks))
    >>> tg.run(Hops(), tg.generators.cycle(4)).values
    tensor([2., 0., 2., 0.])
    """

    one_torch_thread: bool = False
    finishes_each: ClassVar[bool] = False
    rounds: int | None = None
    max_iterations: int | None = None
    tolerance: float | None = None

    def init(self, graph: Graph) -> tuple[Any, Frontier]:
        """The first vertex data (the run copies what a user's `init` returns) and the first active vertices.

        >>> graph = tg.generators.path(3)
        >>> values, active = tg.algorithms.PlainPageRank().init(graph)
        >>> values, active.is_everything
        (tensor([0.3333, 0.3333, 0.3333]), True)
        """
        raise NotImplementedError(f"{type(self).__name__}.init")

    def tensorize(self, graph: Graph, active: Frontier, mode: Mode) -> Subgraph:
        """The arcs of this iteration (paper, Algorithm 2).

        `mode` is what the engine chose: a "push" holds the rows of the `active` vertices, O(their arcs); a "pull" holds
        all rows of the transpose.

        >>> graph = tg.generators.path(4)
        >>> program = tg.algorithms.PlainPageRank()
        >>> program.tensorize(graph, graph.select(1), "push").neighbors
        tensor([0, 2], dtype=torch.int32)
        >>> program.tensorize(graph, graph.select(1), "pull").num_arcs
        6
        """
        if mode == "pull":
            return whole(graph, active, "pull")
        vertices = vertex_select(graph, active)
        selection = neighbor_select(graph, vertices, num_arcs=active.num_arcs)
        return reconstruct(graph, active, vertices, selection)

    def compute(self, sub: Subgraph, values: Any, active: Frontier) -> tuple[Any, Frontier]:
        """New vertex data and the next `active` vertices, by `aggregate` on `sub` and `update` of the `values`.

        >>> graph = tg.generators.star(3)
        >>> program = tg.algorithms.PlainPageRank()
        >>> rank, active = program.init(graph)
        >>> sub = program.tensorize(graph, active, "pull")
        >>> rank, active = program.compute(sub, rank, active)
        >>> rank
        tensor([0.6750, 0.1083, 0.1083, 0.1083])
        """
        raise NotImplementedError(f"{type(self).__name__}.compute")

    def compute_rounds(self, sub: Subgraph, values: Any, most: int) -> tuple[Any, int] | None:
        """The vertex data `values` after several iterations, at least 1 and at most `most`, and how many these were, of
        a program of which every vertex stays active; None, as by default, to have `compute` called. For a program that
        can run several iterations in one call: `run` asks where everything is active, `sub` holds all arcs, and nobody
        watches the iterations by a trace, a checkpoint or a progress bar.

        The values must be those of `compute`, bit for bit. With a `tolerance` the last iteration is the first whose
        residual is at most that; `residual` then gets the first vertex data and the last, and gives that of the last
        iteration. The values given may be written over.

        >>> program = tg.algorithms.Katz(alpha=0.5)
        >>> graph = tg.generators.path(3)
        >>> x, active = program.init(graph)
        >>> program.compute_rounds(program.tensorize(graph, active, "pull"), x, 1)
        (tensor([1., 1., 1.], dtype=torch.float64), 1)
        """
        return None

    def residual(self, before: Any, after: Any) -> Tensor | float | None:
        """How far an iteration moved the vertex data, from `before` to `after`, a number or scalar tensor; None where
        there is no such measure.

        With a `tolerance` the run ends once the residual is at most that. Called only after iterations in which
        everything was active. Neither `compute` nor `residual` may then write into the values that they are given,
        which raises ArgumentError.

        >>> program = tg.algorithms.PlainPageRank()
        >>> program.residual(torch.tensor([0.5, 0.5]), torch.tensor([0.75, 0.25]))
        tensor(0.5000)
        """
        return None

    def state(self) -> dict[str, Any]:
        """State of the program for a checkpoint: by default every attribute that is plain (numbers, text, tensors,
        numpy arrays, and lists, tuples and dicts of these), the `state()` of one that has a `restore` as well, and the
        state of a `torch.Generator`.

        Any other attribute must be after the run what `init` made it; a program of which one is not overrides both
        methods.

        >>> tg.algorithms.PageRank(damping=0.9).state()["damping"]
        0.9
        """
        found = {}
        for name, value in vars(self).items():
            if isinstance(value, torch.Generator):
                found[name] = value.get_state()
            elif hasattr(value, "restore") or is_plain(value):
                found[name] = value.state() if hasattr(value, "restore") else value
        return found

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned in an earlier run, after `init`.

        >>> program = tg.algorithms.PageRank()
        >>> program.restore({"damping": 0.9})
        >>> program.damping
        0.9
        """
        for name, value in state.items():
            held: Any = getattr(self, name, None)
            if isinstance(held, torch.Generator):
                held.set_state(value)
            elif hasattr(held, "restore"):
                held.restore(value)
            else:
                setattr(self, name, value)

    def finish(self, values: Any) -> Any:
        """The result that the user sees, from the last `values`; by default the same.

        >>> tg.Program().finish(torch.tensor([1, 2]))
        tensor([1, 2])
        """
        return values

    def followed(self) -> Any:
        """The rule of `tgraph.dynamic.follow` on a graph that changes: a declaration such as
        `tgraph.dynamic.LinearSystem`; None, as by default, for a Relaxation, which its semiring declares, and for
        programs that cannot be followed.

        >>> tg.algorithms.PageRank(damping=0.9).followed().alpha
        0.9
        """
        return None


class Relaxation(Program):
    """A monotone fixpoint, declared as a semiring: value[v] = reduce over arcs u -> v of edge(value[u], weight).

    reduce : "min" or "max".
    edge : "copy", "add", "mul", "min" or "max".
    weight : a number for every arc, a tensor [m] in stored arc order, the name of a column of the graph's arcs, or None
        for its weights.
    delta : relax a min of sums in the order of buckets of this width (delta-stepping: Meyer and Sanders 2003; near-far:
        Davidson et al. 2014), which changes the speed and never the values. None lets the engine choose a width, where
        arcs have weights and none is negative; infinity relaxes whatever has changed.

    first : the first value of the active vertices, where that is one number for the class and all others are "not
        reached"; the values of each run are then not checked. None where they have to be.

    A subclass writes `init` alone: the first values, [n] or [n, k] for k problems at once, and the first active
    vertices, which alone send: name all that have something to send. A value that is the identity of `reduce`
    (infinity, or the largest value of an integer dtype, for a min) means "not reached" and is never sent.

    >>> class ShortestPaths(tg.Relaxation):
    ...     reduce, edge = "min", "add"
    ...
    ...     def init(self, graph):
    ...         distance = torch.full((graph.num_vertices,), torch.inf)
    ...         return distance.index_fill(0, torch.tensor(0), 0), graph.select(0)
    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], torch.tensor([1.0, 5.0, 2.0]))
    >>> tg.run(ShortestPaths(), graph).values
    tensor([0., 1., 3.])
    """

    one_torch_thread = True
    reduce: ClassVar[str] = "min"
    edge: ClassVar[str] = "add"
    weight: Tensor | float | str | None = None
    delta: float | None = None
    first: ClassVar[float | None] = None

    @property
    def reduction(self) -> Reduction:
        """The reduction of that name. Raises ArgumentError unless it is min or max.

        >>> tg.algorithms.BFS(0).reduction.name
        'min'
        """
        return _checked_reduction(self.reduce, self.edge)

    @torch.no_grad()  # improvements overwrite values that a gradient would need
    def compute(self, sub: Subgraph, values: Tensor, active: Frontier) -> tuple[Tensor, Frontier]:
        """Aggregate and update in one: improvements are written into `values`. Not differentiable."""
        weights = arc_weights(sub, values, self.edge, self.weight)
        check_dtype(sub.graph, values, weights, self.edge)
        kernels = choose(sub.backend, Call("relax", values, self.reduction, self.edge, weights, sub=sub))
        bound = partial(self.bound, sub, values, active)
        return values, kernels.run(sub, values, self.reduction, self.edge, kernels.call.weights, bound)

    def bound(self, sub: Subgraph, values: Tensor, active: Frontier) -> Tensor | None:
        """The best message of the `values` that the `active` vertices of `sub` can send: [], [k], or None if not known.

        The operations but "mul" never fall when the value or the weight grows, so the best value over the best
        weight bounds them all.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [3.0, 2.0])
        >>> program = tg.algorithms.SSSP(0)
        >>> distance, active = program.init(graph)
        >>> sub = program.tensorize(graph, active, "push")
        >>> program.bound(sub, distance, active)
        tensor(2., dtype=torch.float64)
        """
        if self.edge == "mul" or not len(active) or not sub.graph.num_arcs:
            return None
        reduction = self.reduction
        sent = values if active.is_everything else values.index_select(0, active.ids)
        best = sent.amin(0) if reduction.name == "min" else sent.amax(0)
        if self.edge == "copy":
            return best
        weight, identity = self.best_weight(sub.graph), reduction.identity(values.dtype)
        nothing = best == identity
        if self.edge == "add" and not best.is_floating_point():
            limits = torch.iinfo(best.dtype)  # no arc with that weight need leave the vertex with that value
            best = best.clamp(limits.min - min(weight, 0), limits.max - max(weight, 0))
        bound = across(best, self.edge, weight).to(values.dtype)
        return torch.where(nothing, identity, bound)

    def bucket_width(self, graph: Graph, values: Tensor) -> float | None:
        """The width of the buckets in which to relax `values`, None for no order.

        By default that of `tgraph.primitives.shortest_paths.bucket_width`. The compiled loops of the CPU take a third
        of it.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [3.0, 2.0])
        >>> program = tg.algorithms.SSSP(0, delta=4.0)
        >>> program.bucket_width(graph, program.init(graph)[0])
        4.0
        """
        if self.delta is not None:
            return None if self.delta == math.inf or values.dim() != 1 else self.delta
        weighted = self.weight is None and graph.weight_dtype is not None
        if (self.reduce, self.edge) != ("min", "add") or not weighted or values.dim() != 1 or self.rounds is not None:
            return None
        if not graph.num_arcs or not graph.weight_range[0] >= 0 or not 0 < graph.mean_weight < math.inf:
            return None
        return bucket_width(graph)

    def best_weight(self, graph: Graph) -> float:
        """The weight of an arc that no other weight beats, for graphs with arcs.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [3.0, 2.0])
        >>> tg.algorithms.SSSP(0).best_weight(graph), tg.algorithms.WidestPath(0).best_weight(graph)
        (2.0, 3.0)
        """
        smallest, largest = self.weight_range(graph)
        return smallest if self.reduction.name == "min" else largest

    def check(self, graph: Graph, values: Tensor) -> None:
        """Raise ArgumentError for NaN in the weights or first `values`, whose effect on a min or max would depend on
        the direction, and for an integer weight that the dtype of the values cannot hold.

        >>> graph = tg.Graph.from_edges([0], [1], [torch.nan])
        >>> tg.algorithms.SSSP(0).check(graph, torch.zeros(2))
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: weights: nan at position 0, arc 0 -> 1; relaxations need weights that are not ...
        """
        if not isinstance(values, Tensor):
            raise ArgumentError(f"init: a Relaxation has one tensor of values, got {type(values).__name__}")
        self.check_values(values)
        if self.edge == "copy" or not graph._has_arcs:
            return
        if self.weight is not None and not isinstance(self.weight, (int, float, str, Tensor)):
            raise ArgumentError(
                f"weight: expected a number, a tensor, a name or None, got {type(self.weight).__name__}"
            )
        smallest, largest = self.weight_range(graph)
        if smallest != smallest:
            own = graph.decoded().weights if self.weight is None else self.weight_of(graph)
            kinds.check_values(graph, torch.as_tensor(own).broadcast_to(graph.num_arcs), "ranks", "relaxations")
        if not values.is_floating_point() and isinstance(smallest, int):
            limits = torch.iinfo(values.dtype)
            if not limits.min <= smallest <= largest <= limits.max:
                raise ArgumentError(
                    f"weight: {smallest if smallest < limits.min else largest} does not fit {values.dtype}, the dtype "
                    "of the values; let init return values of a wider dtype"
                )

    def check_values(self, values: Tensor) -> None:
        """Raise ArgumentError for NaN in the first `values`.

        >>> class Widest(tg.Relaxation):
        ...     reduce, edge = "max", "min"
        >>> Widest().check_values(torch.tensor([0.0, torch.nan]))
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: init: a value is NaN; a Relaxation compares values, replace it by a number
        """
        if self.first is not None or not values.is_floating_point() or not bool(values.sum().isnan()):
            return  # the sum takes a fraction of the time of a look at each value
        if bool(values.isnan().any()):  # and not of infinite values that cancel
            raise ArgumentError("init: a value is NaN; a Relaxation compares values, replace it by a number")

    def weight_range(self, graph: Graph) -> tuple[float, float]:
        """(smallest, largest) weight that arcs have here, both NaN where one is; (1, 1) without arcs.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [3.0, 2.0])
        >>> tg.algorithms.SSSP(0).weight_range(graph), tg.algorithms.BFS(0).weight_range(graph)
        ((2.0, 3.0), (1, 1))
        """
        weight = self.weight_of(graph)
        if weight is None or not graph._has_arcs:
            return graph.weight_range
        if not isinstance(weight, Tensor):
            return weight, weight
        smallest, largest = torch.aminmax(weight.detach())
        return smallest.item(), largest.item()

    def weight_of(self, graph: Graph) -> Tensor | float | None:
        """The `weight` here: the column of the graph's arcs, [m], where it is a name. Raises ArgumentError for an
        unknown one.

        >>> program = tg.Relaxation()
        >>> program.weight = "toll"
        >>> program.weight_of(tg.Graph.from_edges([0, 1], [1, 2], columns={"toll": [3, 2]}))
        tensor([3, 2])
        """
        return graph.arc_columns.number(self.weight, "weight") if isinstance(self.weight, str) else self.weight


@cache
def _checked_reduction(reduce: str, edge: str) -> Reduction:
    check_edge_operation(edge)
    reduction = reduction_of(reduce)
    if reduction.name not in ("min", "max"):
        raise ArgumentError(f"reduce: a Relaxation is a 'min' or a 'max', not {reduce!r}; write a Program")
    return reduction


def check_dtype(graph: Graph, values: Tensor, weights: Weights, edge: str) -> None:
    """Raise ArgumentError unless the dtype of the values holds the messages, which a relaxation writes into them."""
    if isinstance(weights, InLayout):
        weights = torch.empty(1, dtype=graph.weight_dtype)
    if weights is not None and torch.result_type(values, weights) != values.dtype:
        kind = weights.dtype if isinstance(weights, Tensor) else type(weights).__name__
        raise ArgumentError(
            f"values: {values.dtype} cannot hold edge={edge!r} with weights of {kind}; "
            f"let init return {torch.result_type(values, weights)}"
        )
