"""The arcs that a call on a graph in a layout goes over, and what a layout computes in."""

from __future__ import annotations

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
    return sub.graph.transpose_detached() if (sub.mode == "pull") == sub.mirrored else sub.graph


def edge_of(call: Call) -> str:
    """The edge operation left to the layout: a weight that is one for all is applied to the senders."""
    return call.edge if call.weights_in_layout else "copy"


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """The dtype to reduce in: 16-bit floating numbers are rounded at the end."""
    return torch.float32 if dtype in NARROW else dtype


def given(weights: Weights) -> Tensor | float | None:
    """The weights of a call, None where they are in the layout."""
    return None if isinstance(weights, InLayout) else weights
