"""The adjoint of a linear DAG, without compressing again."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.rows import offset_of
from tgraph.kernels.dag import Dag


def transposed(dag: Dag) -> Dag:
    """The DAG of A^T from the DAG of A.

    The adjoint of a node is the sum of the adjoints of the rows that contain it, with their signs, plus the given g[v]
    if it is output v. The adjoint of an output that no row contains is g[v] itself, an input. Virtual vertices remain
    virtual vertices, outputs contained in rows become virtual vertices too, and A = (I - T)^-1 Delta turns into
    A^T = Delta^T (I - T^T)^-1. The rows come in reverse order, followed by the outputs, which are the adjoints of the
    inputs. Children ascend.
    """
    dag = dag.checked
    n = dag.num_vertices
    arcs = _arcs_in_use(dag)
    nodes, row = dag.nodes, dag.row_of_arc
    if arcs is not None:
        nodes, row = nodes.index_select(0, arcs), row.index_select(0, arcs)
    kept = torch.zeros(dag.num_nodes, dtype=torch.bool, device=nodes.device)
    kept[n : dag.num_rows] = True
    kept[nodes] = True
    kept = kept[n:]
    backwards = _in_order(dag, kept).flip(0)
    num_virtual = len(backwards)
    dtype = sorting.index_dtype(2 * n + num_virtual)
    adjoint, row_of_node = _renumbered(dag, kept, backwards, dtype)
    target, child = row_of_node.index_select(0, nodes), adjoint.index_select(0, row)
    given = backwards[backwards >= dag.num_virtual]  # outputs that rows contain: plus their given adjoint
    target = torch.cat((target, row_of_node[n + given]))
    child = torch.cat((child, (given - dag.num_virtual).to(dtype)))
    offset, children, permutation = sorting.sort_edges(
        target, child, 2 * n + num_virtual, permutation=dag.signed or dag.weights is not None
    )
    children = children.to(dtype)
    if dag.signed and permutation is not None:
        minus = _extended(dag.children < 0, arcs, len(given)).index_select(0, permutation)
        children = torch.where(minus, ~children, children)
    weights = None
    if dag.weights is not None and permutation is not None:
        weights = sorting.take(_extended(dag.weights, arcs, len(given)), permutation)
    phases, tasks = _reversed_parts(dag, kept, num_virtual)
    other = "outputs" if dag.weighted == "inputs" else "inputs"
    offset = offset[: n + num_virtual + 1].to(dag.offset.dtype if len(children) < 2**31 else torch.int64)
    return Dag(n, offset, children, weights, None, phases, tasks, other)  # type: ignore[arg-type]


def _arcs_in_use(dag: Dag) -> Tensor | None:
    """The arcs of all rows except virtual vertices that no output depends on, int64; None for all arcs. The adjoint of
    such a virtual vertex would have no children and evaluate to the identity of the reduction."""
    unused = torch.zeros(dag.num_rows, dtype=torch.bool, device=dag.children.device)
    nodes, row, arcs = dag.nodes, dag.row_of_arc, None
    while True:
        count = torch.zeros(dag.num_nodes, dtype=torch.bool, device=dag.children.device).index_fill_(
            0, nodes.long(), True
        )
        unused[: dag.num_virtual] = ~count[dag.num_vertices : dag.num_rows]
        keep = (~unused).index_select(0, row)
        if bool(keep.all()):
            return arcs
        keep = keep.nonzero().squeeze(1)
        arcs = keep if arcs is None else arcs.index_select(0, keep)
        nodes, row = nodes.index_select(0, keep), row.index_select(0, keep)


def _in_order(dag: Dag, kept: Tensor) -> Tensor:
    """The kept rows in order of evaluation, int64."""
    return kept.nonzero().squeeze(1) if dag.order is None else dag.order[kept[dag.order.long()]].long()


def _renumbered(dag: Dag, kept: Tensor, backwards: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """For each row the node that is its adjoint, and for each node the row that computes its adjoint."""
    n, num_virtual = dag.num_vertices, len(backwards)
    numbers = torch.arange(n, dtype=dtype, device=kept.device)
    row_of_node = torch.zeros(dag.num_nodes, dtype=dtype, device=kept.device)
    row_of_node[:n] = numbers + num_virtual
    row_of_node[n + backwards] = torch.arange(num_virtual, dtype=dtype, device=kept.device)
    adjoint = row_of_node[n:] + n
    adjoint[dag.num_virtual :] = torch.where(kept[dag.num_virtual :], adjoint[dag.num_virtual :], numbers)
    return adjoint, row_of_node


def _extended(values: Tensor, arcs: Tensor | None, more: int) -> Tensor:
    """The values of the arcs in use, followed by `more` zeros."""
    return torch.cat(((values if arcs is None else values.index_select(0, arcs)), values.new_zeros(more)))


def _reversed_parts(dag: Dag, kept: Tensor, num_virtual: int) -> tuple[tuple[int, ...], Tensor | None]:
    """The phases and tasks of the kept rows in reverse order, and a last phase for the outputs."""
    before = offset_of(kept if dag.order is None else kept[dag.order.long()])
    bounds = num_virtual - before[torch.tensor(dag.phases, device=kept.device)].flip(0)
    ends = [int(last) for first, last in pairwise(bounds.tolist()) if first < last]
    phases = (0, *ends, num_virtual + dag.num_vertices)
    if dag.tasks is None:
        return phases, None
    tasks = dag.tasks
    if int(tasks[-1]) < dag.num_rows:  # every remaining row is a task
        tasks = torch.cat((tasks, torch.arange(int(tasks[-1]) + 1, dag.num_rows + 1, device=tasks.device)))
    return phases, torch.unique_consecutive(num_virtual - before[tasks].flip(0))
