"""Maximum flow."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bench.library import Call, Row
from bench.library.paths import pairs

SLOW = {"networkit": 1_000_000}  # arcs


@cache
def indexed(system: Any) -> Any:
    """networkit's graph with numbered edges."""
    system.weighted.indexEdges()
    return system.weighted


@cache
def capacities(system: Any) -> Any:
    """scipy's matrix of integers."""
    return system.weighted.astype(np.int32)


ROWS = {
    "flow": Row(
        "the value of a maximum flow between two vertices",
        {
            "tgraph": Call("maximum_flow_value", of="weighted"),
            "networkit": Call("flow.EdmondsKarp", of=indexed),
            "igraph": Call("maxflow_value", of="weighted", capacity="weight"),
            "scipy": Call("maximum_flow", of=capacities),
        },
        read={"networkit": lambda run: round(run.getMaxFlow()), "scipy": lambda found: found.flow_value},
        arguments=pairs,
        largest=SLOW,
    ),
    "cut": Row(
        "a minimum cut between two vertices and its side",
        {"tgraph": Call("minimum_cut", of="weighted"), "igraph": Call("mincut", of="weighted", capacity="weight")},
        read={"tgraph": lambda found: found[0], "igraph": lambda found: found.value},
        arguments=pairs,
    ),
}
