"""The neighbour sampler of PyTorch Geometric, computed by `tgraph.sampling`."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from torch import Tensor
from torch_geometric import sampler as pyg
from torch_geometric.data.graph_store import EdgeLayout
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput
from torch_geometric.sampler.base import DataType, SubgraphType

from tgraph import sampling
from tgraph.core import random
from tgraph.core.building import sorting
from tgraph.core.csr import Csr
from tgraph.errors import ArgumentError
from tgraph.pyg import epochs
from tgraph.pyg.checks import check_weights
from tgraph.pyg.edge_features import weights_of
from tgraph.sampling.in_store import StoreRows
from tgraph.stores.feature_store import EDGES, FeatureStore
from tgraph.stores.graph_store import GraphStore


class NeighborSampler(pyg.NeighborSampler):
    """As `torch_geometric.sampler.NeighborSampler`, for PyG's loaders and TGraph's, without pyg-lib and torch-sparse.

    Takes the same arguments; neighbourhoods need not be sorted by time. `torch.manual_seed` determines the draws; in a
    loader of `tgraph.pyg`, whatever the number of workers.

    >>> from torch_geometric.data import Data
    >>> from torch_geometric.sampler import NodeSamplerInput
    >>> from tgraph.pyg import NeighborSampler
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> sampler = NeighborSampler(data, [-1])
    >>> sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([4]))).node
    tensor([4, 3, 5])
    """

    epoch: epochs.Epoch | None = None  # set by a loader: with the seeds, it determines the draws
    row: Tensor  # the sources, by destination
    node_time: Any
    edge_time: Any

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        subgraph_type: Any = "directional",
        replace: bool = False,
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        is_sorted: bool = False,
        share_memory: bool = False,
        directed: bool = True,
        sample_direction: str = "forward",
    ):
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        if not directed:
            subgraph_type = "induced"
        if sample_direction == "backward" and time_attr is not None:
            raise NotImplementedError("Temporal Sampling not yet supported for backward sampling")
        plain = time_attr is None and weight_attr is None and sample_direction == "forward"
        stays = plain and isinstance(data, tuple) and _is_ready(data[1]) and data[1].in_store
        held = (data[0], _RowsInStore(data[1].store)) if stays else data
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Using '.*' without a 'pyg-lib' installation")
            super().__init__(
                *(held, num_neighbors, subgraph_type, replace, disjoint, temporal_strategy),
                **{"is_sorted": is_sorted, "share_memory": share_memory, "sample_direction": sample_direction},
            )
        self.node_time, self.edge_time = _times(data, self.data_type, time_attr, self.is_hetero)
        weights = _weights(data, self.data_type, weight_attr)
        self._sampler = self._built(weights)
        self._given = given if self.data_type == DataType.remote and _is_ready(data[1]) else None

    def __getstate__(self) -> dict[str, Any]:
        """The state sent to a worker that is not forked: the store instead of its rows, possibly larger than memory."""
        if self._given is None:
            return self.__dict__
        return {"given": self._given | {"num_neighbors": self.num_neighbors}, "epoch": self.epoch}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "given" in state:
            NeighborSampler.__init__(self, **state["given"])
            state = {"epoch": state["epoch"]}
        self.__dict__.update(state)

    def _built(self, weights: Any) -> sampling.NeighborSampler:
        """The sampler of the rows sorted by PyTorch Geometric, with arcs numbered in that order."""
        options: dict[str, Any] = {
            "replace": self.replace,
            "weighted": weights is not None,
            "disjoint": self._disjoint,
            "temporal_strategy": self.temporal_strategy,
            "node_time": self.node_time,
            "induced": self.subgraph_type == SubgraphType.induced,
        }
        if not self.is_hetero and isinstance(self.row, StoreRows):
            return sampling.NeighborSampler(self.row, self._fanouts(), numbered=True, **options)
        if not self.is_hetero:
            graph = self._csr(self.colptr, self.row, int(self.num_nodes), _permuted(weights, self.perm))
            self.row = graph.neighbors
            options["edge_time"] = _permuted(self.edge_time, self.perm)
            return sampling.NeighborSampler(graph, self._fanouts(), **options)
        graphs, times = {}, {}
        for kind in self.edge_types:
            name, own = self.to_rel_type[kind], self._as_given(kind)
            if isinstance(self.row_dict[name], StoreRows):
                graphs[kind], options["numbered"] = self.row_dict[name], True
                continue
            order = None if self.perm is None else self.perm.get(own)
            sources = int(self.num_nodes[kind[0]])
            held = None if weights is None else _permuted(weights[own], order)
            graphs[kind] = self._csr(self.colptr_dict[name], self.row_dict[name], sources, held)
            self.row_dict[name] = graphs[kind].neighbors
            if self.edge_time is not None and own in self.edge_time:
                times[kind] = _permuted(self.edge_time[own], order)
        options["edge_time"] = None if self.edge_time is None else times
        options["num_vertices"] = {kind: int(size) for kind, size in self.num_nodes.items()}
        return sampling.NeighborSampler(graphs, self._fanouts(), **options)

    def _csr(self, offset: Tensor, neighbors: Tensor, num_sources: int, weights: Tensor | None) -> Csr:
        """The rows of one type of edges, in 32 bits if possible; rows of a store are not converted."""
        if self.data_type != DataType.remote:
            neighbors = neighbors.to(sorting.index_dtype(num_sources))
        return Csr(offset.to(torch.int64), neighbors, None, num_sources, weights)

    def _fanouts(self) -> Any:
        values = self._num_neighbors.get_values(self.edge_types if self.is_hetero else None)
        return dict(values) if isinstance(values, dict) else list(values)

    def _as_given(self, kind: Any) -> Any:
        """The type of edges in the data: backward sampling reverses types."""
        return self.to_restored_edge_type[kind] if self.sample_direction == "backward" else kind

    def _sample(self, seed: Any, seed_time: Any = None, **kwargs: Any) -> SamplerOutput | HeteroSamplerOutput:
        if self._fanouts() != self._sampler.num_neighbors:
            self._sampler.num_neighbors = self._fanouts()
        found = self._sampler.sample(seed, seed_time, draw=self._draw(seed))
        fields = {name: value for name, value in found.__dict__.items() if name != "weight"}
        if self.sample_direction == "backward":
            fields["row"], fields["col"] = fields["col"], fields["row"]
        if not self.is_hetero:
            return SamplerOutput(**fields)
        if self.sample_direction == "backward":
            for name in ("row", "col", "edge", "num_sampled_edges"):
                fields[name] = {self._as_given(kind): value for kind, value in fields[name].items()}
        return HeteroSamplerOutput(**fields)

    def sample_from_edges(self, inputs: Any, neg_sampling: Any = None) -> Any:
        """The batch of the edges in `inputs`, and of negative ones by `neg_sampling`, determined by the epoch.

        >>> from torch_geometric.data import Data
        >>> from torch_geometric.sampler import EdgeSamplerInput
        >>> from tgraph.pyg import NeighborSampler
        >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
        >>> inputs = EdgeSamplerInput(None, row=torch.tensor([0]), col=torch.tensor([1]))
        >>> NeighborSampler(data, [-1]).sample_from_edges(inputs).node
        tensor([0, 1, 8, 2])
        """
        if neg_sampling is not None and self.epoch is not None:
            neg_sampling = _Negatives(neg_sampling, random.key(self.epoch.draw(inputs.row, inputs.col), 1))
        return super().sample_from_edges(inputs, neg_sampling)

    def _draw(self, seed: Any) -> int:
        return epochs.draw(self.epoch, *(seed.values() if isinstance(seed, dict) else [seed]))


class _Negatives(pyg.NegativeSampling):
    """Negative sampling with a generator of its own."""

    def __init__(self, given: pyg.NegativeSampling, key: int):
        self.__dict__.update(given.__dict__)
        self._generator = torch.Generator().manual_seed(key)

    def sample(self, num_samples: int, endpoint: Any, num_nodes: int | None = None) -> Tensor:
        """`num_samples` vertices, by the weights of this end, if any."""
        weights = self.src_weight if endpoint == "src" else self.dst_weight
        if weights is None and num_nodes is not None:
            return torch.randint(num_nodes, (num_samples,), generator=self._generator)
        if weights is None or num_nodes not in (None, len(weights)):
            return super().sample(num_samples, endpoint, num_nodes)  # raises
        return torch.multinomial(weights, num_samples, replacement=True, generator=self._generator)


class _RowsInStore(GraphStore):
    """A store of edges whose CSC has rows that stay in the store, for the sampler of PyTorch Geometric."""

    def csc(self, edge_types: Any = None, store: bool = False) -> tuple[Any, Any, Any]:
        kinds = [attribute.edge_type for attribute in self.get_all_edge_attrs()]
        rows = {kind: self.rows(kind) for kind in kinds}
        if kinds == [None]:
            return rows[None], rows[None].offset, None
        return rows, {kind: each.offset for kind, each in rows.items()}, dict.fromkeys(kinds)


def _is_ready(graph_store: Any) -> bool:
    """Whether a store is TGraph's and has all edges as CSC, ready for sampling."""
    attributes = graph_store.get_all_edge_attrs() if isinstance(graph_store, GraphStore) else []
    return bool(attributes) and all(attribute.layout == EdgeLayout.CSC for attribute in attributes)


