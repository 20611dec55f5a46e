"""COMPUTE as an expression: the function is called once, on symbols.

It is called as a copy that reaches nothing but symbols, constants and pure operations: its global names, closures and
attributes of the program are replaced. COMPUTE that reads or writes anything more, branches on the data, or calls
another function raises `NotAnExpression`, with the reason; the program then runs as it is written. Each round computes
the same expression, since no state is within reach that could differ.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
import types
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.model import operators
from tgraph.model.program import Program

PLAIN = (bool, int, float, str, type(None), torch.dtype, torch.device, slice, type(...))
MOST_FUNCTIONS = 32  # that COMPUTE may consist of

# Functions of tensors without side effects, by their names in torch and as methods.
ELEMENTWISE = [
    "abs",
    "acos",
    "add",
    "asin",
    "atan",
    "atan2",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "ceil",
    "clamp",
]
ELEMENTWISE += ["clamp_max", "clamp_min", "cos", "cosh", "div", "eq", "erf", "exp", "exp2", "expm1", "floor", "fmax"]
ELEMENTWISE += ["floor_divide", "fmin", "fmod", "ge", "gt", "isfinite", "isinf", "isnan", "le", "lerp", "log", "log10"]
ELEMENTWISE += ["log1p", "log2", "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "masked_fill"]
ELEMENTWISE += ["maximum", "minimum", "mul", "nan_to_num", "ne", "neg", "pow", "reciprocal", "relu", "remainder"]
ELEMENTWISE += ["round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh"]
ELEMENTWISE += ["true_divide", "trunc", "where"]
REDUCTIONS = ["all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "cumsum", "dot", "max", "mean", "min"]
REDUCTIONS += ["norm", "prod", "softmax", "std", "sum", "var"]
SHAPES = ["clone", "gather", "index_select", "outer", "reshape", "squeeze", "unsqueeze"]
MADE = ["arange", "as_tensor", "empty_like", "full", "full_like", "ones", "ones_like", "tensor", "zeros", "zeros_like"]
CASTS = ["double", "float", "int", "long", "to", "view"]  # of tensors alone
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(torch, name) for name in (*ELEMENTWISE, *REDUCTIONS, *SHAPES, *MADE)
} | {name: getattr(Tensor, name) for name in CASTS}
NAMES = {function: name for name, function in FUNCTIONS.items()}
BUILTINS = (
    abs,
    bool,
    dict,
    enumerate,
    float,
    int,
    isinstance,
    len,
    list,
    max,
    min,
    pow,
    range,
    reversed,
    sum,
    tuple,
    zip,
)
OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder"}
OPERATORS |= {"pow": "pow", "and": "bitwise_and", "or": "bitwise_or"}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


class NotAnExpression(Exception):
    """COMPUTE does something that is not known to be pure; the text says what."""


class Symbol:
    """A value that COMPUTE is given or makes."""

    name = "a value"

    def __getattr__(self, name: str) -> Any:
        raise NotAnExpression(f"compute reads .{name} of {self.name}")

    def __bool__(self) -> bool:
        raise NotAnExpression(f"compute branches on {self.name}")

    def __iter__(self) -> Iterator[Any]:
        raise NotAnExpression(f"compute iterates over {self.name}")


class Expression(Symbol):
    """A pure function of operands: expressions, numbers, and options of torch."""

    name = "a tensor"

    def __init__(self, function: str, operands: tuple[Any, ...], options: dict[str, Any] | None = None):
        self.function, self.operands, self.options = function, operands, options or {}
        self.is_constant: bool = all(each.is_constant for each in operands if isinstance(each, Expression))
        self.value: Tensor | None = None  # of a constant, once computed
        self.known: Tensor | None = None

    @staticmethod
    def of(function: str, *operands: Any, **options: Any) -> Expression:
        """A function by its name. Raises NotAnExpression for operands that are neither symbols nor plain."""
        for each in (*operands, *options.values()):
            if not isinstance(each, Expression) and not _is_plain(each):
                raise NotAnExpression(f"compute calls {function} on {_described(each)}")
        if "out" in options:
            raise NotAnExpression(f"compute calls {function} with out=")
        return Expression(function, operands, options)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Expression:
        return called(function)(*args, **(kwargs or {}))

    def __getattr__(self, name: str) -> Any:
        if name in FUNCTIONS:
            return partial(Expression.of, name, self)
        if name in ("shape", "dtype", "ndim", "is_cuda", "is_cpu"):
            return getattr(self.like, name)
        if name in ("dim", "size", "numel", "is_floating_point"):
            return getattr(self.like, name)
        if name == "device":
            return next(each.device for each in self.operands if isinstance(each, Expression))
        if name == "item":
            return self.constant().item
        raise NotAnExpression(f"compute calls .{name} of a tensor")

    @property
    def like(self) -> Tensor:
        """A tensor without data, of the shape and dtype of the value."""
        if self.known is None:
            self.known = self._like()
        return self.known

    def _like(self) -> Tensor:
        if self.is_constant:
            return self.constant().to("meta")
        with torch.no_grad():
            return evaluate(self, lambda each: each.like)

    def constant(self) -> Tensor:
        """The value of a constant."""
        if not self.is_constant:
            raise NotAnExpression("compute reads the elements of a tensor")
        if self.value is None:
            with torch.no_grad():
                self.value = torch.as_tensor(evaluate(self, lambda each: each.constant()))
        return self.value

    def __getitem__(self, index: Any) -> Expression:
        if isinstance(index, Everyone) and len(self.like) == index.count:
            index.read.add(self)
            return self
        if isinstance(index, Expression):
            if not index.is_constant or index.like.dtype != torch.bool or index.like.dim() != 1:
                raise NotAnExpression("compute indexes by a tensor that depends on the data")
            return Expression("index_select", (self, 0, Constant(lambda: index.constant().nonzero()[:, 0])))
        if not _is_plain(index):
            raise NotAnExpression(f"compute indexes by {_described(index)}")
        return Expression("getitem", (self,), {"index": index})

    def __len__(self) -> int:
        return len(self.like)

    def __float__(self) -> float:
        return float(self.constant())

    def __int__(self) -> int:
        return int(self.constant())

    def __bool__(self) -> bool:
        return bool(self.constant()) if self.is_constant else super().__bool__()

    __index__ = __int__
    __hash__ = object.__hash__

    def __neg__(self) -> Expression:
        return Expression("neg", (self,))

    def __abs__(self) -> Expression:
        return Expression("abs", (self,))

    def __invert__(self) -> Expression:
        return Expression("bitwise_not", (self,))


def _operator(function: str, reverse: bool) -> Callable[[Expression, Any], Expression]:
    return lambda one, other: Expression.of(function, *((other, one) if reverse else (one, other)))


def _in_place(one: Expression, other: Any) -> Expression:
    raise NotAnExpression("compute writes into a tensor")


for _name, _function in OPERATORS.items():
    setattr(Expression, f"__{_name}__", _operator(_function, reverse=False))
    setattr(Expression, f"__r{_name}__", _operator(_function, reverse=True))
    setattr(Expression, f"__i{_name}__", _in_place)
for _name in COMPARISONS:
    setattr(Expression, f"__{_name}__", _operator(_name, reverse=False))


def evaluate(expression: Expression, value_of: Callable[[Expression], Any]) -> Any:
    """The function of an expression on the values of its operands."""
    held = [value_of(each) if isinstance(each, Expression) else each for each in expression.operands]
    if expression.function == "getitem":
        return held[0][expression.options["index"]]
    options = {
        name: value_of(each) if isinstance(each, Expression) else each for name, each in expression.options.items()
    }
    return FUNCTIONS[expression.function](*held, **options)


def called(function: Any) -> Callable[..., Expression]:
    """The symbol of a function of torch. Raises NotAnExpression for one that is not known to be pure."""
    name = NAMES.get(function) or getattr(function, "__name__", "")
    if name not in FUNCTIONS:
        raise NotAnExpression(f"compute calls {name or function!r}")
    return partial(Expression.of, name)


class Variable(Expression):
    """Vertex data that COMPUTE is given."""

    def __init__(self, tensor: Tensor):
        super().__init__("variable", ())
        self.is_constant, self.tensor, self.device = False, tensor, tensor.device

    def _like(self) -> Tensor:
        return torch.empty_like(self.tensor, device="meta")


class Constant(Expression):
    """A tensor of the program or of the graph; `get` makes it."""

    def __init__(self, get: Callable[[], Tensor]):
        super().__init__("constant", ())
        self.get = get

    @property
    def device(self) -> torch.device:
        """Where the tensor is."""
        return self.constant().device

    def constant(self) -> Tensor:
        """The tensor."""
        if self.value is None:
            self.value = self.get()
        return self.value


class Aggregate(Expression):
    """`tg.aggregate` of the arcs of the iteration, of their reverse, or of the whole graph."""

    def __init__(self, sub: Arcs | Whole, data: Expression, reduce: str, edge: str, weights: Any, sums_in: Any):
        super().__init__("aggregate", (data,))
        self.is_constant, self.sub, self.reduce, self.edge = False, sub, reduce, edge
        self.weights, self.sums_in = weights, sums_in

    @property
    def arcs_of(self) -> Graph:
        """The graph."""
        return self.sub.graph.graph if isinstance(self.sub, Arcs) else self.sub.graph

    def _like(self) -> Tensor:
        (data,), weights = self.operands, self.weights
        if self.reduce in ("min", "max") and self.edge == "copy" and data.like.dtype != torch.bool:
            return data.like
        if not data.like.is_floating_point() or self.reduce in ("any", "all"):
            raise NotAnExpression("compute reads the dtype of an aggregate of integers")
        if isinstance(weights, Expression) and weights.like.dtype != data.like.dtype:
            raise NotAnExpression("compute aggregates with weights of another dtype")
        if weights is None and self.edge != "copy" and self.arcs_of.weight_dtype != data.like.dtype:
            raise NotAnExpression("compute aggregates with weights of another dtype")
        return torch.empty_like(data.like, dtype=self.sums_in)


class Received(Symbol):
    """`values` : the aggregate."""

    name = "what was received"

    def __init__(self, values: Aggregate):
        self.values = values


class Active(Symbol):
    """The vertices that are active: those given, or where `update` changed `old` to `new`."""

    name = "the frontier"

    def __init__(self, old: Expression | None = None, new: Expression | None = None, given: Active | None = None):
        self.old, self.new, self.given = old, new, given


class Everyone(Symbol):
    """The vertices that a function of `update` is given: all of them. `read` : the tensors that are read at these."""

    name = "the vertices"

    def __init__(self, count: int, read: set[Expression]):
        self.count, self.read = count, read


class Whole(Symbol):
    """The graph."""

    name = "the graph"

    def __init__(self, graph: Graph):
        self.graph = graph

    def __getattr__(self, name: str) -> Any:
        if name in ("num_vertices", "num_arcs", "directed", "device"):
            return getattr(self.graph, name)
        if name in ("out_degree", "in_degree"):
            vars(self)[name] = Constant(lambda: getattr(self.graph, name))
            return vars(self)[name]
        return super().__getattr__(name)


class Arcs(Symbol):
    """The arcs of the iteration, or their reverse."""

    name = "the subgraph"

    def __init__(self, graph: Whole, active: Active, reversed_: bool = False):
        self.graph, self.active, self.reversed = graph, active, reversed_

    def reverse(self) -> Arcs:
        """As of a Subgraph."""
        return Arcs(self.graph, self.active, not self.reversed)


class Names:
    """A module, or the program: a name gives what the reader lets through, and none can be set."""

    __slots__ = ("get",)

    def __init__(self, get: Callable[[str], Any]):
        object.__setattr__(self, "get", get)

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "get")(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise NotAnExpression(f"compute sets .{name}")


class Reader:
    """Calls methods of a program on symbols."""

    def __init__(self, program: Program, graph: Graph):
        self.program, self.graph, self.functions = program, Whole(graph), 0
        self.constants: dict[int, Constant] = {}
        self.at_vertices: set[Expression] = set()
        self.view, self.active = Names(self.attribute), Active()
        self.sub = Arcs(self.graph, self.active)
        self.known: dict[Any, Any] = {operators.aggregate: self.aggregate, operators.update: self.update}

    def read(self, method: str, *arguments: Any) -> Any:
        """The result of a method on symbols. Raises NotAnExpression."""
        kind = type(self.program)
        if kind.__getattribute__ is not object.__getattribute__ or hasattr(kind, "__getattr__"):
            raise NotAnExpression("the program computes its attributes")
        if method in vars(self.program):
            raise NotAnExpression(f"{method} is an attribute of the program")
        try:
            return self.copied(getattr(kind, method))(self.view, *arguments)
        except NotAnExpression:
            raise
        except Exception as error:  # also a name that is out of reach, or an operation that symbols do not have
            raise NotAnExpression(f"{type(error).__name__}: {error}") from error

    # ---- operators ---------------------------------------------------------------------------------------------------

    def aggregate(
        self, sub: Any, data: Any, reduce: str = "sum", *, edge: str = "copy", weights: Any = None, dtype: Any = None
    ) -> Received | Aggregate:
        """As `tg.aggregate`."""
        if not isinstance(sub, (Arcs, Whole)) or not isinstance(data, Expression) or data.is_constant:
            raise NotAnExpression("compute aggregates other data, or over another graph")
        if (
            type(reduce) is not str
            or type(edge) is not str
            or not isinstance(weights, (Expression, int, float, str, type(None)))
        ):
            raise NotAnExpression("compute passes other options to aggregate")
        if isinstance(weights, str):
            weights = self.reached(self.graph.graph.arc_columns.number(weights, "weights"))
        if isinstance(weights, Expression) and not weights.is_constant:
            raise NotAnExpression("compute aggregates with weights that it computes")
        found = Aggregate(sub, data, reduce, edge, weights, dtype)
        return found if isinstance(sub, Whole) else Received(found)

    def update(self, values: Any, active: Any, received: Any, function: Any = None) -> tuple[Expression, Active]:
        """As `tg.update`."""
        if not (isinstance(values, Variable) and active is self.active and isinstance(received, Received)):
            raise NotAnExpression("compute updates other values than those it was given")
        given: tuple[Any, ...] = (values, received.values)
        if function is not None and operators.takes_vertices(function):
            given += (Everyone(self.graph.num_vertices, self.at_vertices),)
        new = received.values if function is None else function(*given)
        if not isinstance(new, Expression):
            raise NotAnExpression("the function given to update returns no tensor")
        return new, Active(values, new, active)

    # ---- names -------------------------------------------------------------------------------------------------------

    def attribute(self, name: str) -> Any:
        """An attribute of the program, as COMPUTE sees it."""
        try:
            value = inspect.getattr_static(self.program, name)
        except AttributeError as error:
            raise NotAnExpression(f"the program has no attribute {name!r}") from error
        if isinstance(value, FunctionType) and name not in vars(self.program):
            return partial(self.copied(value), self.view)
        try:
            return self.reached(value)
        except NotAnExpression as error:
            raise NotAnExpression(f"compute reads self.{name}, {_described(value)}") from error

    def reached(self, value: Any) -> Any:
        """A value that COMPUTE reaches by a name."""
        if isinstance(value, PLAIN) and type(value) in PLAIN:
            return value
        if isinstance(value, Tensor):
            return self.constants.setdefault(id(value), _constant(value))
        if type(value) is tuple:
            return tuple(map(self.reached, value))
        if isinstance(value, Graph) and value is self.graph.graph:
            return self.graph
        if isinstance(value, ModuleType) and value.__name__ in ("tgraph", "torch", "math"):
            return Names(lambda name: self.reached(getattr(value, name)))
        if callable(value) and value in self.known:
            return self.known[value]
        if any(value is each for each in BUILTINS) or getattr(math, getattr(value, "__name__", ""), None) is value:
            return value
        if isinstance(value, FunctionType):
            return self.copied(value)
        if isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType)):
            return called(value)
        raise NotAnExpression(f"compute uses {_described(value)}")

    def copied(self, function: Any) -> Callable[..., Any]:
        """A function of the same code that reaches nothing but symbols and constants. Raises NotAnExpression where it
        names anything else, handles exceptions, or would leave a name changed."""
        function = _without_no_grad(function)
        self.functions += 1
        if not isinstance(function, FunctionType) or self.functions > MOST_FUNCTIONS:
            raise NotAnExpression(f"compute calls {_described(function)}")
        names, handles = _read(function.__code__)
        if handles:
            raise NotAnExpression("compute handles exceptions, or has a with block")
        reached: dict[str, Any] = {}
        for name in names:
            if name in function.__globals__:
                reached[name] = self.reached(function.__globals__[name])
        pure = {name: getattr(builtins, name) for name in names & vars(builtins).keys() - reached.keys()}
        reached["__builtins__"] = {name: self.builtin(each) for name, each in pure.items()}
        cells = tuple(CellType(self.reached(cell.cell_contents)) for cell in function.__closure__ or ())
        defaults = tuple(map(self.reached, function.__defaults__ or ()))
        made = FunctionType(function.__code__, reached, function.__name__, defaults, cells)
        made.__kwdefaults__ = {name: self.reached(value) for name, value in (function.__kwdefaults__ or {}).items()}
        before = {**reached}, [cell.cell_contents for cell in cells]

        def called(*args: Any, **kwargs: Any) -> Any:
            result = made(*args, **kwargs)
            names, contents = before
            changed = names.keys() != reached.keys() or any(reached[name] is not names[name] for name in names)
            if changed or any(cell.cell_contents is not held for cell, held in zip(cells, contents, strict=True)):
                raise NotAnExpression("compute sets a name outside of it")
            return result

        return called

    def builtin(self, value: Any) -> Any:
        """A function of Python that is pure; where a name is no more than an attribute it is never called."""
        if any(value is each for each in BUILTINS):
            return value

        def refused(*args: Any, **kwargs: Any) -> Any:
            raise NotAnExpression(f"compute calls {value.__name__}")

        return refused


def _constant(tensor: Tensor) -> Constant:
    if type(tensor) not in (Tensor, torch.nn.Parameter) or tensor.requires_grad or tensor.is_inference():
        raise NotAnExpression("compute uses a tensor that records gradients, or of a class of its own")
    return Constant(lambda: tensor)


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list, torch.Size):
        return all(map(_is_plain, value))
    return type(value) in PLAIN


def _described(value: Any) -> str:
    name = getattr(value, "__name__", None)
    return f"{type(value).__name__} {name}" if isinstance(name, str) else f"a {type(value).__name__}"


def _without_no_grad(function: Any) -> Any:
    """The function that `@torch.no_grad()` decorates: expressions record no gradients."""
    if not isinstance(function, FunctionType) or function.__code__ is not _DECORATED:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    made = getattr(cells["ctx_factory"].cell_contents, "__self__", None)
    return cells["func"].cell_contents if isinstance(made, torch.no_grad) else function


_DECORATED = torch.no_grad()(lambda: None).__code__


@lru_cache(256)
def _read(code: CodeType) -> tuple[frozenset[str], bool]:
    """The names in a function and in those within it, and whether one of them handles exceptions."""
    codes = [*_codes(code)]
    return frozenset(name for each in codes for name in each.co_names), any(map(_handles_exceptions, codes))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _handles_exceptions(code: CodeType) -> bool:
    table: bytes | None = getattr(code, "co_exceptiontable", None)  # since Python 3.11
    if table is not None:
        return bool(table)
    return any(step.opname.startswith("SETUP_") for step in dis.get_instructions(code))
