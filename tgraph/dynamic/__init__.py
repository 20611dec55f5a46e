"""Graphs that change: batches of arcs in, snapshots out.

    store = tg.dynamic.Store(weights=torch.float32)
    store.insert(src, dst, weights)
    graph = store.snapshot()

A snapshot is a Graph, which every program, algorithm, sampler and layer takes, and stays as it is. `open` has the store
in a folder, where it outlasts the process.
"""

from tgraph.dynamic.durable.opening import open
from tgraph.dynamic.durable.verification import verify
from tgraph.dynamic.store import Store

__all__ = ["Store", "open", "verify"]
