"""ShaDow: batches of a small subgraph around each seed (Zeng et al., "Decoupling the depth and scope of graph neural
networks", NeurIPS 2021)."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torch_geometric import loader as pyg
from torch_geometric.data import Batch

from tgraph.core.csr import Csr
from tgraph.core.rows import offset_of
from tgraph.pyg import epochs
from tgraph.pyg.checks import check_count, check_edges, checked_seeds
from tgraph.pyg.prefetching import Prefetching, check_prefetch
from tgraph.pyg.subgraphs import rows_of
from tgraph.sampling import NeighborSampler, PPRSampler


class ShaDowKHopSampler(Prefetching, pyg.ShaDowKHopSampler):
    """`torch_geometric.loader.ShaDowKHopSampler`, with its arguments and batches, without torch-sparse; `data` has an
    edge_index, or adj_t, a SparseTensor or a sparse CSR tensor.

    prefetch : as of `NeighborLoader`.

    `torch.manual_seed`, or the `generator`, determines the batches, whatever the number of workers and threads.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import ShaDowKHopSampler
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> loader = ShaDowKHopSampler(data, depth=1, num_neighbors=2, node_idx=torch.tensor([0, 4]), batch_size=2)
    >>> [(batch.batch, batch.root_n_id) for batch in loader]
    [(tensor([0, 0, 0, 1, 1, 1]), tensor([0, 4]))]
    """

    prefetch: int | None

    def __init__(
        self,
        data: Any,
        depth: int,
        num_neighbors: int,
        node_idx: Tensor | None = None,
        replace: bool = False,
        **kwargs: Any,
    ):
        check_count("depth", depth, 0)
        self.depth: int = depth
        self.num_neighbors: int = num_neighbors
        self.replace: bool = replace
        arcs = self._arcs_of(data)
        self._sampler: NeighborSampler | PPRSampler = NeighborSampler(
            arcs, [num_neighbors] * depth, replace=replace, disjoint=True, induced=True
        )
        self._load(node_idx, **kwargs)

    def _arcs_of(self, data: Any) -> Csr:
        """The edges by destination."""
        check_edges(data)
        self.data: Any = copy.copy(data)
        self.is_sparse_tensor: bool = data.edge_index is None
        size = int(data.num_nodes)
        if self.is_sparse_tensor:
            arcs, self._values = _rows_of_matrix(data.adj_t)
            return arcs
        incoming = rows_of(data.edge_index.flip(0), size, size)
        return Csr(incoming.offset, incoming.neighbors, incoming.number, size)

    def _load(self, node_idx: Tensor | None, prefetch: int | None = None, **kwargs: Any) -> None:
        self.prefetch = check_prefetch(prefetch)
        if node_idx is None:
            node_idx = torch.arange(int(self.data.num_nodes))
        node_idx = checked_seeds("node_idx", node_idx, int(self.data.num_nodes))
        if node_idx.dtype == torch.bool:
            node_idx = node_idx.nonzero().view(-1)
        self.node_idx = node_idx
        seeds: Any = node_idx.tolist()
        DataLoader.__init__(self, seeds, collate_fn=self.__collate__, **kwargs)

    def __collate__(self, n_id: Any) -> Any:
        """The batch of the seeds `n_id`: a subgraph for each, with ascending vertices."""
        seeds = torch.as_tensor(n_id)
        found: Any = self._sampler.sample(seeds, draw=epochs.draw(self.epoch, seeds))
        size = int(self.data.num_nodes)
        order = (found.batch * size + found.node).argsort()
        place = order.argsort()
        vertices, tree = found.node[order], found.batch[order]
        batch = Batch(batch=tree, ptr=offset_of(tree.bincount(minlength=len(seeds))))
        batch.root_n_id = place[: len(seeds)]
        row, col, edges = place[found.row], place[found.col], found.edge
        if self.is_sparse_tensor:
            by_row = (col * len(vertices) + row).argsort()
            values = None if self._values is None else self._values[edges[by_row]]
            batch.adj_t = _matrix_like(self.data.adj_t, row[by_row], col[by_row], values, len(vertices))
        else:
            by_row = (row * len(vertices) + col).argsort(stable=True)
            batch.edge_index = torch.stack((row[by_row], col[by_row]))
        self._fill(batch, vertices, edges[by_row])
        return batch

    def _fill(self, batch: Any, vertices: Tensor, edges: Tensor) -> None:
        for key, value in self.data:
            if key in ("edge_index", "adj_t", "num_nodes", "batch", "ptr"):
                continue
            count = value.size(0) if isinstance(value, Tensor) and value.ndim else -1
            if count == self.data.num_nodes:
                batch[key] = value[vertices[batch.root_n_id] if key == "y" else vertices]
            elif count == self.data.num_edges:
                batch[key] = value[edges]
            else:
                batch[key] = value


class ShaDowPPRSampler(ShaDowKHopSampler):
    """As ShaDowKHopSampler, with a subgraph of the `num_neighbors` vertices of highest personalised PageRank for each
    seed; `alpha` and `epsilon` as of `tgraph.sampling.PPRSampler`.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import ShaDowPPRSampler
    >>> data = Data(edge_index=tg.generators.barbell(4, 0).to_edge_index(), num_nodes=8)
    >>> loader = ShaDowPPRSampler(data, num_neighbors=3, node_idx=torch.tensor([0]))
    >>> next(iter(loader)).num_nodes
    4
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: int,
        alpha: float = 0.15,
        epsilon: float = 1e-4,
        node_idx: Tensor | None = None,
        **kwargs: Any,
    ):
        self.num_neighbors: int = num_neighbors
        self.alpha: float = alpha
        self.epsilon: float = epsilon
        self._sampler = PPRSampler(self._arcs_of(data), num_neighbors, alpha=alpha, epsilon=epsilon)
        self._load(node_idx, **kwargs)


def _rows_of_matrix(adj_t: Any) -> tuple[Csr, Tensor | None]:
    """The rows of a SparseTensor or of a sparse CSR tensor, and the values."""
    if isinstance(adj_t, Tensor):
        offset, neighbors, values = adj_t.crow_indices(), adj_t.col_indices(), adj_t.values()
    else:
        offset, neighbors, values = adj_t.cpu().csr()
    return Csr(offset.long().cpu(), neighbors.cpu(), None, len(offset) - 1), values


def _matrix_like(adj_t: Any, row: Tensor, col: Tensor, values: Any, size: int) -> Any:
    """The transposed matrix of these edges, in the type of `adj_t`."""
    if not isinstance(adj_t, Tensor):
        return type(adj_t)(row=col, col=row, value=values, sparse_sizes=(size, size), is_sorted=True)
    offset = offset_of(col.bincount(minlength=size))
    return torch.sparse_csr_tensor(offset, row, values, (size, size))
