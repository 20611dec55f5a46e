"""Relaxations and components that follow the changes of a store."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.dynamic.following.follower import FromNothing
from tgraph.dynamic.following.monotone import Monotone, Semiring
from tgraph.dynamic.runs import WEIGHTS
from tgraph.dynamic.store import Store
from tgraph.engine.compiled_loop import HOOKS
from tgraph.engine.run import run
from tgraph.errors import ArgumentError
from tgraph.kernels import following
from tgraph.model.program import Program, Relaxation


def refuses_relaxation(program: Relaxation) -> str | None:
    """Why the values of a relaxation cannot be followed, None if its declaration allows it."""
    own = [base for base in type(program).__mro__ if base not in (Relaxation, Program, object)]
    if any(not HOOKS.isdisjoint(vars(base)) for base in own) or program.tolerance is not None:
        return "it has steps of its own"
    if program.rounds is not None:
        return "it ends after a number of rounds"
    if isinstance(program.weight, (Tensor, str)):
        return "its weight is data in an order of the arcs that changes; keep it as the weights of the store"
    return None


class FollowedRelaxation(Monotone):
    """The values of a `tgraph.Relaxation`."""

    def __init__(self, program: Relaxation, store: Store):
        super().__init__(store)
        self._program = program
        self._seen: Tensor | None = None  # the finished values, [n and more], of the first
        self._shown = 0  # vertices
        self._range = (math.inf, -math.inf)  # of the weights that the program was asked about

    def _begin(self, graph: Graph) -> tuple[Tensor, Tensor, Semiring]:
        program = self._raw = _without_finish(self._program)
        first, active = program.init(graph)
        value = run(program, graph).values
        if not isinstance(value, Tensor) or value.dim() != 1 or value.dtype not in following.VALUES:
            raise ArgumentError(
                f"program: its values are {value.dtype} {list(value.shape)}; one number for each vertex is followed, "
                "of 32 or 64 bits; follow one program for each column"
            )
        self._range = graph.weight_range if graph.weight_dtype is not None else (1.0, 1.0)
        self._check_init(first, active)
        weight = None if program.edge == "copy" else program.weight
        assert not isinstance(weight, (Tensor, str))
        return value, first.clone(), (program.reduce, program.edge, weight)

    def _check_init(self, first: Tensor, active: Frontier) -> None:
        """Raise ArgumentError where the first values depend on the arcs, or inactive vertices have values that
        count."""
        n, dtype = len(first), self._store.columns.get(WEIGHTS)
        bare_first, bare_active = self._raw.init(_bare(n, dtype))
        if not torch.equal(bare_first, first) or not torch.equal(bare_active.mask, active.mask):
            raise ArgumentError("program: its first values depend on the arcs; say otherwise='recompute' to follow it")
        if self._is_unsent(first, active):
            raise ArgumentError(
                "program: vertices that are not active at first have values that are not sent; name them in init, or "
                "say otherwise='recompute'"
            )
        # Whether new vertices are not reached at first, and change nothing for the others.
        larger, reached = self._raw.init(_bare(n + 1, dtype))
        identity = self._raw.reduction.identity(first.dtype)
        same = torch.equal(larger[:n], first) and not reached.mask[n]
        self._unreached = identity if self._raw.first is not None and same and larger[n] == identity else None

    def _is_unsent(self, first: Tensor, active: Frontier) -> bool:
        silent = first[:0] if active.is_everything else first[~active.mask]
        return bool((silent != self._raw.reduction.identity(first.dtype)).any())

    def _new_first_values(self, begin: int, end: int) -> Tensor:
        if self._unreached is not None:
            return self._first.new_full((end - begin,), self._unreached)
        first, active = self._raw.init(_bare(end, self._store.columns.get(WEIGHTS)))
        if self._is_unsent(first, active) or not torch.equal(first[:begin], self._first[:begin]):
            raise FromNothing("the first values of vertices change with their number")
        return first[begin:]

    def _check(self, weights: Tensor) -> None:
        if not len(weights):
            return
        low, high = (bound.item() for bound in torch.aminmax(weights))  # NaN where one is
        if self._range[0] <= low and high <= self._range[1]:
            return
        bounds = torch.stack((weights.amin(), weights.amax())).to(self._store.columns[WEIGHTS])
        graph = _bare(self._n, bounds.dtype, bounds)
        try:
            values, _ = self._raw.init(graph)
            self._raw.check(graph, values)
        except ArgumentError:  # these arcs may be deleted again, or added up with others
            raise FromNothing("the program is asked about new weights") from None
        self._range = min(self._range[0], low), max(self._range[1], high)

    @property
    def _trims(self) -> bool:
        reduce, edge, weight = self._semiring
        low, high = (weight, weight) if weight is not None else self._range
        if edge in ("min", "max"):
            return edge != reduce
        if edge == "add":
            return low >= 0 if reduce == "min" else high <= 0
        if edge == "mul":
            reached = self._first[: self._n]
            reached = reached[reached != self._raw.reduction.identity(reached.dtype)]
            return bool((reached >= 0).all()) and (low >= 1 if reduce == "min" else low >= 0 and high <= 1)
        return True

    def _refresh(self, touched: Tensor | None) -> None:
        if type(self._program).finish is Program.finish:
            return
        if not declares(type(self._program), "finishes_each", {"finish"}):
            self._seen = None
        elif touched is None or self._seen is None or len(self._seen) < self._n:
            self._seen = self._raw_finish(self._value.clone())
        else:
            touched = torch.cat((touched, torch.arange(self._shown, self._n)))
            self._seen[touched] = self._raw_finish(self._value[touched])
        self._shown = self._n

    def _raw_finish(self, values: Tensor) -> Any:
        return type(self._program).finish(self._raw, values)

    def _finished(self) -> Any:
        if type(self._program).finish is Program.finish:
            return super()._finished()
        if self._seen is None:
            return self._raw_finish(self._value[: self._n].clone())
        return self._seen[: self._n]

    def _nbytes(self) -> int:
        return super()._nbytes() + (0 if self._seen is None else self._seen.nbytes)


class FollowedComponents(Monotone):
    """The smallest vertex of each weakly connected component: a relaxation along the arcs and against them."""

    both_ways = True

    def __init__(self, program: Program, store: Store):
        super().__init__(store)
        self._program = program

    def _begin(self, graph: Graph) -> tuple[Tensor, Tensor, Semiring]:
        return run(self._program, graph).values, torch.arange(graph.num_vertices), ("min", "copy", None)

    def _new_first_values(self, begin: int, end: int) -> Tensor:
        return torch.arange(begin, end)


def declares(kind: type[Program], name: str, steps: set[str]) -> bool:
    """Whether a class of programs has a declaration of that name, and no subclass overrides one of the steps."""
    for base in kind.__mro__:
        if base in (Program, Relaxation):
            return False
        if name in vars(base):
            return bool(getattr(kind, name))
        if not steps.isdisjoint(vars(base)):
            return False
    return False


def _same(values: Any) -> Any:
    return values


def _without_finish(program: Relaxation) -> Relaxation:
    """A copy without `finish`."""
    raw = copy.copy(program)
    raw.finish = _same  # type: ignore[method-assign]
    return raw


def _bare(num_vertices: int, dtype: torch.dtype | None, weights: Tensor | None = None) -> Graph:
    """A graph without arcs, or with a self-loop of vertex 0 for each weight."""
    if weights is None and dtype is not None:
        weights = torch.empty(0, dtype=dtype)
    count = 0 if weights is None else len(weights)
    offset = torch.full((num_vertices + 1,), count)
    offset[:1] = 0
    neighbors = torch.zeros(count, dtype=torch.int32)
    return Graph.of_storage(Csr.unchecked(offset, neighbors, None, num_vertices, weights))
