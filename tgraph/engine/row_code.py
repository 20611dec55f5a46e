"""Expressions of rows as the code of compiled rounds (`tgraph.kernels.operators.relaxation.row_rounds`)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.engine.symbols import Aggregate, Expression, NotAnExpression, Variable
from tgraph.kernels.operators.relaxation.row_rounds import FUNCTIONS, OPERATIONS, REGISTERS, TRUTH, Code

NAMES = {"true_divide": "div", "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_not": "logical_not"}
NAMES |= dict.fromkeys(("double", "float", "int", "long", "to"), "copy")


class _Writer:
    """Writes the code of one expression after the other."""

    def __init__(self, dtype: torch.dtype, numbers: list[float], constants: list[Tensor]):
        self.dtype, self.numbers, self.constants = dtype, numbers, constants
        self.steps: list[tuple[int, int, int, int, int]] = []
        self.registers: dict[Any, int] = {}

    def write(self, each: Any) -> int:
        """The register that holds an expression or a number from here on."""
        key = each if isinstance(each, Expression) else (type(each), each)
        if key not in self.registers:
            self.registers[key] = self._written(each)
        return self.registers[key]

    def _written(self, each: Any) -> int:
        if not isinstance(each, Expression):
            return self._number(each)
        if isinstance(each, Aggregate):
            return self._step("received")
        if each.like.dtype not in (self.dtype, torch.bool):
            raise NotAnExpression("compiled rounds have no such operation, dtype or number")
        if isinstance(each, Variable):
            return self._step("values")
        if each.is_constant:
            return self._constant(each.constant())
        name = NAMES.get(each.function, each.function)
        is_truth = each.like.dtype == torch.bool
        if name not in (*FUNCTIONS, *TRUTH) or is_truth != (name in TRUTH) or (each.options and name != "copy"):
            raise NotAnExpression("compiled rounds have no such operation, dtype or number")
        if name == "div" and not self.dtype.is_floating_point:
            raise NotAnExpression("compiled rounds have no such operation, dtype or number")
        operands = each.operands[:1] if name == "copy" else each.operands
        return self._step(name, *map(self.write, operands))

    def _constant(self, value: Tensor) -> int:
        if not value.dim():
            return self._number(value.item())
        self.constants.append(value.detach().to(self.dtype))
        return self._step("constant", len(self.constants) - 1)

    def _number(self, value: Any) -> int:
        kinds = (bool, int, float) if self.dtype.is_floating_point else (bool, int)
        if type(value) not in kinds:
            raise NotAnExpression("compiled rounds have no such operation, dtype or number")
        if not self.dtype.is_floating_point and not -(2**31) <= value < 2**31:
            raise NotAnExpression("compiled rounds have no such operation, dtype or number")
        self.numbers.append(value)
        return self._step("number", len(self.numbers) - 1)

    def _step(self, name: str, *operands: int) -> int:
        result = len(self.steps)
        if result >= REGISTERS or len(operands) > 3:
            raise NotAnExpression("compiled rounds have no such operation, dtype or number")
        self.steps.append((OPERATIONS.index(name), result, *operands, *(0,) * (3 - len(operands))))  # type: ignore[arg-type]
        return result


EDGES = {"add": "add", "mul": "mul", "min": "minimum", "max": "maximum"}


def code_of(sent: Expression, edge: str, weight: float | None, new: Expression, dtype: torch.dtype) -> Code | None:
    """The code of messages `sent`, along arcs that all have a `weight` if there is one, and of `new` values of a dtype;
    None where there is none."""
    if weight is not None and edge != "copy" and not dtype.is_floating_point:
        return None  # sums of integers are checked
    numbers: list[float] = []
    constants: list[Tensor] = []
    writers = [_Writer(dtype, numbers, constants) for _ in range(2)]
    try:
        for writer, each in zip(writers, (sent, new), strict=True):
            if each.like.dtype != dtype:
                return None
            last = writer.write(each)
            if weight is not None and edge != "copy" and each is sent:
                last = writer._step(EDGES[edge], last, writer.write(weight))
            if last != len(writer.steps) - 1:
                return None
    except (NotAnExpression, ValueError, RuntimeError):
        return None
    return Code(writers[0].steps + writers[1].steps, len(writers[0].steps), numbers, constants)
