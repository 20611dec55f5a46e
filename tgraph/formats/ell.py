"""ELLPACK: all rows padded to the longest and stored column-major, which is SELL with a single slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats.checks import count_option
from tgraph.formats.sell import SELL, checked_slices, slices_of
from tgraph.kernels.operators.aggregation.slices import Slices

if TYPE_CHECKING:
    from typing_extensions import Self


class ELL(SELL):
    """ELLPACK (Grimes, Kincaid and Young, "ITPACK 2.0 user's guide", 1979), for graphs with rows of nearly equal
    length.

    limit : the largest allowed ratio of stored entries, padding included, to arcs.

    >>> graph = tg.generators.cycle(5).to_format("ell")
    >>> tg.aggregate(graph, torch.arange(5.0))
    tensor([5., 2., 4., 6., 3.])
    """

    name = "ell"

    def __init__(self, slices: Slices, limit: float):
        super().__init__(slices, sigma=1)
        self.limit = limit

    @classmethod
    def from_graph(cls, graph: Graph, *, limit: float = 8.0, **unknown: Any) -> Self:
        """The arcs of a graph. Raises ArgumentError where more than `limit` entries per arc would be stored, and for
        `unknown` options."""
        cls.refuse_options(unknown)
        limit = _checked(limit)
        return cls(slices_of(graph, max(graph.num_vertices, 1), 1, limit), limit)

    def options(self) -> dict[str, Any]:
        return {"num_vertices": self.num_vertices, "limit": self.limit}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        height = max(count_option(options, "num_vertices"), 1)
        return cls(checked_slices(cls.name, tensors, options, height), _checked(options.get("limit", 8.0)))


def _checked(limit: Any) -> float:
    if not isinstance(limit, (int, float)) or not limit >= 1:
        raise ArgumentError(f"limit: expected entries stored for each arc, 1 or more, got {limit!r}")
    return float(limit)
