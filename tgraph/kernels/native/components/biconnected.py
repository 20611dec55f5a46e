"""Biconnected components by the kernel in `biconnected.cpp`."""

from __future__ import annotations

from tgraph.kernels.native.base.support import attach, per_vertex, refuses_wide_graph
from tgraph.kernels.operators.components import biconnected as declared

attach(declared.biconnect, refuses_wide_graph, per_vertex, per_vertex)
