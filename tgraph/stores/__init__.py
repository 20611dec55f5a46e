"""Stores of features and edges, for graphs and features larger than memory.

    from tgraph.pyg import NeighborLoader
    from tgraph.stores import DiskStore, FeatureStore, GraphStore

    store = DiskStore("folder")
    features, edges = FeatureStore(store), GraphStore(store)
    features["paper", "x", None] = x
    edges[("paper", "cites", "paper"), "coo", False, (n, n)] = row, col
    loader = NeighborLoader((features, edges), [15, 10], input_nodes="paper", batch_size=1024)

A BlockStore holds tensors as blocks of rows; FeatureStore and GraphStore are PyTorch Geometric's interfaces over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tgraph.deferred import at_first_access
from tgraph.stores.blocks import BlockStore, ReplacedError, Stat
from tgraph.stores.cache import CachedStore, CacheStats
from tgraph.stores.disk import DiskStore
from tgraph.stores.ids import Ids
from tgraph.stores.ladybug import LadybugStore
from tgraph.stores.lmdb import LmdbStore
from tgraph.stores.maintenance import copy, get_file, put_file, verify
from tgraph.stores.memory import MemoryStore
from tgraph.stores.opening import open
from tgraph.stores.postgres import PostgresStore
from tgraph.stores.redis import RedisStore
from tgraph.stores.rocksdb import RocksDbStore

if TYPE_CHECKING:
    from tgraph.stores.feature_store import EDGES, FeatureStore
    from tgraph.stores.graph_store import GraphStore
    from tgraph.stores.tables import put_edges, put_features

__all__ = [
    "EDGES",
    "BlockStore",
    "CacheStats",
    "CachedStore",
    "DiskStore",
    "FeatureStore",
    "GraphStore",
    "Ids",
    "LadybugStore",
    "LmdbStore",
    "MemoryStore",
    "PostgresStore",
    "RedisStore",
    "ReplacedError",
    "RocksDbStore",
    "Stat",
    "copy",
    "get_file",
    "open",
    "put_edges",
    "put_features",
    "put_file",
    "verify",
]

# The modules of names imported at first access, since they import PyTorch Geometric.
_HOMES = {
    "EDGES": "tgraph.stores.feature_store",
    "FeatureStore": "tgraph.stores.feature_store",
    "GraphStore": "tgraph.stores.graph_store",
    "put_edges": "tgraph.stores.tables",
    "put_features": "tgraph.stores.tables",
}

__getattr__, __dir__ = at_first_access(globals(), _HOMES)
