"""PyTorch Geometric's loaders with batches sampled by `tgraph.sampling`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from torch_geometric import loader as pyg

from tgraph.pyg.checks import (
    check_edges,
    check_hops,
    check_labels,
    check_not_sparse,
    checked_input_edges,
    checked_input_nodes,
)
from tgraph.pyg.edge_features import WithEdgeFeatures
from tgraph.pyg.prefetching import Prefetching, check_prefetch
from tgraph.pyg.sampler import NeighborSampler
from tgraph.stores.feature_store import FeatureStore

OF_SAMPLER = (
    *("data", "num_neighbors", "subgraph_type", "replace", "disjoint", "temporal_strategy"),
    *("time_attr", "weight_attr", "is_sorted", "directed"),
)


class NeighborLoader(Prefetching, pyg.NeighborLoader):
    """`torch_geometric.loader.NeighborLoader`, with all of its arguments and batches, without pyg-lib and torch-sparse.

    prefetch : number of batches prepared ahead, each by a thread of its own, without workers; by default 2 where the
        model leaves a core idle, and 0 for data on a device and for other libraries' stores, which may not be
        thread-safe. A `transform` is called by the consuming thread, or with `filter_per_worker=True` by these.

    `torch.manual_seed`, or the `generator`, determines the batches, whatever the number of workers and threads.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import NeighborLoader
    >>> data = Data(x=torch.arange(9.0).view(9, 1), edge_index=tg.generators.cycle(9).to_edge_index())
    >>> loader = NeighborLoader(data, [-1], input_nodes=torch.tensor([0, 4]), batch_size=1)
    >>> [(batch.n_id.tolist(), batch.x.flatten().tolist()) for batch in loader]
    [([0, 1, 8], [0.0, 1.0, 8.0]), ([4, 3, 5], [4.0, 3.0, 5.0])]
    """

    def __init__(self, *arguments: Any, **options: Any):
        given = _with_sampler(super().__init__, arguments, options)
        self.prefetch: int | None = given.pop("prefetch")
        self.transforms_ahead: bool = bool(given.get("filter_per_worker"))
        super().__init__(**given)

    def _drawing(self) -> Any:
        return self.node_sampler if isinstance(self.node_sampler, NeighborSampler) else None


class LinkNeighborLoader(Prefetching, pyg.LinkNeighborLoader):
    """`torch_geometric.loader.LinkNeighborLoader`, with its arguments and batches, without pyg-lib and torch-sparse.

    prefetch : as of `NeighborLoader`.

    `torch.manual_seed`, or the `generator`, determines the batches, whatever the number of workers and threads.

    >>> from torch_geometric.data import Data
    >>> from tgraph.pyg import LinkNeighborLoader
    >>> data = Data(edge_index=tg.generators.cycle(9).to_edge_index(), num_nodes=9)
    >>> loader = LinkNeighborLoader(data, [2], edge_label_index=data.edge_index, batch_size=6)
    >>> [batch.edge_label_index.shape for batch in loader]
    [torch.Size([2, 6]), torch.Size([2, 6]), torch.Size([2, 6])]
    """

    def __init__(self, *arguments: Any, **options: Any):
        given = _with_sampler(super().__init__, arguments, options)
        self.prefetch: int | None = given.pop("prefetch")
        self.transforms_ahead: bool = bool(given.get("filter_per_worker"))
        super().__init__(**given)

    def _drawing(self) -> Any:
        return self.link_sampler if isinstance(self.link_sampler, NeighborSampler) else None


def _with_sampler(init: Callable[..., None], arguments: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The checked arguments of a loader by name, with our sampler by default."""
    of_loader = inspect.signature(init)
    given = of_loader.bind(*arguments, **options).arguments
    given |= given.pop("kwargs", {})
    check_edges(given["data"])
    check_not_sparse(given["data"])
    for name, checked in (("input_nodes", checked_input_nodes), ("edge_label_index", checked_input_edges)):
        if name in of_loader.parameters:
            given[name] = checked(given["data"], given.get(name))
    check_hops("num_neighbors", given["num_neighbors"])
    if "edge_label_index" in given:
        labels = {name: given.get(name) for name in ("edge_label", "edge_label_time")}
        check_labels(given["data"], given["edge_label_index"], labels)
    if given.get("neighbor_sampler") is None:
        own = {name: given[name] for name in OF_SAMPLER if name in given}
        given["neighbor_sampler"] = NeighborSampler(share_memory=given.get("num_workers", 0) > 0, **own)
    data = given["data"]
    given["prefetch"] = check_prefetch(given.get("prefetch"))
    if isinstance(data, tuple) and isinstance(data[0], FeatureStore):
        given["transform"] = WithEdgeFeatures(data[0], given.get("transform"))
    return given


def _signature(theirs: type) -> inspect.Signature:
    """The signature of a loader of PyTorch Geometric, with `prefetch`."""
    signature = inspect.signature(theirs.__init__)  # type: ignore[misc]
    *parameters, others = signature.parameters.values()
    prefetch = inspect.Parameter("prefetch", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="int | None")
    return signature.replace(parameters=[*parameters, prefetch, others])


for _ours, _theirs in ((NeighborLoader, pyg.NeighborLoader), (LinkNeighborLoader, pyg.LinkNeighborLoader)):
    setattr(vars(_ours)["__init__"], "__signature__", _signature(_theirs))  # noqa: B010  for help()
