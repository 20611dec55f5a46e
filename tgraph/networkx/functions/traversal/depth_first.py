"""Depth-first searches."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.networkx.functions._arcs import rows
from tgraph.networkx.functions._nodes import names, node_pairs, numbers
from tgraph.networkx.registry import implements, made_of
from tgraph.primitives.paths import search


def _positive(depth_limit: Any) -> bool:
    return depth_limit is None or depth_limit >= 1


ONLY = {"depth_limit": _positive, "sort_neighbors": None}


def _search(G: Any, source: Any, depth_limit: int | None) -> tuple[Tensor, Tensor, Tensor]:
    sources = torch.arange(len(G)) if source is None else numbers(G, [source])
    return search.depth_first(*rows(G), sources, depth_limit)


def tree(G: Any, source: Any, depth_limit: int | None) -> list[tuple[Any, Any]]:
    order, _, parent = _search(G, source, depth_limit)
    found = order[parent[order] >= 0]
    return list(node_pairs(G, parent[found], found))


@implements(cost="light", only=ONLY)
def dfs_edges(G, source=None, depth_limit=None, *, sort_neighbors=None):
    yield from tree(G, source, depth_limit)


made_of("dfs_edges", cost="light", only=ONLY)("dfs_predecessors", "dfs_successors")


@implements(cost="light", only=ONLY)
def dfs_preorder_nodes(G, source=None, depth_limit=None, *, sort_neighbors=None):
    yield from names(G, _search(G, source, depth_limit)[0])


@implements(cost="light", only=ONLY)
def dfs_postorder_nodes(G, source=None, depth_limit=None, *, sort_neighbors=None):
    yield from names(G, _search(G, source, depth_limit)[1])
