"""Rows of sharded data, by vertex."""

from __future__ import annotations

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.opening import layout_of
from tgraph.distributed.ranks.ownership import is_own
from tgraph.distributed.ranks.requests import Requests
from tgraph.errors import ArgumentError


class FeatureRows:
    """Features stored by rank, each rank with its own vertices, for batches of any vertices.

    graph : a distributed graph. local : [k, ...], of any dtype, of the own vertices of this rank, on any device.
    bytes_received : from other ranks so far.

    Raises ArgumentError for another number of rows.

    >>> graph = tg.distributed.spread(tg.generators.cycle(6))  # with a process group, of any number of ranks
    >>> held = graph.layout.ownership
    >>> rows = tg.distributed.FeatureRows(graph, held.own(torch.arange(12.0).view(6, 2)))
    >>> rows.get(torch.tensor([5, 0]))
    tensor([[10., 11.],
            [ 0.,  1.]])
    """

    def __init__(self, graph: Graph, local: Tensor):
        self._ownership = layout_of(graph).ownership
        if local.shape[:1] != (self._ownership.num_own,):
            raise ArgumentError(
                f"local: expected the {self._ownership.num_own} rows of the own vertices, got {list(local.shape)}"
            )
        self.local: Tensor = local.detach()
        self.bytes_received: int = 0

    def get(self, vertices: Tensor) -> Tensor:
        """The rows [j, ...] of `vertices` int64 [j] of the whole graph, the same vertex as often as given: each is
        fetched once, and own ones are read here. They are where `local` is. To be called by all ranks, also by one that
        asks for nothing.

        Raises ArgumentError for indices that are no vertices.

        >>> graph = tg.distributed.spread(tg.generators.cycle(6))
        >>> rows = tg.distributed.FeatureRows(graph, graph.layout.ownership.own(torch.arange(6)))
        >>> rows.get(torch.tensor([4, 4, 1]))
        tensor([4, 4, 1])
        """
        held, vertices = self._ownership, vertices.to(self.local.device)
        bad = (vertices < 0) | (vertices >= held.num_rows)
        if bool(bad.any()):
            place = int(bad.nonzero()[0])
            raise ArgumentError(f"vertices[{place}] is {int(vertices[place])}; vertices are 0 to {held.num_rows - 1}")
        mine = is_own(vertices, held)
        others, inverse = vertices[~mine].unique(return_inverse=True)
        requests = Requests(held, others)
        fetched = requests.answered(self.local.index_select(0, requests.asked))
        self.bytes_received += fetched.nbytes
        rows = self.local.new_empty((len(vertices), *self.local.shape[1:]))
        rows[mine] = self.local.index_select(0, vertices[mine] - held.first)
        rows[~mine] = fetched.index_select(0, inverse)
        return rows
