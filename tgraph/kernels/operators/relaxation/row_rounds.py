"""Rounds of a program of which messages and new values are element-wise functions of vertex data."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from tgraph.core.dispatch import optional_operator
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.kernels.reductions import Reduction

# A number, values, a constant tensor, or what was received, at some rows; then functions of registers.
READ = ("number", "values", "constant", "received")
FUNCTIONS = ("copy", "add", "sub", "mul", "div", "minimum", "maximum", "neg", "abs", "where")
TRUTH: tuple[str, ...] = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not")
TRUTH += ("isnan", "isinf", "isfinite")
OPERATIONS = (*READ, *FUNCTIONS, *TRUTH)
REGISTERS = 48


class Code(NamedTuple):
    """Functions of rows in single steps, all of the dtype of the values; truth is 1 or 0.

    steps : (operation, register of the result, and three operands): registers, or which number or constant is read.
    sent : how many of the steps give the messages, the last of them; the others give the new values.
    """

    steps: list[tuple[int, int, int, int, int]]
    sent: int
    numbers: list[float]
    constants: list[Tensor]


@optional_operator
class RowRounds:
    """Rounds in one call each.

    values : [n], like those of each round. weights : of the stored arcs, [m], unless the edge operation is "copy".
    """

    def __init__(
        self,
        graph: Graph,
        values: Tensor,
        reduction: Reduction,
        edge: str,
        weights: Tensor | None,
        code: Code,
        scratch: Scratch,
    ): ...

    pulls: bool  # whether there is a `pull`

    def push(self, values: Tensor, active: Frontier, most_rounds: int, most_arcs: int) -> tuple[Frontier, int]:
        """Overwrites `values` at vertices that the `active` ones reach, in at least one round and at most
        `most_rounds`, from at most `most_arcs` arcs each: those that changed in the last one, in the order in which
        they are first reached, and the number of rounds."""
        raise NotImplementedError

    def pull(self, values: Tensor, active: Frontier) -> Frontier:
        """The same for one round in which every vertex looks at its arcs, in the order of the vertices."""
        raise NotImplementedError
