"""PyTorch Geometric's HGTLoader: sampling by budgets."""

from __future__ import annotations

from typing import Any

from torch_geometric import loader as pyg
from torch_geometric.data import HeteroData
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput, NodeSamplerInput
from torch_geometric.sampler.utils import to_hetero_csc

from tgraph import sampling
from tgraph.core.csr import Csr
from tgraph.pyg import epochs
from tgraph.pyg.checks import check_edges, check_hops, checked_input_nodes
from tgraph.pyg.prefetching import Prefetching, check_prefetch


class HGTSampler(BaseSampler):
    """As `torch_geometric.sampler.HGTSampler`, for PyG's NodeLoader and TGraph's HGTLoader, without torch-sparse.

    >>> from torch_geometric.data import HeteroData
    >>> from tgraph.pyg import HGTSampler
    >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
    >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 2]])
    >>> sampler = HGTSampler(data, [2])
    >>> sampler.num_samples
    [2]
    """

    node_types: Any
    edge_types: Any

    epoch: epochs.Epoch | None = None  # set by a loader when an epoch begins

    def __init__(self, data: Any, num_samples: Any, is_sorted: bool = False, share_memory: bool = False):
        if not isinstance(data, HeteroData):
            raise NotImplementedError(f"data: HGTSampler samples from HeteroData, got {type(data).__name__}")
        check_edges(data)
        check_hops("num_samples", num_samples)
        self.node_types, self.edge_types = data.metadata()
        self.num_samples = num_samples
        offsets, indices, self.perm = to_hetero_csc(data, device="cpu", share_memory=share_memory, is_sorted=is_sorted)
        sizes = {kind: int(data[kind].num_nodes) for kind in self.node_types}
        graph = {kind: Csr(offset.long(), indices[kind], None, sizes[kind[0]]) for kind, offset in offsets.items()}
        self._sampler = sampling.BudgetSampler(graph, num_samples, num_vertices=sizes)

    def sample_from_nodes(self, inputs: NodeSamplerInput) -> HeteroSamplerOutput:
        """The batch of the seeds in `inputs`.

        >>> from torch_geometric.data import HeteroData
        >>> from torch_geometric.sampler import NodeSamplerInput
        >>> from tgraph.pyg import HGTSampler
        >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 2]])
        >>> inputs = NodeSamplerInput(None, torch.tensor([0]), input_type="paper")
        >>> HGTSampler(data, [2]).sample_from_nodes(inputs).node["author"]
        tensor([0])
        """
        found = self._sampler.sample({inputs.input_type: inputs.node}, draw=epochs.draw(self.epoch, inputs.node))
        fields = {name: getattr(found, name) for name in ("node", "row", "col", "edge", "batch")}
        return HeteroSamplerOutput(**fields, metadata=(inputs.input_id, inputs.time))

    def sample_from_edges(self, *arguments: Any, **options: Any) -> Any:
        """Raises NotImplementedError for all `arguments` and `options`: seeds are vertices."""
        raise NotImplementedError("HGTSampler samples from vertices only; use tgraph.pyg.LinkNeighborLoader for edges")

    @property
    def edge_permutation(self) -> Any:
        """The position of each sorted edge in the data, by type.

        >>> from torch_geometric.data import HeteroData
        >>> from tgraph.pyg import HGTSampler
        >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [2, 1, 0]])
        >>> HGTSampler(data, [2]).edge_permutation["author", "writes", "paper"]
        tensor([2, 1, 0])
        """
        return self.perm


class HGTLoader(Prefetching, pyg.HGTLoader):
    """`torch_geometric.loader.HGTLoader`, with its arguments and batches, without torch-sparse; a batch has all edges
    between its vertices.

    prefetch : as of `NeighborLoader`.

    `torch.manual_seed`, or the `generator`, determines the batches, whatever the number of workers and threads.

    >>> from torch_geometric.data import HeteroData
    >>> from tgraph.pyg import HGTLoader
    >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
    >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 2]])
    >>> loader = HGTLoader(data, [2], input_nodes=("paper", torch.tensor([0])))
    >>> next(iter(loader))["author"].n_id
    tensor([0])
    """

    def __init__(
        self,
        data: Any,
        num_samples: Any,
        input_nodes: Any,
        is_sorted: bool = False,
        transform: Any = None,
        transform_sampler_output: Any = None,
        filter_per_worker: bool | None = None,
        prefetch: int | None = None,
        **kwargs: Any,
    ):
        self.prefetch: int | None = check_prefetch(prefetch)
        self.transforms_ahead: bool = bool(filter_per_worker)
        sampler = HGTSampler(data, num_samples, is_sorted, kwargs.get("num_workers", 0) > 0)
        pyg.NodeLoader.__init__(
            self,
            data=data,
            node_sampler=sampler,
            input_nodes=checked_input_nodes(data, input_nodes),
            transform=transform,
            transform_sampler_output=transform_sampler_output,
            filter_per_worker=filter_per_worker,
            **kwargs,
        )

    def _drawing(self) -> Any:
        return self.node_sampler
