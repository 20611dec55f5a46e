"""Batches of random vertices with all edges between them."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric import loader as pyg
from torch_geometric.data import HeteroData

from tgraph.pyg.checks import check_count, check_edges
from tgraph.pyg.prefetching import Prefetching, check_prefetch
from tgraph.pyg.subgraphs import rows_of, subgraph


class RandomNodeLoader(Prefetching, pyg.RandomNodeLoader):
    """`torch_geometric.loader.RandomNodeLoader`, with its arguments and batches. Edges are sorted once: a batch reads
    the edges of its vertices instead of all. prefetch : as of `NeighborLoader`.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import RandomNodeLoader
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> [batch.num_nodes for batch in RandomNodeLoader(data, num_parts=3)]
    [3, 3, 3]
    """

    def __init__(self, data: Any, num_parts: int, prefetch: int | None = None, **kwargs: Any):
        self.prefetch: int | None = check_prefetch(prefetch)
        check_edges(data)
        check_count("num_parts", num_parts)
        super().__init__(data, num_parts, **kwargs)
        sizes = {store._key: store.num_nodes for store in data.node_stores}
        self._rows = {}
        for store in data.edge_stores:
            first, last = store._key[::2] if isinstance(data, HeteroData) else (None, None)
            if "edge_index" in store:
                self._rows[store._key] = rows_of(store.edge_index, sizes[first], sizes[last])

    def _drawing(self) -> None:
        """None: only the order of the vertices is drawn."""

    def collate_fn(self, index: Any) -> Any:
        """The batch of the vertices `index`, numbered one type after the other in heterogeneous data.

        >>> from torch_geometric.data import Data
        >>> from tgraph.pyg import RandomNodeLoader
        >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
        >>> RandomNodeLoader(data, num_parts=3).collate_fn([2, 3, 4]).edge_index
        tensor([[0, 1, 1, 2],
                [1, 0, 2, 1]])
        """
        index = torch.as_tensor(index)
        ranges = self.node_dict if isinstance(self.data, HeteroData) else {None: (0, self.data.num_nodes)}
        chosen = {kind: index[(index >= begin) & (index < end)] - begin for kind, (begin, end) in ranges.items()}
        return subgraph(self.data, self._rows, chosen)
