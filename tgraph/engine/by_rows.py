"""COMPUTE from a frontier of some vertices: messages are computed for those that send alone.

    received = tg.aggregate(sub, depth + 1, "min")
    return tg.update(depth, active, received, torch.minimum)

computes `depth + 1` for all n vertices in each round, as it is written. COMPUTE is read once as an expression
(`symbols.py`). In a round from few vertices, functions of the vertex data row by row are evaluated at their rows: by a
kernel that does whole rounds where there is one, several in one call, and else by torch, into a tensor [n] of which
`aggregate` reads these rows. In a pull of a minimum or maximum the kernel reads the arcs of those vertices alone whose
value the best message may change, and of each until it has received that.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.core.dispatch import BACKENDS, Choice, is_available, is_watched, noted, refusal
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.core.subgraph import Mode, Subgraph
from tgraph.core.system.library import is_plain
from tgraph.engine import symbols
from tgraph.engine.row_code import code_of
from tgraph.engine.symbols import Active, Aggregate, Expression, NotAnExpression, Variable
from tgraph.kernels.reductions import reduction_of
from tgraph.model import operators
from tgraph.model.program import Program, Relaxation

LEAST_VERTICES = 1 << 19  # of smaller graphs, messages of all vertices cost less than those of some
LEAST_COMPILED = 1 << 10  # the same where a kernel does the whole round
MOST_ARCS = 1 << 16  # of a round that a kernel does on one thread
MOST_ACTIVE = 32  # at most one of so many vertices sends
BY_ROW = frozenset((*symbols.ELEMENTWISE, "double", "float", "int", "long", "to"))


class RowSteps:
    """A program whose rounds from a frontier are an aggregate of functions of rows, and an update by one."""

    def __init__(self, program: Program, graph: Graph, values: Tensor):
        """Raises NotAnExpression."""
        self.size, self.variable = graph.num_vertices, Variable(values)
        reader = symbols.Reader(program, graph)
        new, following = reader.read("compute", reader.sub, self.variable, reader.active)
        if not isinstance(following, Active) or following.new is not new or following.old is not self.variable:
            raise NotAnExpression("compute returns something else than what update gave")
        assert isinstance(new, Expression)
        self.new = new
        self.at_vertices = reader.at_vertices
        (self.received,) = self._aggregates(new)
        (self.sent,) = self.received.operands
        if self.received.sub is not reader.sub or not isinstance(self.received.weights, (int, float, type(None))):
            raise NotAnExpression("compute aggregates with other arcs or weights than those of the iteration")
        self._check(self.sent, self.sent.like.dim())
        self.kernel: Any = None
        self.messages: Tensor | None = None

    def compile(self, graph: Graph, values: Tensor) -> None:
        """Let a kernel do whole rounds, if there is one for them."""
        found, weights = self.received, self.received.weights
        if found.sums_in is not None or values.dim() != 1 or graph.layout is not None or not is_available("native"):
            return
        number = weights if isinstance(weights, (int, float)) else None
        code = code_of(self.sent, found.edge, number, self.new, values.dtype)
        weights = graph.weights if number is None and found.edge != "copy" else None
        edge = "copy" if weights is None else found.edge
        if code is None or (edge != found.edge and number is None):
            return
        arguments = graph, values, reduction_of(found.reduce), edge, weights, code, Scratch(graph.num_vertices)
        if refusal("native", "rowrounds", *arguments) is None:
            self.kernel = BACKENDS["native"].operators["rowrounds"].run(*arguments)

    def _aggregates(self, expression: Expression) -> set[Aggregate]:
        """The aggregates of which an expression is a function of rows, which reads constants at the vertices given."""
        if isinstance(expression, Aggregate):
            return {expression}
        if expression is self.variable:
            return set()
        if expression.is_constant:
            if expression.like.dim() and expression not in self.at_vertices:
                raise NotAnExpression("the function given to update reads a tensor at all vertices")
            return set()
        return {found for each in self._operands(expression) for found in self._aggregates(each)}

    def _check(self, expression: Expression, dim: int) -> None:
        """Raise NotAnExpression unless rows of a value depend on the same rows of the vertex data alone."""
        like = expression.like
        if like.dim() not in (0, dim) or (like.dim() and len(like) != self.size):
            raise NotAnExpression("compute sends data of which the rows are not those of the vertices")
        if not expression.is_constant and expression is not self.variable:
            for each in self._operands(expression):
                self._check(each, dim)

    @staticmethod
    def _operands(expression: Expression) -> list[Expression]:
        """The operands of a function of rows."""
        if expression.function not in BY_ROW:
            raise NotAnExpression(f"compute calls {expression.function}, which is no function of rows")
        operands = (*expression.operands, *expression.options.values())
        return [each for each in operands if isinstance(each, Expression)]

    @classmethod
    def of(cls, program: Program, graph: Graph, values: Any, backend: str) -> RowSteps | None:
        """The rounds of a program from few vertices; None where COMPUTE is to be called as it is written."""
        if isinstance(program, Relaxation) or type(program).tensorize is not Program.tensorize:
            return None
        if graph.num_vertices < LEAST_COMPILED or type(values) is not Tensor or graph.storage.is_distributed:
            return None
        weights = None if graph.layout is not None else graph.weights
        if values.requires_grad or (weights is not None and weights.requires_grad):
            return None
        try:
            made = cls(program, graph, values)
        except (NotAnExpression, ValueError):  # of several aggregates
            return None
        if backend in ("auto", "native"):
            made.compile(graph, values)
        by_torch = graph.num_vertices >= LEAST_VERTICES and made.sent is not made.variable
        return made if made.kernel is not None or by_torch else None

    def is_round(self, active: Frontier, values: Any, mode: Mode) -> bool:
        """Whether the kernel may do a round from these vertices."""
        return (
            self.kernel is not None
            and not active.is_everything
            and (self.kernel.pulls if mode == "pull" else active.measure()[1] <= MOST_ARCS)
            and is_plain(values)
            and values.is_contiguous()
            and self._is_alike(values)
        )

    def rounds(self, values: Tensor, active: Frontier, mode: Mode, most: int, most_arcs: int) -> tuple[Frontier, int]:
        """The vertices that are active after rounds by the kernel, which overwrite the values, and how many these were:
        at most `most`, one in a pull, in a push from at most `most_arcs` arcs each but for the first."""
        if is_watched():
            noted(Choice("aggregate", BACKENDS["native"]))
        if mode == "pull":
            return self.kernel.pull(values, active), 1
        following: tuple[Frontier, int] = self.kernel.push(values, active, most, min(most_arcs, MOST_ARCS))
        return following

    def _is_alike(self, values: Any) -> bool:
        """Whether vertex data is like that at first, and nothing that torch does would be seen."""
        like = self.variable.tensor
        return (
            type(values) is Tensor
            and (values.shape, values.dtype, values.requires_grad) == (like.shape, like.dtype, False)
            and not torch._C._len_torch_function_stack()
            and not torch.is_autocast_enabled(values.device.type)
        )

    def supports(self, sub: Subgraph, values: Any) -> bool:
        """Whether few vertices send in an iteration, whose vertex data is like that at first, without a gradient."""
        return (
            self.size >= LEAST_VERTICES
            and self.sent is not self.variable
            and not sub.active.is_everything
            and len(sub.active) * MOST_ACTIVE <= self.size
            and self._is_alike(values)
        )

    def compute(self, sub: Subgraph, values: Tensor, active: Frontier) -> tuple[Tensor, Frontier]:
        """The result of COMPUTE."""
        if self.messages is None:
            self.messages = torch.zeros(self.sent.like.shape, dtype=self.sent.like.dtype, device=values.device)
        with torch.no_grad():
            self.messages.index_copy_(0, active.ids, self._at(self.sent, active.ids, {self.variable: values}))
            found = self.received
            received = operators.aggregate(
                sub, self.messages, found.reduce, edge=found.edge, weights=found.weights, dtype=found.sums_in
            )

            def function(old: Tensor, given: Tensor, vertices: Tensor) -> Tensor:
                return self._at(self.new, vertices, {}, {self.variable: old, found: given})

            return operators.update(values, active, received, function)

    def _at(self, expression: Expression, vertices: Tensor, whole: Any, known: Any = None) -> Any:
        """The rows of an expression at some vertices, from `whole` variables or `known` rows."""
        known = {} if known is None else known

        def value_of(each: Expression) -> Any:
            found = known.get(each)
            if found is None:
                if each.is_constant or each in whole:
                    found = whole[each] if each in whole else each.constant()
                    found = found.index_select(0, vertices) if found.dim() else found
                else:
                    found = symbols.evaluate(each, value_of)
                known[each] = found
            return found

        return value_of(expression)
