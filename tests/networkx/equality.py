"""Whether a result is the one that networkx gives: graphs, dicts, matrices and numbers."""

from collections.abc import Mapping

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from tgraph.networkx.convert import convert_to_nx


def same(found, expected, path="") -> None:
    if isinstance(expected, nx.Graph):
        found = convert_to_nx(found)
        assert type(found) is type(expected), path
        assert found.graph == expected.graph, path
        same(found._node, expected._node, f"{path} nodes")
        assert list(found) == list(expected)
        same(found._adj, expected._adj, f"{path} adj")
    elif isinstance(expected, Mapping):
        assert isinstance(found, Mapping) and set(found) == set(expected), path
        for key, value in expected.items():
            same(found[key], value, f"{path}[{key!r}]")
    elif scipy.sparse.issparse(expected):
        assert found.format == expected.format and found.shape == expected.shape
        assert found.dtype == expected.dtype, path
        np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-9)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype, path
        np.testing.assert_allclose(found, expected, atol=1e-6)
    elif isinstance(expected, (list, tuple)):
        assert type(found) is type(expected) and len(found) == len(expected), f"{path}: {found} {expected}"
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            same(a, b, f"{path}[{i}]")
    elif isinstance(expected, float) or isinstance(found, float):
        assert type(found) in (int, float), f"{path}: {type(found)}"
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6, nan_ok=True), path
    else:
        assert type(found) is type(expected), f"{path}: {found!r} {expected!r}"
        assert found == expected, f"{path}: {found!r} {expected!r}"
