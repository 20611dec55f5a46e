"""A plugin of pytest for the tests of PyTorch Geometric, beside loaders_in_pyg: its stores are replaced by ours, over
the BlockStore that TGRAPH_STORE names: memory, disk, lmdb, rocksdb or the URL of a server.

    PYTHONPATH=tests/pyg TGRAPH_STORE=disk pytest -p loaders_in_pyg -p stores_in_pyg FOLDER
"""

import os
import tempfile
import uuid

import torch_geometric.testing

from tgraph import stores


def store():
    """An empty store; those that a server holds at the same time have names of their own."""
    kind = os.environ.get("TGRAPH_STORE", "memory")
    if "://" in kind:
        return stores.open(kind, prefix=f"t{uuid.uuid4().hex}")
    return stores.open("memory:" if kind == "memory" else f"{kind}:{tempfile.mkdtemp()}")


class MyFeatureStore(stores.FeatureStore):
    """By the name that tests expect in its repr."""

    def __init__(self):
        super().__init__(store())


class MyGraphStore(stores.GraphStore):
    """By the name that tests expect in its repr."""

    def __init__(self):
        super().__init__(store())


torch_geometric.testing.MyFeatureStore = MyFeatureStore
torch_geometric.testing.MyGraphStore = MyGraphStore
