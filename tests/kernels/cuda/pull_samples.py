"""What the tests of pulls and of their gradients share: rows of every length, data, and subgraphs of every kind."""

import torch
from backends import portable
from native_samples import pull, push
from strategies import random_data

import tgraph as tg
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.reductions import REDUCTIONS

# For bins whose borders small graphs pass: a long row has more than 40 arcs, tiles of 64, and 5 of these at most.
SMALL = {"BINS": ((2, 1), (6, 8), (40, 32)), "TILE": 64, "MAX_TILES": 5}
CLOSE = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 2e-2, torch.float16: 4e-3}
REDUCES = ("sum", "prod", "min", "max")
BORDERS = (0, 1, 2, 3, 5, 6, 7, 31, 39, 40, 41, 63, 64, 65, 128, 129, 320, 321, 700)


def rows_of_degrees(degrees, dtype=None, seed=0):
    """A graph whose vertex i receives degrees[i] arcs, from vertices drawn at random."""
    random = torch.Generator().manual_seed(seed)
    dst = torch.repeat_interleave(torch.arange(len(degrees)), torch.tensor(degrees))
    dst = dst[torch.randperm(len(dst), generator=random)]
    src = torch.randint(len(degrees), (len(dst),), generator=random)
    weights = None if dtype is None else random_data((len(dst),), dtype, seed)
    return tg.Graph.from_edges(src, dst, weights, num_vertices=len(degrees))


def subgraphs(graph):
    """Whole and in part, with silent vertices, heads of rows, and a row twice."""
    some = torch.arange(0, graph.num_vertices, 3, device=graph.device)
    half = graph.select(torch.arange(0, graph.num_vertices, 2, device=graph.device))
    everything = graph.everything()
    return [
        pull(graph, everything),
        pull(graph, half),
        pull(graph, graph.nothing()),
        pull(graph, everything, some.flip(0)),
        pull(graph, half, some, 3),
        pull(graph, everything, None, 2),
        pull(graph, everything, torch.cat((some, some))),
        push(graph),
        push(graph, some),
        push(graph, None, 2),
        push(graph, some).reverse(),
    ]


def agree_by_rows(kernels, stored, graph, device, data, reduce, edge="copy", tolerance=None):
    """The kernels of a layout give what the portable backend computes from the stored rows."""
    if reduce in ("sum", "prod") and data.dtype == torch.int32:
        data = data.long()  # as layouts do
    sub = Subgraph(graph, graph.everything(), "pull", None, Selection(graph.offset, graph.neighbors), False)
    reduction = REDUCTIONS[reduce]
    weights = None if graph.weights is None else graph.weights.to(data.dtype)
    expected = portable.aggregate(sub, data, reduction, edge, weights).values
    stored = stored._replace(weights=None if stored.weights is None else stored.weights.to(data.dtype))
    found = kernels.pull(stored, data.to(device), reduction, edge)
    adds = data.is_floating_point() and (reduce in ("sum", "prod") or edge in ("add", "mul"))
    tolerance = tolerance or (CLOSE[data.dtype] if adds else 0)
    torch.testing.assert_close(found.cpu(), expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return found
