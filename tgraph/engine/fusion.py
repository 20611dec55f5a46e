"""Fusion of COMPUTE: a sum over all arcs and the element-wise operations around it become one affine step.

COMPUTE is read once as an expression (`symbols.py`). In each round in which everything is active, its value is computed
from the vertex data, with an expression such as

    alpha * aggregate(scale * x, "sum") + beta * bias

as one step of an `AffineMap`: a single pass over the arcs that also gives the sum of the new values and their L1
distance to the old ones. Functions of constants alone, such as 1 / out_degree, are computed once. All others are the
functions of torch that COMPUTE names. Where one of them raises an error the program computes that round itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tgraph.core.dispatch import is_available
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.engine.symbols import Active, Aggregate, Arcs, Expression, NotAnExpression, Reader, Variable, evaluate
from tgraph.model import operators
from tgraph.model.program import Program, Relaxation
from tgraph.primitives.linear import AffineMap

LEAST_ARCS = 1 << 18  # on smaller graphs, a pass over the vertices costs little
NUMBERS = 2.0**-60, 2.0**60  # absolute values of factors, whose products with data neither overflow nor vanish
FLOATS = (torch.float32, torch.float64)


class Term(NamedTuple):
    """A factor times a base; None for the base 1."""

    factor: float
    base: Expression | None


class Product(NamedTuple):
    """A number times a variable times a constant; None for 1."""

    number: float
    variable: Expression | None
    constant: Expression | None


class FusedStep(AffineMap):
    """An affine map with a varying bias."""

    def next(
        self, sub: Subgraph, x: Tensor, alpha: float, beta: float, bias: Tensor | float, before: Tensor, live: set[int]
    ) -> Tensor:
        """The values after a step. `live` : the addresses of memory that is not to be written to."""
        spare = self._spare[0] if self._spare[0] is not None and _address(self._spare[0]) not in live else None
        self._spare = spare, None if self._scale is None else self._spare[1]
        if bias is not self._bias:
            self._bias, self._graph = bias, None
            self._vectors = {name: value for name, value in self._vectors.items() if name != "bias"}
            if isinstance(bias, Tensor):
                self._vectors["bias"] = bias
        return self.step(sub, x, alpha=alpha, beta=beta, before=before)

    def gave(self, values: Tensor) -> bool:
        """Whether `values` are the result of the last step."""
        return self._last is not None and values is self._last.values

    def moved(self, before: Tensor, after: Tensor) -> float | None:
        """The L1 distance of the last step, None unless it led from `before` to `after`."""
        return float(self.change(before, after)) if before is self._before and self.gave(after) else None


class Fused:
    """A program whose rounds, while everything is active, are an expression of the vertex data."""

    def __init__(self, program: Program, graph: Graph, values: Any):
        """Raises NotAnExpression."""
        reader = Reader(program, graph)
        variables = _mapped(values, Variable)
        self.inputs = [*_leaves(variables)]
        result = reader.read("compute", reader.sub, variables, reader.active)
        if type(result) is not tuple or len(result) != 2 or not isinstance(result[1], Active):
            raise NotAnExpression("compute returns something else than vertex data and the frontier")
        self.outputs, self.following = result
        self._check(values)
        results = [*_leaves(self.outputs)] + [self.following.new] * (self.following.new is not None)
        self.uses = _uses(results)
        if not any(isinstance(each, Aggregate) and _is_linear(each) for each in self.uses):
            raise NotAnExpression("compute has no sum over arcs")
        self.before, self.after = _mapped(values, Variable), _mapped(values, Variable)
        self.distance: Any = None
        if type(program).residual is not Program.residual:
            self.distance = reader.read("residual", self.before, self.after)
            found = _uses([self.distance]) if isinstance(self.distance, Expression) else {}
            if any(isinstance(each, Aggregate) for each in found) or not (found or self.distance is None):
                raise NotAnExpression("residual is no function of the vertex data")
        self.steps: dict[Aggregate, tuple[FusedStep, Expression | None]] = {}
        self.combined: dict[Any, Expression] = {}  # functions of constants that an affine form needs
        self.shares: dict[Any, tuple[Any, torch.dtype]] = {}
        self.known: dict[Expression, Any] = {}  # the values of this round

    def _check(self, values: Any) -> None:
        """Raise NotAnExpression unless the results have the form of the vertex data."""
        outputs = [*_leaves(self.outputs)]
        if _mapped(self.outputs, _nothing) != _mapped(values, _nothing) or len(outputs) != len(self.inputs):
            raise NotAnExpression("compute returns other vertex data than it was given")
        for one, other in zip(outputs, self.inputs, strict=True):
            if not isinstance(one, Expression) or one.is_constant:
                raise NotAnExpression("compute returns vertex data that is a constant")
            if one.like.shape != other.like.shape or one.like.dtype != other.like.dtype:
                raise NotAnExpression("compute returns vertex data of another dtype or shape")

    @classmethod
    def of(cls, program: Program, graph: Graph, values: Any, backend: str) -> Fused | str:
        """The fused form of a program, or the reason why there is none."""
        if isinstance(program, Relaxation):
            return "a relaxation has a step of its own"
        if type(program).tensorize is not Program.tensorize:
            return "tensorize is the program's own, which may change what compute reads"
        if graph.num_arcs < LEAST_ARCS:
            return f"fewer than {LEAST_ARCS:,} arcs"
        if graph.device.type != "cpu" or not is_available("native") or backend not in ("auto", "native", "layout"):
            return "needs the compiled kernels of the CPU"
        if graph.layout is not None and (graph.layout.streams or graph.layout.is_distributed):
            return "the graph is streamed or spread over ranks"
        try:
            return cls(program, graph, values)
        except NotAnExpression as reason:
            return str(reason)

    def supports(self, sub: Subgraph, values: Any) -> bool:
        """Whether an iteration may be fused: all vertices receive, and no gradient is recorded."""
        if not (sub.is_whole and sub.mode == "pull" and sub.active.is_everything):
            return False
        if torch._C._len_torch_function_stack() or torch.is_autocast_enabled("cpu"):
            return False
        tensors = [*_leaves(values)]
        same = all(
            one.shape == other.tensor.shape and one.dtype == other.tensor.dtype
            for one, other in zip(tensors, self.inputs, strict=True)
        )
        return same and all(type(each) is Tensor and not each.requires_grad for each in tensors)

    def compute(self, sub: Subgraph, values: Any, active: Frontier) -> tuple[Any, Frontier]:
        """The result of COMPUTE."""
        self.sub, self.known = sub, dict(zip(self.inputs, _leaves(values), strict=True))
        with torch.no_grad():
            outputs = _mapped(self.outputs, self._value)
            if self.following.old is None or self._changed(self.following.old, self.following.new):
                return outputs, active
        return outputs, active.graph.nothing()

    def residual(self, before: Any, after: Any) -> Any:
        """The result of `program.residual`."""
        if not isinstance(self.distance, Expression):
            return self.distance
        pairs = zip([*_leaves(self.before), *_leaves(self.after)], [*_leaves(before), *_leaves(after)], strict=True)
        self.known = dict(pairs)
        with torch.no_grad():
            return self._value(self.distance)

    def _changed(self, old: Expression, new: Expression) -> bool:
        before, after = self._value(old), self._value(new)
        moved = self._moved(before, after)
        return moved > 0 if moved is not None and moved == moved else bool(operators.differs(after, before).any())

    # ---- values ------------------------------------------------------------------------------------------------------

    def _value(self, expression: Expression) -> Any:
        """The value of an expression in this round."""
        if expression.is_constant:
            return expression.constant()
        known = self.known.get(expression)
        if known is None:
            known = self.known[expression] = self._computed(expression)
        return known

    def _computed(self, expression: Expression) -> Any:
        if isinstance(expression, Aggregate):
            return self._aggregated(expression)
        if expression.function == "sum" and len(expression.operands) == 1 and not expression.options:
            total = self._total(expression.operands[0])
            if total is not None:
                return torch.tensor(total, dtype=expression.operands[0].like.dtype)
        try:
            found = self._affine(expression)
        except _NotAffine:
            found = None
        return evaluate(expression, self._value) if found is None else found

    def _aggregated(self, found: Aggregate) -> Tensor:
        if _is_linear(found):
            return self._step(found, 1.0, 1.0, 0.0)
        (data,), weights = found.operands, found.weights
        given = self._value(weights) if isinstance(weights, Expression) else weights
        result = operators.aggregate(
            self._arcs(found), self._value(data), found.reduce, edge=found.edge, weights=given, dtype=found.sums_in
        )
        return result.values

    def _arcs(self, found: Aggregate) -> Subgraph:
        return self.sub.reverse() if isinstance(found.sub, Arcs) and found.sub.reversed else self.sub

    def _total(self, operand: Expression) -> float | None:
        """The sum of the values of an expression, None where no step has computed it."""
        if operand.function == "abs" and operand.operands[0].function == "sub":
            one, other = operand.operands[0].operands
            if isinstance(one, Variable) and isinstance(other, Variable):
                one, other = self._value(one), self._value(other)
                moved = self._moved(one, other)
                return self._moved(other, one) if moved is None else moved
        if not self._contains_sum(operand):
            return None
        values = self._value(operand)
        for step, _ in self.steps.values():
            if step.gave(values):
                return float(step.total(values))
        return None

    def _moved(self, before: Tensor, after: Tensor) -> float | None:
        """The L1 distance, None where no step has computed it."""
        for step, _ in self.steps.values():
            if (moved := step.moved(before, after)) is not None:
                return moved
        return None

    # ---- affine forms ------------------------------------------------------------------------------------------------

    def _affine(self, expression: Expression) -> Tensor | None:
        """The value of an expression with exactly one sum over arcs, None for any other."""
        if not self._contains_sum(expression) or expression.like.dim() != 1:
            return None
        parts = self._terms(expression, root=True)
        sums = [each for each in parts if isinstance(each.base, Aggregate) and self._is_open(each.base)]
        rest = [each for each in parts if not (isinstance(each.base, Aggregate) and self._is_open(each.base))]
        if len(sums) != 1 or any(each.base is not None and self._contains_sum(each.base) for each in rest):
            return None
        (factor, found), dtype = sums[0], expression.like.dtype
        assert isinstance(found, Aggregate)
        return self._step(found, factor, *self._bias(rest, dtype)) if found.like.dtype == dtype else None

    def _step(self, found: Aggregate, alpha: float, beta: float, bias: Tensor | float) -> Tensor:
        """alpha * a sum over arcs + beta * bias by a step of an affine map, the same map in each round."""
        (x,), scale, dtype = found.operands, None, found.like.dtype
        try:
            (term,) = self._terms(x, root=True)
            number, variable, constant = (1.0, None, None) if term.base is None else self._product(term.base)
            if variable is not None and variable.like.dtype == dtype:
                x, alpha, scale = variable, alpha * term.factor * number, constant
        except (_NotAffine, ValueError):  # of several terms
            pass
        step, known = self.steps.get(found, (None, None))
        if step is None or known is not scale:
            weights = self._value(found.weights) if isinstance(found.weights, Expression) else found.weights
            shares = None if scale is None else self._cast(scale, dtype)
            step = FusedStep(scale=shares, bias=bias, edge=found.edge, weights=weights)
            self.steps[found] = step, scale
        values = self._value(x)
        first = next(self.known[each] for each in self.inputs if self.known[each].dim() == 1)
        before = first if first.dtype == values.dtype else values
        live = {_address(each) for each in self.known.values() if isinstance(each, Tensor)}
        return step.next(self._arcs(found), values, alpha, beta, bias, before, live)

    def _terms(self, expression: Any, root: bool = False) -> list[Term]:
        """An expression as a linear combination, with equal bases merged. Raises _NotAffine for extreme numbers."""
        merged: dict[int, Term] = {}
        for factor, base in self._separate(expression, root):
            held = merged.get(id(base))
            merged[id(base)] = Term(factor if held is None else factor + held.factor, base)
        return list(merged.values())

    def _separate(self, expression: Any, root: bool) -> list[Term]:
        number = self._number(expression)
        if number is not None:
            return [Term(number, None)]
        if not self._is_splittable(expression) or (self.uses.get(expression, 1) > 1 and not root):
            return [Term(1.0, expression)]
        operands = expression.operands
        match expression.function:
            case "add":
                return self._separate(operands[0], False) + self._separate(operands[1], False)
            case "sub":
                return self._separate(operands[0], False) + self._times(-1.0, operands[1])
            case "neg":
                return self._times(-1.0, operands[0])
            case "mul":
                for one, other in (operands, operands[::-1]):
                    if (number := self._number(one)) is not None:
                        return self._times(number, other)
            case "div" if (number := self._number(operands[1])) is not None:
                return self._times(_inverse(number), operands[0])
        return [Term(1.0, expression)]

    def _times(self, number: float, expression: Any) -> list[Term]:
        return [Term(number * factor, base) for factor, base in self._separate(expression, False)]

    def _is_splittable(self, expression: Expression) -> bool:
        """Whether an expression may be computed in parts: a sum or product of two operands as long as itself."""
        if expression.is_constant or expression in self.known or expression.options:
            return False
        if len(expression.operands) != (1 if expression.function == "neg" else 2):
            return False
        like, operands = expression.like, [each for each in expression.operands if isinstance(each, Expression)]
        return like.is_floating_point() and all(each.like.shape in ((), like.shape) for each in operands)

    def _number(self, operand: Any) -> float | None:
        """The number that an operand is, None for a tensor. Raises _NotAffine for one that is extreme."""
        if isinstance(operand, Expression):
            if operand.like.dim():
                return None
            operand = float(self._value(operand))
        if type(operand) not in (int, float) or not (operand == 0 or NUMBERS[0] < abs(operand) < NUMBERS[1]):
            raise _NotAffine
        return float(operand)

    def _product(self, operand: Any) -> Product:
        """An expression as a product."""
        number = self._number(operand)
        if number is not None:
            return Product(number, None, None)
        if operand.is_constant:
            return Product(1.0, None, operand)
        if not self._is_splittable(operand) or operand.function not in ("mul", "div", "neg"):
            return Product(1.0, operand, None)
        products = [self._product(each) for each in operand.operands]
        if operand.function == "neg":
            return products[0]._replace(number=-products[0].number)
        one, other = products
        if operand.function == "mul" and (one.variable is None or other.variable is None):
            variable = one.variable if other.variable is None else other.variable
            return Product(one.number * other.number, variable, self._multiplied(one.constant, other.constant))
        if operand.function == "div" and other.variable is None:
            constant = one.constant
            if other.constant is not None:
                constant = self._combined("div", 1.0 if constant is None else constant, other.constant)
            return Product(one.number * _inverse(other.number), one.variable, constant)
        return Product(1.0, operand, None)

    def _bias(self, rest: list[Term], dtype: torch.dtype) -> tuple[float, Tensor | float]:
        """(beta, bias) of the terms beside a sum, a product for each variable."""
        grouped: dict[int, tuple[Expression | None, list[tuple[float, Expression | None]]]] = {}
        for factor, base in rest:
            number, variable, constant = (1.0, None, None) if base is None else self._product(base)
            grouped.setdefault(id(variable), (variable, []))[1].append((factor * number, constant))
        if len(rest) == 1:
            ((variable, ((number, constant),)),) = grouped.values()
            if variable is None or constant is None:
                base = constant if variable is None else variable
                return number, 1.0 if base is None else self._cast(base, dtype)
        total: Any = 0.0
        for variable, shares in grouped.values():
            share = self._share(shares, dtype)
            product = share if variable is None else self._cast(variable, dtype) * share
            total = product if isinstance(total, float) and total == 0 else total + product
        return 1.0, total

    def _share(self, shares: list[tuple[float, Expression | None]], dtype: torch.dtype) -> Tensor | float:
        """The sum of numbers times constants, in float64, computed once for equal numbers."""
        key = tuple((number, id(constant)) for number, constant in shares)
        if self.shares.get(key, (None, dtype))[1] is not dtype or key not in self.shares:
            if len(self.shares) > len(self.uses):
                self.shares.clear()
            products = [
                number if constant is None else number * constant.constant().double() for number, constant in shares
            ]
            found = sum(products[1:], products[0])
            self.shares[key] = found.to(dtype) if isinstance(found, Tensor) else found, dtype
        return self.shares[key][0]

    def _multiplied(self, one: Expression | None, other: Expression | None) -> Expression | None:
        """The product of two constants, None for 1."""
        if one is None or other is None:
            return other if one is None else one
        return self._combined("mul", one, other)

    def _combined(self, function: str, *operands: Any) -> Expression:
        """A function of constants, computed once, in float64."""
        key = function, tuple(each if isinstance(each, float) else id(each) for each in operands)
        if key not in self.combined:
            wide = [each if isinstance(each, float) else Expression("to", (each, torch.float64)) for each in operands]
            self.combined[key] = Expression(function, tuple(wide))
        return self.combined[key]

    def _cast(self, expression: Expression, dtype: torch.dtype) -> Tensor:
        if expression.like.dtype == dtype:
            return self._value(expression)
        if not expression.is_constant:
            return self._value(expression).to(dtype)
        key = dtype, (id(expression),)
        return self.combined.setdefault(key, Expression("to", (expression, dtype))).constant()

    def _is_open(self, found: Expression) -> bool:
        """Whether a sum over arcs is to be computed, for one expression alone."""
        return (
            isinstance(found, Aggregate)
            and _is_linear(found)
            and found not in self.known
            and self.uses.get(found, 1) == 1
        )

    def _contains_sum(self, expression: Any) -> bool:
        """Whether an expression depends on a sum over arcs that is not computed yet, element by element."""
        if not isinstance(expression, Expression) or expression.is_constant or expression in self.known:
            return False
        if isinstance(expression, Aggregate):
            return _is_linear(expression)
        return any(map(self._contains_sum, expression.operands))


class _NotAffine(Exception):
    """A number that an affine form cannot have."""


def _inverse(number: float) -> float:
    if not number:
        raise _NotAffine
    return 1 / number


def _is_linear(found: Aggregate) -> bool:
    """Whether an aggregate is a step of an affine map."""
    (data,), weights = found.operands, found.weights
    if found.reduce != "sum" or found.edge not in ("copy", "mul") or found.sums_in is not None or data.like.dim() != 1:
        return False
    if data.like.dtype not in FLOATS or isinstance(weights, bool):
        return False
    graph, dtype = found.arcs_of, data.like.dtype
    if isinstance(weights, Expression):
        return found.edge == "mul" and weights.like.shape == (graph.num_arcs,) and weights.like.dtype == dtype
    if weights is None and found.edge == "mul":
        own = graph.weights if graph.layout is None else None
        return graph.weight_dtype == dtype and not (own is not None and own.requires_grad)
    return found.edge == "mul" or weights is None


def _uses(roots: list[Expression]) -> dict[Expression, int]:
    """How often each expression is an operand, or a result."""
    found: dict[Expression, int] = {}
    left = list(roots)
    while left:
        each = left.pop()
        found[each] = found.get(each, 0) + 1
        if found[each] == 1:
            left += [operand for operand in each.operands if isinstance(operand, Expression)]
    return found


def _mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    """A function of each tensor, or expression, of nested vertex data."""
    return {name: _mapped(each, function) for name, each in tree.items()} if isinstance(tree, dict) else function(tree)


def _leaves(tree: Any) -> Iterator[Any]:
    """The tensors, or expressions, of nested vertex data, in the order of their names."""
    if isinstance(tree, dict):
        for name in sorted(tree, key=str):
            yield from _leaves(tree[name])
    else:
        yield tree


def _nothing(value: Any) -> None:
    return None


def _address(tensor: Tensor) -> int:
    """The address of the storage of a tensor, shared with its views."""
    return tensor.untyped_storage().data_ptr()
