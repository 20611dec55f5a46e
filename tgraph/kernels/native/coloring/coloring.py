"""Greedy colourings by the kernel in `coloring.cpp`."""

from __future__ import annotations

from tgraph.kernels.native.base.support import attach, per_vertex, refuses_wide_graph
from tgraph.kernels.operators.coloring import coloring as declared

attach(declared.color_in_order, refuses_wide_graph, per_vertex)
