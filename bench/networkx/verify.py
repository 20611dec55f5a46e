"""Whether a result is the one that networkx gives, or as good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse

from bench.networkx.given import Given
from bench.verify import require

ROUNDING = {"rtol": 1e-5, "atol": 1e-7}


def equal(given: Given, ours: Any, theirs: Any) -> None:
    """The same values, but for the rounding of floats."""
    if isinstance(theirs, nx.Graph):
        ours = _plain(ours)
        require(list(ours) == list(theirs), "the nodes differ")
        require(list(ours.edges) == list(theirs.edges), "the edges differ")
    elif scipy.sparse.issparse(theirs):
        require(ours.shape == theirs.shape, "the shapes differ")
        difference = abs(ours - theirs)
        require(difference.nnz == 0 or difference.max() <= 1e-7, "the matrices differ")
    elif isinstance(theirs, np.ndarray):
        require(np.allclose(ours, theirs, **ROUNDING), "the arrays differ")
    elif isinstance(theirs, Mapping):
        ours = dict(ours)
        require(ours.keys() == theirs.keys(), "the keys differ")
        equal(given, [ours[key] for key in theirs], list(theirs.values()))
    elif isinstance(theirs, (list, tuple)):
        require(len(ours) == len(theirs), "the lengths differ")
        if ours != theirs and list(ours) != list(theirs):
            _equal_items(given, ours, theirs)
    elif isinstance(theirs, float):
        require(bool(np.isclose(ours, theirs, **ROUNDING)), f"{ours} is not {theirs}")
    else:
        require(ours == theirs, "the results differ")


def _equal_items(given: Given, ours: Any, theirs: Any) -> None:
    if all(isinstance(item, (int, float)) for item in theirs):
        require(np.allclose(ours, theirs, **ROUNDING), "the numbers differ")
        return
    for a, b in zip(ours, theirs, strict=True):
        equal(given, a, b)


def _plain(graph: Any) -> nx.Graph:
    """The graph in a class that lists its nodes and edges as networkx's does."""
    return graph.to_networkx() if hasattr(graph, "to_networkx") else graph


def as_modular(given: Given, ours: Any, theirs: Any) -> None:
    """A partition of a modularity that is not lower by more than a hundredth."""
    from tgraph.networkx import convert_from_nx
    from tgraph.networkx.interface import backend

    graph = convert_from_nx(given.G, edge_attrs={"weight": 1})
    require(nx.community.is_partition(given.G, ours), "no partition")
    found, expected = (backend.modularity(graph, parts) for parts in (ours, theirs))
    require(found > expected - 0.01, f"modularity {found:.4f}, networkx finds {expected:.4f}")


def as_independent(given: Given, ours: Any, theirs: Any) -> None:
    """A maximal independent set."""
    chosen = set(ours)
    covered = {neighbour for node in chosen for neighbour in given.G[node]}
    require(not chosen & covered, "not independent")
    require(len(chosen | covered) == given.nodes, "not maximal")
