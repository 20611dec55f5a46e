"""Graphs that change: batches of arcs in, snapshots out, and results that follow.

    store = tg.dynamic.Store(weights=torch.float32)
    store.insert(src, dst, weights)
    graph = store.snapshot()
    follow = tg.dynamic.follow(tg.algorithms.SSSP(0), store)

A snapshot is a Graph, for every program, algorithm, sampler and layer, and never changes. `follow.values` are the
values at the store's newest version. `open` places the store in a folder, where it outlasts the process.
"""

from tgraph.dynamic.durable.opening import open
from tgraph.dynamic.durable.verification import verify
from tgraph.dynamic.following.declared import Components, CoreNumbers, Embeddings, LinearSystem, Triangles
from tgraph.dynamic.following.follow import follow
from tgraph.dynamic.following.follower import Follower, Update
from tgraph.dynamic.history import History, Moment
from tgraph.dynamic.store import Store

__all__ = [
    "Components",
    "CoreNumbers",
    "Embeddings",
    "Follower",
    "History",
    "LinearSystem",
    "Moment",
    "Store",
    "Triangles",
    "Update",
    "follow",
    "open",
    "verify",
]
