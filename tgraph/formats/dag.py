"""A linear DAG: compressed rows that refer to shared ones, and the one executor of all compressed layouts."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Dag:
    """Rows over three kinds of nodes: n inputs, R virtual vertices, n outputs, numbered through in this order.

    A row is a list of children, each of them an input (data of a vertex), a virtual vertex or an output (another row's
    result). Rows 0..R-1 compute the virtual vertices, rows R..R+n-1 the outputs.

    num_vertices : n.
    offset : int32 or int64 [R + n + 1], where the children of each row begin.
    children : int32 or int64 [A], the number of a node; ~number where its value is subtracted.
    weights : [A], the weight of the arc where the child is an input, and 0 elsewhere; None without.
    order : int32 or int64 [R + n], the rows in the order of evaluation; None for their own order.
    phases : ascending bounds, from 0 to R + n, of parts of that order: a row needs rows of earlier phases only, or
        earlier ones of its own task.
    tasks : int64, ascending bounds, from 0 to R + n, of parts of that order that one thread evaluates in order, each
        within a phase; None where rows need none of their own phase.
    """

    num_vertices: int
    offset: Tensor
    children: Tensor
    weights: Tensor | None
    order: Tensor | None
    phases: tuple[int, ...]
    tasks: Tensor | None
