"""Programs that are a relaxation written out: a min or max of what neighbours send, and an update by the same.

    received = tg.aggregate(sub, depth + 1, "min")
    return tg.update(depth, active, received, torch.minimum)

is the `Relaxation` reduce="min", edge="add", weight=1, whose loop a backend runs: compiled, in the order of buckets,
block by block on streams, and over ranks.

COMPUTE is called once on symbols, as a copy of the function that reaches nothing else: its global names, closures and
attributes of the program are constants or the operations below. What reads or writes anything more, branches on the
data or calls another function raises `NotARelaxation`, and the program runs as it is written. Each round would compute
the same expression, since no state is within reach that could differ.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import arc_weights, whole
from tgraph.engine.ownership import makes_its_own
from tgraph.errors import ArgumentError
from tgraph.kernels import BACKENDS
from tgraph.kernels.reductions import EDGE_OPERATIONS
from tgraph.model import operators
from tgraph.model.program import Program, Relaxation, check_dtype

DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64)
CONSTANTS = (bool, int, float, str, type(None))
MOST_FUNCTIONS = 8  # that COMPUTE may consist of


class NotARelaxation(Exception):
    """COMPUTE does something that is not known to be a step of a relaxation."""


class Written(Relaxation):
    """The relaxation that a program computes."""

    def __init__(self, program: Program, reduce: str, edge: str, weight: Tensor | float | None):
        self.program, self.reduce, self.edge, self.weight = program, reduce, edge, weight  # type: ignore[misc]
        self.rounds, self.max_iterations = program.rounds, program.max_iterations


def recognised(program: Program, graph: Graph, values: Any, active: Frontier, backend: str) -> Relaxation | None:
    """The relaxation that a program computes from the first `values` and frontier, None where it is not known to be one
    with the same values."""
    kind = type(program)
    if (
        makes_its_own(kind.compute)
        or isinstance(program, Relaxation)
        or not isinstance(values, Tensor)
        or program.tolerance is not None
    ):
        return None
    if kind.tensorize is not Program.tensorize or kind.residual is not Program.residual:
        return None
    if backend != "auto" and "fixpoint" not in BACKENDS[backend].operators:
        return None
    if values.dtype not in DTYPES or values.dim() not in (1, 2) or values.requires_grad:
        return None
    try:
        found = Written(program, *_Reader(program).read())
        return found if _is_equal(found, graph, values, active) else None
    except (NotARelaxation, ArgumentError):
        return None


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


class Symbol:
    """A value that COMPUTE is given or makes; all that it can do with it is to pass it on."""

    def __bool__(self) -> bool:
        raise NotARelaxation

    def __eq__(self, other: object) -> bool:
        raise NotARelaxation

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]


class Sent(Symbol):
    """The vertex data that COMPUTE is given, or that with one operation by a number."""

    def __init__(self, edge: str = "copy", weight: float | None = None):
        self.edge, self.weight = edge, weight

    def _by(self, edge: str, number: Any) -> Sent:
        if self.edge != "copy" or type(number) not in (int, float):
            raise NotARelaxation
        return Sent(edge, number)

    def __add__(self, number: Any) -> Sent:
        return self._by("add", number)

    def __sub__(self, number: Any) -> Sent:
        return self._by("add", -number)

    def __mul__(self, number: Any) -> Sent:
        return self._by("mul", number)

    __radd__, __rmul__ = __add__, __mul__


class Weights(Symbol):
    """A tensor of the program."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor


class Received(Symbol):
    """The messages, reduced."""

    def __init__(self, reduce: str, edge: str, weight: Tensor | float | None):
        self.reduce, self.edge, self.weight = reduce, edge, weight


class Best(Symbol):
    """The min or max of old values and received ones."""

    def __init__(self, reduce: str):
        self.reduce = reduce


class Compared(Symbol):
    """Where the received values are less than the old ones, or where they are greater."""

    def __init__(self, received_is_less: bool):
        self.received_is_less = received_is_less


class Side(Symbol):
    """The old values, or the received ones, as the function given to `update` sees them."""

    def __init__(self, is_old: bool):
        self.is_old = is_old

    def __lt__(self, other: Any) -> Compared:
        _check_sides(self, other)
        return Compared(received_is_less=not self.is_old)

    def __gt__(self, other: Any) -> Compared:
        _check_sides(self, other)
        return Compared(received_is_less=self.is_old)

    __le__, __ge__ = __lt__, __gt__

    def minimum(self, other: Any) -> Best:
        """As of a tensor."""
        return _minimum(self, other)

    def maximum(self, other: Any) -> Best:
        """As of a tensor."""
        return _maximum(self, other)


def _check_sides(one: Any, other: Any) -> None:
    if not (isinstance(one, Side) and isinstance(other, Side) and one.is_old != other.is_old):
        raise NotARelaxation


def _minimum(one: Any, other: Any) -> Best:
    _check_sides(one, other)
    return Best("min")


def _maximum(one: Any, other: Any) -> Best:
    _check_sides(one, other)
    return Best("max")


def _where(condition: Any, one: Any, other: Any) -> Best:
    _check_sides(one, other)
    if not isinstance(condition, Compared):
        raise NotARelaxation
    return Best("min" if condition.received_is_less == other.is_old else "max")


