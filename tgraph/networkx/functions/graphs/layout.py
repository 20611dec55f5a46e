"""Positions of nodes for a picture. They are others than networkx's, by the same forces."""

from __future__ import annotations

import numpy as np
import torch

from tgraph.drawing.force import forceatlas2
from tgraph.networkx.functions._arcs import structure
from tgraph.networkx.registry import implements


def _refuses(G, pos, dim, distributed_action, node_mass, node_size, store_pos_as, dissuade_hubs):
    options = {"distributed_action": distributed_action, "node_mass": node_mass, "node_size": node_size}
    options |= {"store_pos_as": store_pos_as, "dissuade_hubs": dissuade_hubs}
    for name, value in options.items():
        if value not in (None, False):
            return name
    if pos is None:
        return None if dim == 2 else "dim other than 2"
    return None if all(node in pos and len(pos[node]) == 2 for node in G) else "positions of some nodes, or not of two"


@implements(
    cost="superlinear", refuses=_refuses, gaps="sizes, masses, distributed_action, dim, store_pos_as; places differ"
)
def forceatlas2_layout(
    G,
    pos=None,
    *,
    max_iter=100,
    jitter_tolerance=1.0,
    scaling_ratio=2.0,
    gravity=1.0,
    distributed_action=False,
    strong_gravity=False,
    node_mass=None,
    node_size=None,
    weight=None,
    linlog=False,
    seed=None,
    dim=2,
    store_pos_as=None,
    dissuade_hubs=False,  # until networkx 3.5
):
    if not len(G):
        return {}
    graph = structure(G, weight)
    place = forceatlas2(
        graph,
        iterations=max_iter,
        scaling=scaling_ratio,
        gravity=gravity,
        strong_gravity=strong_gravity,
        linlog=linlog,
        tolerance=jitter_tolerance,
        weighted=graph.weight_dtype is not None,
        positions=None if pos is None else torch.from_numpy(np.array([pos[node] for node in G], dtype=np.float64)),
        seed=int(seed.randint(2**31 - 1)),
    )
    return dict(zip(G.labels.names, place.numpy(), strict=True))
