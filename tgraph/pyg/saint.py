"""GraphSAINT: batches of drawn vertices with all edges between them, and the normalisation."""

from __future__ import annotations

import os.path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torch_geometric import loader as pyg
from tqdm import tqdm

from tgraph import sampling
from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.pyg import epochs
from tgraph.pyg.checks import check_count, check_edges
from tgraph.pyg.prefetching import Prefetching, check_prefetch
from tgraph.pyg.subgraphs import rows_of


class GraphSAINTSampler(Prefetching, pyg.GraphSAINTSampler):
    """`torch_geometric.loader.GraphSAINTSampler`, the base of the three below, with its arguments and batches, without
    torch-sparse. Subclasses define `_vertices(key)`, the vertices of a batch, distinct and ascending.

    prefetch : as of `NeighborLoader`.

    `torch.manual_seed`, or the `generator`, determines the batches, whatever the number of workers and threads.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import GraphSAINTSampler
    >>> class First(GraphSAINTSampler):
    ...     def _vertices(self, key):
    ...         return torch.arange(3)
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> next(iter(First(data, batch_size=3))).edge_index
    tensor([[0, 1, 1, 2],
            [1, 0, 2, 1]])
    """

    data: Any
    num_steps: int
    node_norm: Any | Tensor
    edge_norm: Any | Tensor

    def __init__(
        self,
        data: Any,
        batch_size: int,
        num_steps: int = 1,
        sample_coverage: int = 0,
        save_dir: str | None = None,
        log: bool = True,
        prefetch: int | None = None,
        **kwargs: Any,
    ):
        self.prefetch: int | None = check_prefetch(prefetch)
        check_edges(data)
        check_count("batch_size", batch_size)
        check_count("num_steps", num_steps)
        check_count("sample_coverage", sample_coverage, 0)
        kwargs.pop("dataset", None)
        kwargs.pop("collate_fn", None)
        self.data, self.num_steps, self._batch_size = data, num_steps, batch_size
        self.sample_coverage: int = sample_coverage
        self.save_dir: str | None = save_dir
        self.log: bool = log
        self.N, self.E = int(data.num_nodes), int(data.num_edges)
        self._rows = rows_of(data.edge_index, self.N, self.N)
        self.graph: Graph = Graph(self._rows.offset, self._rows.neighbors)
        own: Any = self
        DataLoader.__init__(self, own, batch_size=1, collate_fn=self._collate, **kwargs)
        if sample_coverage > 0:
            path = os.path.join(save_dir or "", self._filename)
            if save_dir is not None and os.path.exists(path):
                self.node_norm, self.edge_norm = torch.load(path, weights_only=True)
            else:
                self.node_norm, self.edge_norm = self._compute_norm()
                if save_dir is not None:
                    torch.save((self.node_norm, self.edge_norm), path)

    def __getitem__(self, idx: int) -> tuple[Tensor, Tensor, Tensor]:
        """(vertices of step `idx` of an epoch, edge_index between their positions, numbers of the edges)"""
        return self._subgraph(self._vertices(epochs.draw(self.epoch, torch.tensor([idx]))))

    def _vertices(self, key: int) -> Tensor:
        raise NotImplementedError

    def _subgraph(self, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        column, row, arc = self._rows.between(vertices, vertices)
        return vertices, torch.stack((row, column)), self._rows.numbered(arc)

    def _collate(self, data_list: list[tuple[Tensor, Tensor, Tensor]]) -> Any:
        ((vertices, edge_index, edges),) = data_list
        data = self.data.__class__()
        data.num_nodes = len(vertices)
        data.edge_index = edge_index
        for key, item in self.data:
            if key in ("edge_index", "num_nodes"):
                continue
            count = item.size(0) if isinstance(item, Tensor) and item.ndim else -1
            data[key] = item[vertices] if count == self.N else item[edges] if count == self.E else item
        if self.sample_coverage > 0:
            data.node_norm, data.edge_norm = self.node_norm[vertices], self.edge_norm[edges]
        return data

    def _compute_norm(self) -> tuple[Tensor, Tensor]:
        """(loss weight of each vertex, message weight of each edge), by their frequencies in sampled batches."""
        node_count, edge_count = torch.zeros(self.N), torch.zeros(self.E)
        key, samples, sampled = epochs.chance(), 0, 0
        wanted = self.N * self.sample_coverage
        with tqdm(total=wanted, desc="Compute GraphSAINT normalization", disable=not self.log) as progress:
            while sampled < wanted:
                for step in range(samples, samples + self.num_steps):
                    vertices, _, edges = self._subgraph(self._vertices(random.key(key, step)))
                    node_count[vertices] += 1
                    edge_count[edges] += 1
                    sampled += len(vertices)
                    progress.update(len(vertices))
                samples += self.num_steps
        edge_norm = (node_count[self.data.edge_index[0].cpu()] / edge_count).clamp_(0, 1e4).nan_to_num_(nan=0.1)
        return samples / node_count.masked_fill_(node_count == 0, 0.1) / self.N, edge_norm


class GraphSAINTNodeSampler(GraphSAINTSampler, pyg.GraphSAINTNodeSampler):
    """`torch_geometric.loader.GraphSAINTNodeSampler`: vertices by out-degree.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import GraphSAINTNodeSampler
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> loader = GraphSAINTNodeSampler(data, batch_size=4, num_steps=3)
    >>> [batch.num_nodes <= 4 for batch in loader]
    [True, True, True]
    """

    def _vertices(self, key: int) -> Tensor:
        return sampling.saint_nodes(self.graph, self._batch_size, key)


class GraphSAINTEdgeSampler(GraphSAINTSampler, pyg.GraphSAINTEdgeSampler):
    """`torch_geometric.loader.GraphSAINTEdgeSampler`: the ends of edges, drawn by 1 / out-degree + 1 / in-degree as in
    the paper; PyTorch Geometric adds the degrees themselves.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import GraphSAINTEdgeSampler
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> loader = GraphSAINTEdgeSampler(data, batch_size=2, num_steps=3)
    >>> [batch.num_nodes <= 4 for batch in loader]
    [True, True, True]
    """

    def _vertices(self, key: int) -> Tensor:
        return sampling.saint_edges(self.graph, self._batch_size, key)


class GraphSAINTRandomWalkSampler(GraphSAINTSampler, pyg.GraphSAINTRandomWalkSampler):
    """`torch_geometric.loader.GraphSAINTRandomWalkSampler`: the vertices of random walks.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import GraphSAINTRandomWalkSampler
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> loader = GraphSAINTRandomWalkSampler(data, batch_size=2, walk_length=2, num_steps=3)
    >>> [batch.num_nodes <= 6 for batch in loader]
    [True, True, True]
    """

    def __init__(self, data: Any, batch_size: int, walk_length: int, *arguments: Any, **options: Any):
        check_count("walk_length", walk_length, 0)
        self.walk_length = walk_length
        GraphSAINTSampler.__init__(self, data, batch_size, *arguments, **options)

    def _vertices(self, key: int) -> Tensor:
        return sampling.saint_walks(self.graph, self._batch_size, self.walk_length, key)
