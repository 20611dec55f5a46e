"""Arcs by their ends."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tgraph.kernels.operators.csr.arc_lookup import ArcLookup, arc_lookup


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@given(rows=st.lists(st.lists(st.integers(0, 5)).map(sorted), max_size=6))
def test_as_portable(dtype, rows):
    offset = torch.tensor([0, *map(len, rows)]).cumsum(0)
    neighbors = torch.tensor([v for row in rows for v in row], dtype=dtype)
    found, expected = arc_lookup(offset, neighbors), ArcLookup(offset, neighbors)
    for u, row in enumerate(rows):
        assert found.degree(u) == expected.degree(u) == len(row)
        for v in range(-1, 7):
            place = int(offset[u]) + row.index(v) if v in row else -1
            assert found.arc(u, v) == expected.arc(u, v) == place
            assert found.find(int(offset[u]), int(offset[u + 1]), v) == expected.find(
                int(offset[u]), int(offset[u + 1]), v
            )
    for u in (-1, len(rows)):
        assert found.arc(u, 0) == expected.arc(u, 0) == -1
