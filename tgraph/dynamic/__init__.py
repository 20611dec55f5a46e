"""Graphs that change: batches of arcs in, snapshots out.

    store = tg.dynamic.Store(weights=torch.float32)
    store.insert(src, dst, weights)
    graph = store.snapshot()

A snapshot is a Graph, which every program, algorithm, sampler and layer takes, and stays as it is.
"""

from tgraph.dynamic.store import Store

__all__ = ["Store"]
