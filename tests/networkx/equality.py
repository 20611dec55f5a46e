"""Whether a result is the one that networkx gives: its value, its type, the order of what has one, its exception."""

from collections.abc import Hashable, Iterator, Mapping, Set
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from tgraph.networkx.convert import convert_to_nx

AT_MOST = 2000  # items of an iterator that are looked at


def same(found, expected, path="", free=False) -> None:
    """free : whether the order of dicts, and of what depends on it, is not the algorithm's."""
    if isinstance(expected, nx.Graph):
        found = convert_to_nx(found)
        assert type(found) is type(expected), path
        same(found.graph, expected.graph, f"{path} graph", free)
        _same_attributes(found._node, expected._node, f"{path} nodes", free)
        for name in ("_adj", "_pred") if expected.is_directed() else ("_adj",):
            _same_rows(getattr(found, name), getattr(expected, name), f"{path} {name}", free, expected.is_multigraph())
    elif isinstance(expected, Mapping):
        assert isinstance(found, Mapping), f"{path}: {type(found)} for {type(expected)}"
        assert isinstance(found, dict) == isinstance(expected, dict), f"{path}: {type(found)} for {type(expected)}"
        (_same_set if free else _same_order)(list(found), list(expected), f"{path} keys")
        for key, value in expected.items():
            same(found[key], value, f"{path}[{key!r}]", free)
    elif scipy.sparse.issparse(expected):
        assert type(found) is type(expected), path
        assert found.format == expected.format and found.shape == expected.shape, path
        assert found.dtype == expected.dtype, f"{path}: dtype {found.dtype} for {expected.dtype}"
        np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-9, err_msg=path)
    elif isinstance(expected, np.ndarray):
        assert type(found) is type(expected) and found.shape == expected.shape, path
        assert found.dtype == expected.dtype, f"{path}: dtype {found.dtype} for {expected.dtype}"
        np.testing.assert_allclose(found, expected, atol=1e-6, rtol=1e-6, err_msg=path)
    elif isinstance(expected, (list, tuple)):
        assert type(found) is type(expected) and len(found) == len(expected), f"{path}: {found} for {expected}"
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            same(a, b, f"{path}[{i}]", free)
    elif isinstance(expected, Set):
        assert type(found) is type(expected), f"{path}: {type(found)} for {type(expected)}"
        _same_set(list(found), list(expected), path)
    elif type(found) is type(expected) and not isinstance(expected, float):
        assert found == expected, f"{path}: {found!r} for {expected!r}"
    else:
        number = expected.item() if isinstance(expected, np.generic) else expected
        assert type(found) in (type(number), type(expected)), f"{path}: type of {found!r} for {expected!r}"
        close = pytest.approx(number, rel=1e-8, abs=1e-8, nan_ok=True) if isinstance(number, float) else number
        assert found == close, f"{path}: {found!r} for {expected!r}"


def _same_rows(found, expected, path, free, multi=False) -> None:
    """The neighbours of each node in order, and in a multigraph the keys."""
    (_same_set if free else _same_order)(list(found), list(expected), f"{path} keys")
    for node, row in expected.items():
        if multi:
            _same_rows(found[node], row, f"{path}[{node!r}]", free)
        else:
            _same_attributes(found[node], row, f"{path}[{node!r}]", free)


def _same_attributes(found, expected, path, free) -> None:
    """Attributes, whose order is that of columns: the same for all nodes or edges."""
    (_same_set if free else _same_order)(list(found), list(expected), f"{path} keys")
    for key, attributes in expected.items():
        same(found[key], attributes, f"{path}[{key!r}]", True)


def _same_order(found: list[Any], expected: list[Any], path: str) -> None:
    _same_set(found, expected, path)
    assert found == expected, f"{path}: order {found} for {expected}"
    assert list(map(type, found)) == list(map(type, expected)), f"{path}: types {found} for {expected}"


