"""Graphs of 2^31 vertices and more, whose neighbours are int64, are left to the portable backend by most kernels."""

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.core.building import sorting
from tgraph.core.dispatch import refusal
from tgraph.core.system import native

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")


@pytest.mark.parametrize("operator", ["label_strong", "longest", "count_levels", "paths_inside", "count_triangles"])
def test_the_refusal_says_why(monkeypatch, operator):
    narrow = random_graph(40, 120, seed=1)
    monkeypatch.setattr(sorting, "index_dtype", lambda num_vertices: torch.int64)
    wide = tg.Graph(narrow.offset, narrow.neighbors.long())
    assert refusal("native", operator, narrow, None, None) is None
    assert "fewer than 2^31 vertices" in refusal("native", operator, wide, None, None)
