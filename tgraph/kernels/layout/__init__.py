"""The layout backend: operators on graphs whose arcs are in a layout (`tgraph.formats`), computed there.

A layout offers a pull over all of its rows. What needs rows one by one, or arcs in their stored order, is left to the
backends after this one, for which the graph is decoded. A layout that streams also offers relaxations and union-find,
since what it decodes has to fit a budget. What a pull is made of, such as the evaluation of a DAG, layouts ask the
registry for.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from tgraph.core.dispatch import BACKENDS, LAYOUT
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.call import Call, not_plain
from tgraph.kernels.layout import aggregation, relaxation, streaming
from tgraph.kernels.layout.arcs import edge_of, layout_of, receiving
from tgraph.kernels.loops import fixpoint
from tgraph.kernels.messages import is_per_arc
from tgraph.kernels.operators.aggregation.aggregation import aggregate
from tgraph.kernels.operators.components.union_find import join
from tgraph.kernels.operators.linear import linear
from tgraph.kernels.operators.relaxation.relaxation import relax


def refuses_call(own: Callable[[Call, Subgraph], str | None]) -> Callable[[Call], str | None]:
    """Why a `Call` is not supported: the reasons that hold for all operators, then its `own`."""

    def refuses(call: Call) -> str | None:
        if call.sub is None or call.sub.graph.layout is None:
            return "the graph is stored in CSR, in no layout of its own"
        if not call.sub.graph.layout.is_distributed and (why := not_plain(call)):
            return why
        if is_per_arc(call.weights):
            return "weights that are not the graph's own are in the stored order of the arcs"
        return own(call, call.sub)

    return refuses


def _refuses_step(call: Call, sub: Subgraph) -> str | None:
    if call.needs_gradient:
        return "it records no gradient"
    return layout_of(receiving(sub)).refuses("sum", edge_of(call), torch.float64)


_implements = BACKENDS[LAYOUT].implements


@_implements(linear.affine_step, refuses_call(_refuses_step))
def affine_step(sub: Subgraph, step: AffineStep) -> StepResult:
    """As the portable `affine_step`; the layout may have a fused one."""
    return layout_of(receiving(sub)).affine_step(step)


_implements(aggregate, refuses_call(aggregation.refuses))(aggregation.aggregate)
_implements(relax, refuses_call(relaxation.refuses))(relaxation.relax)
_implements(join, refuses_call(streaming.refuses_join))(streaming.join)
_implements(fixpoint, refuses_call(streaming.refuses_fixpoint))(streaming.fixpoint)
