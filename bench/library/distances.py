"""Diameter and eccentricities, of the largest component."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np

import tgraph as tg
from bench.library import Row, equal

SLOW = 300_000  # arcs; one search from every vertex


def largest(system: Any) -> Any:
    """The largest component, made once."""
    if not hasattr(system, "largest_component"):
        system.largest_component = COMPONENT[system.name](system)
    return system.largest_component


def tgraph_component(system: Any) -> tg.Graph:
    component = tg.algorithms.wcc(system.graph)
    return system.graph.subgraph((component == component.mode().values).nonzero().flatten())


COMPONENT = {
    "tgraph": tgraph_component,
    "networkit": lambda system: nk.components.ConnectedComponents.extractLargestConnectedComponent(system.graph, True),
    "igraph": lambda system: system.graph.connected_components().giant(),
}


def networkit_diameter(system: Any, _: Any) -> Any:
    run = nk.distance.Diameter(largest(system), algo=nk.distance.DiameterAlgo.EXACT)
    run.run()
    return run


ROWS = {
    "diameter": Row(
        "the exact diameter of the largest component",
        {
            "tgraph": lambda system, _: tg.algorithms.diameter(largest(system)),
            "networkit": networkit_diameter,
            "igraph": lambda system, _: largest(system).diameter(),
        },
        read={"networkit": lambda run: run.getDiameter()[0]},
        agree=equal,
        directed=False,
        largest={"igraph": SLOW},
    ),
    "eccentricity": Row(
        "the eccentricities of the largest component, by value",
        {
            "tgraph": lambda system, _: tg.algorithms.eccentricity(largest(system)),
            "igraph": lambda system, _: largest(system).eccentricity(),
        },
        read=dict.fromkeys(("tgraph", "igraph"), lambda found: np.sort(np.asarray(found))),
        agree=equal,
        directed=False,
        largest={"igraph": SLOW},
    ),
    "radius": Row(
        "the least eccentricity in the largest component",
        {
            "tgraph": lambda system, _: tg.algorithms.radius(largest(system)),
            "igraph": lambda system, _: largest(system).radius(),
        },
        directed=False,
        largest={"igraph": SLOW},
    ),
}
