"""The arcs that a call on a graph in a layout goes over, and what a layout computes in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.storage import Layout
from tgraph.core.subgraph import InLayout, Subgraph, Weights
from tgraph.kernels.call import Call

# What a layout reduces by, where the name is another.
KERNEL = {"mean": "sum", "any": "max", "all": "min"}
NARROW = (torch.float16, torch.bfloat16)


def layout_of(graph: Graph) -> Layout:
    """The layout of a graph that is in one."""
    return cast(Layout, graph.layout)


def receiving(sub: Subgraph) -> Graph:
    """The graph whose rows receive: those that a pull holds, and the transpose of those that a push holds."""
    return sub.graph.transpose_detached() if receive_in_transpose(sub) else sub.graph


def receive_in_transpose(sub: Subgraph) -> bool:
    """Whether these are the rows of the transpose."""
    return (sub.mode == "pull") == sub.mirrored


def edge_of(call: Call) -> str:
    """The edge operation left to the layout: a weight that is one for all is applied to the senders."""
    return call.edge if call.weights_in_layout else "copy"


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """The dtype to reduce in: 16-bit floating numbers are rounded at the end."""
    return torch.float32 if dtype in NARROW else dtype


def given(weights: Weights) -> Tensor | float | None:
    """The weights of a call, None where they are in the layout."""
    return None if isinstance(weights, InLayout) else weights


def parts(graph: Graph, rows: Tensor | None, most: int) -> Iterator[tuple[Tensor, slice]]:
    """The rows [k], all of them where None, some after others of at most so many arcs, if not one row has more; and
    which these are among the arcs of all."""
    if rows is None:
        rows = torch.arange(graph.num_vertices, device=graph.device)
    begins = graph.row_offset()
    offset = torch.zeros(len(rows) + 1, dtype=torch.int64, device=graph.device)
    torch.cumsum(begins.index_select(0, rows + 1) - begins.index_select(0, rows), 0, out=offset[1:])
    low = 0
    while low < len(rows) or not low:
        high = int(torch.searchsorted(offset, int(offset[low]) + most, right=True)) - 1
        high = min(max(high, low + 1), len(rows))
        yield rows[low:high], slice(int(offset[low]), int(offset[high]))
        low = max(high, 1)
