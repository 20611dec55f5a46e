"""Loaders of PyTorch Geometric whose batches `tgraph.sampling` samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch_geometric import loader as pyg

from tgraph.pyg import epochs
from tgraph.pyg.edge_features import WithEdgeFeatures
from tgraph.pyg.sampler import NeighborSampler
from tgraph.stores.feature_store import FeatureStore

OF_SAMPLER = (
    *("data", "num_neighbors", "subgraph_type", "replace", "disjoint", "temporal_strategy"),
    *("time_attr", "weight_attr", "is_sorted", "directed"),
)


class NeighborLoader(pyg.NeighborLoader):
    """`torch_geometric.loader.NeighborLoader`, with all of its arguments and batches, without pyg-lib and torch-sparse.

    `torch.manual_seed` determines the batches, whatever the number of workers, unless these are persistent.
    """

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(**_with_sampler(super().__init__, arguments, options))

    def __iter__(self) -> Iterator[Any]:
        _begin_epoch(self, self.node_sampler)
        return super().__iter__()


class LinkNeighborLoader(pyg.LinkNeighborLoader):
    """`torch_geometric.loader.LinkNeighborLoader`, with all of its arguments and batches, without pyg-lib and
    torch-sparse.

    `torch.manual_seed` determines the batches, whatever the number of workers, unless these are persistent.
    """

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(**_with_sampler(super().__init__, arguments, options))

    def __iter__(self) -> Iterator[Any]:
        _begin_epoch(self, self.link_sampler)
        return super().__iter__()


def _with_sampler(init: Callable[..., None], arguments: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a loader by name, with our sampler where none is given."""
    given = inspect.signature(init).bind(*arguments, **options).arguments
    given |= given.pop("kwargs", {})
    if given.get("neighbor_sampler") is None:
        own = {name: given[name] for name in OF_SAMPLER if name in given}
        given["neighbor_sampler"] = NeighborSampler(share_memory=given.get("num_workers", 0) > 0, **own)
    stores = given["data"]
    if isinstance(stores, tuple) and isinstance(stores[0], FeatureStore):
        given["transform"] = WithEdgeFeatures(stores[0], given.get("transform"))
    return given


def _begin_epoch(loader: Any, sampler: Any) -> None:
    """Draw the number of the epoch, which workers that start now are given."""
    if isinstance(sampler, NeighborSampler):
        sampler.epoch = epochs.begin(loader)
