"""Edge features and weights of a FeatureStore, ignored by PyTorch Geometric's loaders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor
from torch_geometric.data import HeteroData

from tgraph.stores.feature_store import EDGES, FeatureStore


class WithEdgeFeatures:
    """A transform of batches that adds the features of their edges, followed by the user's transform."""

    features: FeatureStore

    def __init__(self, features: FeatureStore, transform: Callable[[Any], Any] | None):
        self.features, self.transform = features, transform

    def __call__(self, batch: Any) -> Any:
        wanted = []
        for kind, edges in _edges(batch):
            for attribute in self.features.edge_attributes(kind):
                attribute.index = edges.e_id
                wanted.append((edges, attribute))
        found = self.features.multi_get_tensor([attribute for _, attribute in wanted])  # all types in one call
        for (edges, attribute), values in zip(wanted, found, strict=True):
            edges[attribute.attr_name] = values
        return batch if self.transform is None else self.transform(batch)


def weights_of(features: FeatureStore, edges: Any, name: str) -> Any:
    """The weights of all edges in a graph store, by type in a heterogeneous graph."""
    kinds = {attribute.edge_type for attribute in edges.get_all_edge_attrs()}
    found: dict[Any, Tensor] = {kind: features.get_tensor(kind or EDGES, name, None) for kind in kinds}
    return found[None] if kinds == {None} else found


def _edges(batch: Any) -> Iterator[tuple[Any, Any]]:
    """(type, edges) of the types of edges with e_id in the batch."""
    parts = [(kind, batch[kind]) for kind in batch.edge_types] if isinstance(batch, HeteroData) else [(None, batch)]
    return ((kind, edges) for kind, edges in parts if "e_id" in edges and edges.e_id is not None)