def _permuted(values: Tensor | None, order: Tensor | None) -> Tensor | None:
    return values if values is None or order is None else values[order]


def _times(data: Any, kind: DataType, name: str | None, is_hetero: bool) -> tuple[Any, Any]:
    """(times of the vertices, times of the edges), by type in heterogeneous data; None for no times."""
    if name is None:
        return None, None
    if kind == DataType.homogeneous:
        if name not in data:
            raise ArgumentError(f"time_attr: the data has no {name!r}; it has {', '.join(data.keys())}")
        if data.is_node_attr(name):
            return data[name], None
        if data.is_edge_attr(name):
            return None, data[name]
        raise ValueError(f"The time attribute '{name}' is neither a node-level or edge-level attribute")
    if kind == DataType.heterogeneous:
        of_nodes = any(name in store for store in data.node_stores)
        of_edges = any(name in store for store in data.edge_stores)
        if of_nodes and of_edges:
            raise ValueError(f"The time attribute '{name}' holds both node-level and edge-level information")
        if not of_nodes and not of_edges:
            raise ValueError(f"The time attribute '{name}' is neither a node-level or edge-level attribute")
        return (data.collect(name), None) if of_nodes else (None, data.collect(name))
    return _stored_times(data[0], name, is_hetero)


def _stored_times(features: Any, name: str, is_hetero: bool) -> tuple[Any, Any]:
    """The times of vertices or of edges in a feature store, as for `_times`."""
    found = {}
    attributes = features.get_all_tensor_attrs()
    if isinstance(features, FeatureStore) and not is_hetero:
        attributes += features.edge_attributes(None)
    for attribute in attributes:
        if attribute.attr_name == name:
            attribute = copy.copy(attribute)
            attribute.index = None
            found[attribute.group_name] = features.get_tensor(attribute)
    if not found or (not is_hetero and len(found) > 1):
        raise ValueError(f"Temporal sampling by '{name}': expected one tensor of that name, found {len(found)}")
    if not is_hetero:  # PyTorch Geometric distinguishes times of vertices and of edges by their name
        group, time = next(iter(found.items()))
        return (time, None) if name == "time" and group != EDGES else (None, time)
    kinds = {isinstance(group, tuple) for group in found}
    if len(kinds) > 1:
        raise ValueError(f"Found time attribute '{name}' for both node-level and edge-level types")
    return (None, found) if kinds.pop() else (found, None)


def _weights(data: Any, kind: DataType, name: str | None) -> Any:
    """The weights of the edges, by type in heterogeneous data."""
    if name is None:
        return None
    if kind == DataType.homogeneous:
        if name not in data:
            raise ArgumentError(f"weight_attr: the data has no {name!r}; it has {', '.join(data.keys())}")
        check_weights(f"weight_attr {name!r}", data[name], data.num_edges)
        return data[name]
    if kind == DataType.heterogeneous:
        for store in data.edge_stores:
            if name not in store:
                raise ArgumentError(f"weight_attr: {store._key} has no {name!r}; all types of edges need it")
            check_weights(f"weight_attr {name!r} of {store._key}", store[name], store.num_edges)
        return data.collect(name)
    if isinstance(data[0], FeatureStore):
        return weights_of(data[0], data[1], name)
    raise NotImplementedError(
        "'weight_attr' argument not yet supported within 'NeighborSampler' for '(FeatureStore, GraphStore)' inputs"
    )