def _same_set(found: list[Any], expected: list[Any], path: str) -> None:
    kinds = [sorted(map(_typed, each)) for each in (found, expected)]
    assert len(found) == len(expected) and set(found) == set(expected), f"{path}: {found} for {expected}"
    assert kinds[0] == kinds[1], f"{path}: types of {found} for {expected}"


def _typed(value: Hashable) -> tuple[str, str]:
    return type(value).__name__, repr(sorted(value, key=repr) if isinstance(value, Set) else value)


class Outcome:
    """The outcome of a call: its result, what an iterator gives as a list, and its exception."""

    result: Any = None
    fault: Exception | None = None
    began: type | None = None  # the class of an iterator that it returned

    def __init__(self, function: Any, arguments: dict[str, Any], **options: Any):
        try:
            result = function(**arguments, **options)
            self.began = type(result) if isinstance(result, Iterator) else None
            self.result = [] if self.began else result
            if self.began:
                for each in islice(result, AT_MOST):
                    self.result.append(each)
        except Exception as fault:
            self.fault = fault

    def same(self, expected: "Outcome", path: str = "", free: Any = None) -> None:
        """Raises AssertionError where this is another outcome than networkx's."""
        fault, other = self.fault, expected.fault
        assert type(fault) is type(other), f"{path}: exception {fault!r} for {other!r}"
        if isinstance(other, (nx.NetworkXException, KeyError)):
            assert str(fault) == str(other), f"{path}: message {fault!r} for {other!r}"
        assert self.began == expected.began, f"{path}: {self.began} for {expected.began}"
        if callable(free) and other is None:
            same(free(self.result), free(expected.result), path)
        else:
            same(self.result, expected.result, path, bool(free))


def members(parts):
    return sorted(sorted(map(repr, part)) for part in parts)


def all_paths(paths):
    return sorted(map(repr, paths)) if len(paths) < AT_MOST else len(paths)


# What networkx's algorithms leave to the order of a set, to chance or to the choice among equals: True where that is
# the order of dicts, else a function of the result that takes the choice away.
FREE = {
    "all_triangles": members,
    "biconnected_component_edges": lambda parts: sorted(
        sorted(sorted(map(repr, edge)) for edge in part) for part in parts
    ),
    "condensation": True,
    "dominating_set": lambda found: isinstance(found, set),
    "find_cliques": members,
    "find_cliques_recursive": members,
    "forceatlas2_layout": list,
    "generalized_degree": True,
    "hits": lambda found: [{node: abs(score) for node, score in each.items()} for each in found],
    "hopcroft_karp_matching": len,
    "intersection": True,
    "intersection_all": True,
    "leiden_communities": lambda found: isinstance(found, list),
    "louvain_communities": lambda found: isinstance(found, list),
    "louvain_partitions": lambda found: isinstance(found, list),
    "max_weight_clique": lambda found: found[1],
    "maximal_independent_set": lambda found: isinstance(found, list),
    "maximum_flow": lambda found: found[0],
    "maximum_spanning_edges": True,
    "minimum_edge_cut": len,
    "minimum_node_cut": len,
    "minimum_spanning_edges": True,
    "minimum_st_edge_cut": len,
    "minimum_st_node_cut": len,
    "node_clique_number": True,
    "shortest_simple_paths": all_paths,
    "transitive_reduction": True,
    "stoer_wagner": lambda found: found[0],
}
LOOSE = ("directed_combinatorial_laplacian_matrix", "directed_laplacian_matrix")  # eigenvectors from a random start
FREE |= dict.fromkeys(LOOSE, lambda found: (found.shape, str(found.dtype)))


def same_of(name: str, found: Any, expected: Any, path: str) -> None:
    """`same` up to the choices that networkx's function `name` leaves."""
    free = FREE.get(name)
    if callable(free) and not isinstance(found, type) and not isinstance(expected, type):
        found, expected = free(found), free(expected)
    same(found, expected, path, free is True)
