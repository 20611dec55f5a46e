"""Expressions of vertex data, and their affine form around a sum over arcs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import torch
from torch import Tensor

from tgraph.core.subgraph import Subgraph
from tgraph.primitives.linear import AffineMap

Operand: TypeAlias = Union["Node", Tensor, float]

FUNCTIONS: dict[str, Callable[..., Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
FUNCTIONS |= {"div": operator.truediv, "neg": operator.neg, "abs": operator.abs, "to": Tensor.to}


@dataclass(slots=True, eq=False)
class Node:
    """An element-wise function of operands, or a sum over arcs; its `value` [n] once computed, by a step of `origin` if
    fused. Constants are functions of tensors other than vertex data."""

    function: str
    operands: tuple[Operand, ...]
    dtype: torch.dtype
    is_constant: bool = False
    value: Tensor | None = None
    origin: AffineMap | None = None
    size: int = 1


@dataclass(slots=True, eq=False)
class Sum(Node):
    """The sum, over all in-arcs of each vertex, of the operand at the other end (times the weight of the arc)."""

    sub: Subgraph | None = None
    edge: str = "copy"
    weights: Tensor | float | None = None


Term: TypeAlias = tuple[float, "Operand | None"]  # (factor, operand), None for the operand 1


def terms(operand: Operand) -> list[Term]:
    """The operand as a linear combination, with equal operands merged."""
    merged: dict[int, Term] = {}
    for factor, base in _terms(operand):
        known = merged.get(id(base))
        merged[id(base)] = (factor if known is None else factor + known[0], base)
    return list(merged.values())


def _terms(operand: Operand) -> list[Term]:
    if not isinstance(operand, Node):
        return [(1.0, operand)] if isinstance(operand, Tensor) else [(operand, None)]
    if operand.value is not None:
        return [(1.0, operand.value)]
    operands = operand.operands
    match operand.function:
        case "add":
            return _terms(operands[0]) + _terms(operands[1])
        case "sub":
            return _terms(operands[0]) + _times(-1.0, operands[1])
        case "neg":
            return _times(-1.0, operands[0])
        case "mul":
            for number, other in (operands, operands[::-1]):
                if isinstance(number, (int, float)):
                    return _times(number, other)
        case "div" if isinstance(operands[1], (int, float)):
            return _times(1 / operands[1], operands[0])
    return [(1.0, operand)]


def _times(number: float, operand: Operand) -> list[Term]:
    return [(number * factor, base) for factor, base in _terms(operand)]


def factors(operand: Operand, is_variable: Callable[[Tensor], bool]) -> tuple[Operand | None, Operand | None]:
    """The operand as a product (variable, constant), None for 1."""
    if isinstance(operand, Node) and operand.value is not None:
        operand = operand.value
    if not isinstance(operand, Node):
        return (operand, None) if isinstance(operand, Tensor) and is_variable(operand) else (None, operand)
    if operand.is_constant:
        return None, operand
    if operand.function in ("mul", "div"):
        (left, first), (right, second) = (factors(each, is_variable) for each in operand.operands)
        if operand.function == "div" and right is None:
            return left, combined("div", 1.0 if first is None else first, second)
        if operand.function == "mul" and (left is None or right is None):
            return right if left is None else left, times(first, second)
    return operand, None


def times(first: Operand | None, second: Operand | None) -> Operand | None:
    """The product of two constants, None for 1."""
    if first is None or second is None:
        return second if first is None else first
    return combined("mul", first, second)


def combined(function: str, *operands: Any) -> Operand:
    """A function of constants, computed in float64; of numbers, a number."""
    if all(isinstance(each, (int, float)) for each in operands):
        return FUNCTIONS[function](*operands)
    return Node(function, operands, torch.float64, is_constant=True)


def grouped(rest: list[Term], is_variable: Callable[[Tensor], bool], dtype: torch.dtype) -> Operand:
    """The linear combination, with a single product for each variable."""
    constants: dict[int, Operand] = {}
    variables: dict[int, Operand | None] = {}
    for factor, base in rest:
        variable, constant = (None, None) if base is None else factors(base, is_variable)
        term = times(factor, constant)
        known = constants.get(id(variable))
        constants[id(variable)] = term if known is None else combined("add", known, term)  # type: ignore[assignment]
        variables[id(variable)] = variable
    total: Operand | None = None
    for key, variable in variables.items():
        constant = constants[key]
        if not isinstance(constant, (int, float)):
            constant = combined("to", constant, dtype)
        product = constant if variable is None else Node("mul", (variable, constant), dtype)
        total = product if total is None else Node("add", (total, product), dtype)
    assert total is not None
    return total


def contains_sum(operand: Operand | None) -> bool:
    """Whether the operand depends on a sum over arcs that is not computed yet."""
    if not isinstance(operand, Node) or operand.value is not None:
        return False
    return isinstance(operand, Sum) or any(contains_sum(each) for each in operand.operands)