class Names:
    """A module, or the program: a name gives what the reader lets through, and none can be set."""

    __slots__ = ("get",)

    def __init__(self, get: Callable[[str], Any]):
        object.__setattr__(self, "get", get)

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "get")(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise NotARelaxation


class _Reader:
    """Calls the COMPUTE of a program on symbols."""

    def __init__(self, program: Program):
        self.program, self.view, self.functions = program, Names(self.attribute), 0
        self.sub, self.values, self.active = Symbol(), Sent(), Symbol()
        self.updated, self.following = Symbol(), Symbol()
        self.received: Received | None = None
        self.known: dict[Any, Any] = {
            operators.aggregate: self.aggregate,
            operators.update: self.update,
            torch.minimum: _minimum,
            torch.maximum: _maximum,
            torch.where: _where,
        }

    def read(self) -> tuple[str, str, Tensor | float | None]:
        """(reduce, edge, weight). Raises NotARelaxation."""
        kind = type(self.program)
        if kind.__getattribute__ is not object.__getattribute__ or "compute" in vars(self.program):
            raise NotARelaxation
        try:
            result = self.copied(kind.compute)(self.view, self.sub, self.values, self.active)
        except Exception as error:  # also a name that is out of reach, or an operation that symbols do not have
            raise NotARelaxation from error
        if self.received is None or type(result) is not tuple or len(result) != 2:
            raise NotARelaxation
        if result[0] is not self.updated or result[1] is not self.following:
            raise NotARelaxation
        return self.received.reduce, self.received.edge, self.received.weight

    def aggregate(
        self, sub: Any, data: Any, reduce: str = "sum", *, edge: str = "copy", weights: Any = None, dtype: Any = None
    ) -> Received:
        """As `tg.aggregate`, once, over the arcs of the iteration."""
        if self.received is not None or sub is not self.sub or not isinstance(data, Sent) or dtype is not None:
            raise NotARelaxation
        if reduce not in ("min", "max") or edge not in EDGE_OPERATIONS or (edge == "copy" and weights is not None):
            raise NotARelaxation
        if data.edge != "copy":
            if edge != "copy":
                raise NotARelaxation
            edge, weights = data.edge, data.weight
        if isinstance(weights, Weights):
            weights = weights.tensor
        elif type(weights) not in (int, float, type(None)):
            raise NotARelaxation
        self.received = Received(reduce, edge, weights)
        return self.received

    def update(self, values: Any, active: Any, received: Any, function: Any = None) -> tuple[Symbol, Symbol]:
        """As `tg.update`, by the reduction of what was received."""
        given = values is self.values and active is self.active and received is self.received
        best = function(Side(is_old=True), Side(is_old=False)) if given else None
        if self.received is None or not isinstance(best, Best) or best.reduce != self.received.reduce:
            raise NotARelaxation
        return self.updated, self.following

    def attribute(self, name: str) -> Any:
        """An attribute of the program: a number, text, a tensor, or a method."""
        value = inspect.getattr_static(self.program, name)
        if isinstance(value, FunctionType) and name not in vars(self.program):
            return partial(self.copied(value), self.view)
        return Weights(value) if isinstance(value, Tensor) else self.reached(value)

    def reached(self, value: Any) -> Any:
        """A value that COMPUTE reaches by a name."""
        if type(value) in CONSTANTS:
            return value
        if isinstance(value, ModuleType) and value.__name__ in ("tgraph", "torch"):
            return Names(lambda name: self.reached(getattr(value, name)))
        if callable(value) and value in self.known:
            return self.known[value]
        return self.copied(value)

    def copied(self, function: Any) -> Callable[..., Any]:
        """A function of the same code that reaches nothing but symbols and constants. Raises NotARelaxation where it
        names anything else, handles exceptions, or would leave a name changed."""
        self.functions += 1
        if not isinstance(function, FunctionType) or self.functions > MOST_FUNCTIONS:
            raise NotARelaxation
        names, handles = _read(function.__code__)
        if handles or not vars(builtins).keys().isdisjoint(names - function.__globals__.keys()):
            raise NotARelaxation
        reached = {name: self.reached(function.__globals__[name]) for name in names & function.__globals__.keys()}
        reached["__builtins__"] = {}
        cells = tuple(CellType(self.reached(cell.cell_contents)) for cell in function.__closure__ or ())
        defaults = tuple(map(self.reached, function.__defaults__ or ()))
        made = FunctionType(function.__code__, reached, function.__name__, defaults, cells)
        made.__kwdefaults__ = {name: self.reached(value) for name, value in (function.__kwdefaults__ or {}).items()}
        contents = [*reached.items()], [cell.cell_contents for cell in cells]

        def called(*args: Any, **kwargs: Any) -> Any:
            result = made(*args, **kwargs)
            after = [*reached.items()], [cell.cell_contents for cell in cells]
            if not all(_are_same(*pair) for pair in zip(contents, after, strict=True)):
                raise NotARelaxation
            return result

        return called


def _are_same(before: list[Any], after: list[Any]) -> bool:
    """Whether two lists hold the same objects, or pairs of a name and the same object."""
    return len(before) == len(after) and all(
        one is other or (type(one) is tuple and one[0] == other[0] and one[1] is other[1])
        for one, other in zip(before, after, strict=True)
    )


@lru_cache(256)
def _read(code: CodeType) -> tuple[frozenset[str], bool]:
    """The names in a function and in those within it, and whether one of them handles exceptions."""
    codes = [*_codes(code)]
    handles = any(map(_handles_exceptions, codes))
    return frozenset(name for each in codes for name in each.co_names), handles


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _handles_exceptions(code: CodeType) -> bool:
    table: bytes | None = getattr(code, "co_exceptiontable", None)  # since Python 3.11
    return (
        bool(table)
        if table is not None
        else any(step.opname.startswith("SETUP_") for step in dis.get_instructions(code))
    )
