"""Union-find: trees of vertices that arcs merge, each rooted at its smallest vertex.

label[v] is the parent of v, which is not larger than v, and v itself at a root; `torch.arange(n)` is a tree for each
vertex. These steps are Afforest's (Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity
computation via subgraph sampling", IPDPS 2018).
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.dispatch import BACKENDS, is_available, is_watched
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.errors import ArgumentError
from tgraph.kernels import choose
from tgraph.kernels.call import Call

SAMPLES = 1024


def join(sub: Subgraph, label: Tensor) -> Tensor:
    """Merge the trees at the two ends of every arc that `sub` holds, whichever way it points.

    `label`: int32 or int64 [n], a forest as above. Written in place and returned: every vertex then points at its
    root, the smallest vertex of its tree, which does not depend on the order of the arcs or the number of threads.

    Raises ArgumentError for labels of another shape, dtype or device, or that are no forest.

    >>> graph = tg.Graph.from_edges([1, 3], [0, 4])
    >>> sub = tg.Program().tensorize(graph, graph.everything(), "push")
    >>> tg.primitives.union_find.join(sub, torch.arange(5))
    tensor([0, 0, 2, 3, 3])
    """
    _check_label(sub.graph, label)
    _check_rows(sub)
    at_once = sub.graph.layout is None and label.is_cpu and label.is_contiguous() and sub.backend == "auto"
    if at_once and not is_watched() and is_available("native"):  # as `choose` finds, in a fraction of the time
        is_forest = BACKENDS["native"].operators["join"].run(sub, label)
    else:
        is_forest = choose(sub.backend, Call("join", label, sub=sub)).run(sub, label)
    if not is_forest:
        vertex = torch.arange(len(label), device=label.device)
        bad = int(((label < 0) | (label > vertex)).nonzero()[0, 0])
        raise ArgumentError(
            f"label: {int(label[bad])} at position {bad} is not among 0..{bad}; a label points at no larger vertex, "
            "start with torch.arange(n)"
        )
    return label


def outside(sub: Subgraph, label: Tensor, width: int | None = None) -> Frontier:
    """The vertices that are not in the largest tree; with a `width` those of them that have more out-arcs than that.

    `sub` has every row of a graph. `label`: int32 or int64 [n], flat as `join` leaves it. The largest tree is that of
    a fixed sample of labels: it is only likely to be the largest, but the same in every run.

    Raises ArgumentError for labels of another shape, dtype or device.

    >>> graph = tg.Graph.from_edges([1, 2, 3], [0, 0, 4])
    >>> sub = tg.Program().tensorize(graph, graph.everything(), "push")
    >>> label = tg.primitives.union_find.join(sub, torch.arange(5))
    >>> tg.primitives.union_find.outside(sub, label).ids
    tensor([3, 4])
    """
    _check_label(sub.graph, label)
    if not len(label):
        return sub.graph.nothing()
    return choose(sub.backend, Call("outside", label, sub=sub)).run(
        sub, label, frequent(label), -1 if width is None else width
    )


def frequent(label: Tensor) -> int:
    """The most frequent of a sample of a `label`, the smallest of equals; the sample is spread evenly (Weyl 1916).

    >>> tg.primitives.union_find.frequent(torch.tensor([0, 0, 0, 3, 3]))
    0
    """
    place = torch.arange(SAMPLES, device=label.device) * 2654435761 % len(label)  # 2^32 over the golden ratio
    labels, count = label.index_select(0, place).unique(return_counts=True)  # mode() is missing on Apple's GPUs
    return int(labels[count.argmax()])


def _check_label(graph: Graph, label: Tensor) -> None:
    if not isinstance(label, Tensor) or label.dtype not in (torch.int32, torch.int64):
        kind = label.dtype if isinstance(label, Tensor) else type(label).__name__
        raise ArgumentError(f"label: expected an int32 or int64 tensor, got {kind}; use label.to(torch.int64)")
    if label.shape != (graph.num_vertices,) or graph.num_vertices > torch.iinfo(label.dtype).max:
        raise ArgumentError(
            f"label: expected [{graph.num_vertices}], a dtype that holds them, got {list(label.shape)} {label.dtype}"
        )
    if label.device != graph.device:
        raise ArgumentError(f"label: on {label.device} while the graph is on {graph.device}; use label.to")


def _check_rows(sub: Subgraph) -> None:
    if sub.rows is None or not len(sub.rows):
        return
    low, high = (int(end) for end in torch.aminmax(sub.rows))
    if low < 0 or high >= sub.graph.num_vertices:
        raise ArgumentError(
            f"sub: its rows go from {low} to {high}, the vertices from 0 to {sub.graph.num_vertices - 1}"
        )
