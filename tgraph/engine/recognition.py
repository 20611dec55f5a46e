"""Programs that are a relaxation written out: a min or max of what neighbours send, and an update by the same.

    received = tg.aggregate(sub, depth + 1, "min")
    return tg.update(depth, active, received, torch.minimum)

is the `Relaxation` reduce="min", edge="add", weight=1, whose loop a backend runs: compiled, in the order of buckets,
block by block on streams, and over ranks.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import arc_weights, whole
from tgraph.engine.ownership import makes_its_own
from tgraph.engine.symbols import Active, Aggregate, Expression, NotAnExpression, Reader, Variable
from tgraph.errors import ArgumentError
from tgraph.kernels import BACKENDS
from tgraph.kernels.reductions import EDGE_OPERATIONS
from tgraph.model.program import Program, Relaxation, check_dtype

ONE_THREAD = 1 << 15  # vertices, from which on torch's operations run on several threads
DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64)


class Written(Relaxation):
    """The relaxation that a program computes."""

    def __init__(self, program: Program, reduce: str, edge: str, weight: Tensor | float | None):
        self.program, self.reduce, self.edge, self.weight = program, reduce, edge, weight  # type: ignore[misc]
        self.rounds = program.rounds  # so many, even where a cycle improves in each
        self.max_iterations = program.rounds if program.max_iterations is None else program.max_iterations


def is_likely(program: Program, graph: Graph) -> bool:
    """Whether a program on a graph for which torch would use threads is a relaxation by its COMPUTE, before `init`."""
    if graph.num_vertices < ONE_THREAD or makes_its_own(type(program).compute) or isinstance(program, Relaxation):
        return False
    try:
        _semiring(Reader(program, graph), torch.empty(0))
    except NotAnExpression:
        return False
    return True


def recognised(program: Program, graph: Graph, values: Any, active: Frontier, backend: str) -> Relaxation | None:
    """The relaxation that a program computes from the first `values` and frontier, None where it is not known to be one
    with the same values."""
    kind = type(program)
    if makes_its_own(kind.compute) or isinstance(program, Relaxation) or not isinstance(values, Tensor):
        return None
    if kind.tensorize is not Program.tensorize or kind.residual is not Program.residual:
        return None
    if program.tolerance is not None or (backend != "auto" and "fixpoint" not in BACKENDS[backend].operators):
        return None
    if values.dtype not in DTYPES or values.dim() not in (1, 2) or values.requires_grad:
        return None
    try:
        reduce, edge, weight = _semiring(Reader(program, graph), values)
        if edge != "copy" and weight is None:
            weight = _as_values(graph, values.dtype)
        found = Written(program, reduce, edge, weight)
        return found if _is_equal(found, graph, values, active) else None
    except (NotAnExpression, ArgumentError):
        return None


def _semiring(reader: Reader, values: Tensor) -> tuple[str, str, Tensor | float | None]:
    """(reduce, edge, weight) of COMPUTE. Raises NotAnExpression."""
    variable = Variable(values)
    new, following = reader.read("compute", reader.sub, variable, reader.active)
    if not isinstance(following, Active) or following.new is not new or new is None or following.old is not variable:
        raise NotAnExpression("compute returns something else than what update gave")
    found = next((each for each in new.operands if isinstance(each, Aggregate)), None)
    if found is None or found.sub is not reader.sub or found.sums_in is not None:
        raise NotAnExpression("compute has no aggregate of the arcs of the iteration")
    if found.reduce not in ("min", "max") or _reduction(new, variable, found) != found.reduce:
        raise NotAnExpression("update has another function than the aggregate")
    (data,), edge, weight = found.operands, found.edge, found.weights
    if edge not in EDGE_OPERATIONS or (edge == "copy" and weight is not None):
        raise NotAnExpression("aggregate has other options")
    if data is not variable:
        if edge != "copy":
            raise NotAnExpression("compute sends a function of the values and the weights")
        edge, weight = _edge(data, variable)
    return found.reduce, edge, weight.constant() if isinstance(weight, Expression) else weight


def _as_values(graph: Graph, dtype: torch.dtype) -> Tensor | None:
    """The graph's weights in the floating dtype of the values, if messages are the same by them: torch converts
    integers before it adds, and a sum of float32 numbers in float64 rounds to that in float32. None for the weights as
    they are."""
    weights = graph.weights if graph.layout is None else None
    if weights is None or weights.dtype == dtype or not dtype.is_floating_point or weights.requires_grad:
        return None

    def converted() -> Tensor | None:
        made = weights.to(dtype)
        is_same = torch.promote_types(weights.dtype, dtype) == dtype or torch.equal(made.to(weights.dtype), weights)
        return made if is_same else None

    found: Tensor | None = graph.kept(f"weights as {dtype}", converted)
    return found


def _edge(data: Expression, variable: Variable) -> tuple[str, float]:
    """The edge operation and weight that `data` is of the values. Raises NotAnExpression."""
    if data.function in ("add", "sub", "mul") and len(data.operands) == 2 and not data.options:
        one, other = data.operands if data.function == "sub" or data.operands[0] is variable else data.operands[::-1]
        if one is variable and type(other) in (int, float):
            return ("add", -other) if data.function == "sub" else (data.function, other)
    raise NotAnExpression("compute sends another function of the values")


def _reduction(new: Expression, old: Expression, received: Expression) -> str | None:
    """The "min" or "max" of old and received values that is new, None for other functions."""

    def are_both(*operands: Any) -> bool:
        return len(operands) == 2 and {id(each) for each in operands} == {id(old), id(received)}

    if new.options:
        return None
    if new.function in ("minimum", "maximum", "min", "max"):
        return new.function[:3] if are_both(*new.operands) else None
    if new.function != "where" or not are_both(*new.operands[1:]) or not isinstance(new.operands[0], Expression):
        return None
    condition, one, _ = new.operands
    if condition.function not in ("lt", "le", "gt", "ge") or not are_both(*condition.operands):
        return None
    takes_the_less = (condition.function in ("lt", "le")) == (condition.operands[0] is one)
    return "min" if takes_the_less else "max"


def _is_equal(found: Relaxation, graph: Graph, values: Tensor, active: Frontier) -> bool:
    """Whether a relaxation, which never sends the identity and ends after as many rounds as a path has vertices, has
    the values of a program that sends all it has for as long as something changes. Raises ArgumentError where the
    relaxation would."""
    edge, reduction, weight = found.edge, found.reduction, found.weight
    if isinstance(weight, Tensor) and (weight.requires_grad or weight.shape != (graph.num_arcs,)):
        return False
    found.check(graph, values)
    if edge == "copy":
        return True
    check_dtype(graph, values, arc_weights(whole(graph, active, "push"), values, edge, weight), edge)
    least, greatest = found.weight_range(graph)
    if not -math.inf < least <= greatest < math.inf:
        return False
    if edge not in (reduction.name, "mul"):
        return True  # the identity with any weight is the identity
    sent = values if active.is_everything else values.index_select(0, active.ids)
    if bool((sent == reduction.identity(values.dtype)).any()):
        return False
    if edge == "mul":  # products along a cycle may improve for ever, or until they are rounded to zero or infinity
        return bool((sent >= 0).all()) and (least >= 1 if reduction.name == "min" else 0 < least <= greatest <= 1)
    return True
