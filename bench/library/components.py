"""Components."""

from __future__ import annotations

import numpy as np

import tgraph as tg
from bench.library import Row, same_groups


def igraph_components(system, _):
    getattr(system.graph, "__invalidate_cache")()  # it remembers that a graph is connected
    return system.graph.connected_components(mode="weak").membership


ROWS = {
    "wcc": Row(
        "weakly connected components",
        {
            "tgraph": lambda system, _: tg.algorithms.wcc(system.graph),
            "networkit": lambda system, _: system.components(None),
            "igraph": igraph_components,
        },
        read={"networkit": lambda run: np.asarray(run.getPartition().getVector())},
        agree=same_groups,
    ),
}
