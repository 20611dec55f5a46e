"""Maximum flow."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np
from scipy.sparse import csgraph

import tgraph as tg
from bench.library import Row, equal
from bench.library.paths import pairs, weighted

SLOW = 1_000_000  # arcs


def networkit_flow(system: Any, ends: tuple[int, int]) -> Any:
    if not system.weighted.hasEdgeIds():
        system.weighted.indexEdges()
    run = nk.flow.EdmondsKarp(system.weighted, *ends)
    run.run()
    return run


def scipy_flow(system: Any, ends: tuple[int, int]) -> int:
    if not hasattr(system, "capacities"):
        system.capacities = system.weighted.astype(np.int32)
    return csgraph.maximum_flow(system.capacities, *ends).flow_value


ROWS = {
    "flow": Row(
        "the value of a maximum flow between two vertices",
        {
            "tgraph": lambda system, ends: tg.algorithms.maximum_flow_value(system.weighted, *ends),
            "networkit": networkit_flow,
            "igraph": lambda system, ends: weighted(system).maxflow_value(*ends, capacity="weight"),
            "scipy": scipy_flow,
        },
        read={"networkit": lambda run: round(run.getMaxFlow())},
        agree=equal,
        arguments=pairs,
        largest={"networkit": SLOW},
    ),
    "cut": Row(
        "a minimum cut between two vertices and its side",
        {
            "tgraph": lambda system, ends: tg.algorithms.minimum_cut(system.weighted, *ends)[0],
            "igraph": lambda system, ends: weighted(system).mincut(*ends, capacity="weight").value,
        },
        arguments=pairs,
    ),
}
