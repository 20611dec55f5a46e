"""Diameter and eccentricities, of the largest component."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import tgraph as tg
from bench.library import Call, Row, nk, ran

SLOW = {"igraph": 300_000}  # arcs; one search from every vertex


@cache
def largest(system: Any) -> Any:
    """The largest component of a system's graph."""
    if system.name == "networkit":
        return nk.components.ConnectedComponents.extractLargestConnectedComponent(system.graph, True)
    if system.name == "igraph":
        return system.graph.connected_components().giant()
    component = tg.algorithms.wcc(system.graph)
    return system.graph.subgraph((component == component.mode().values).nonzero().flatten())


def networkit_diameter(system: Any, _: Any) -> Any:
    return ran(nk.distance.Diameter, largest(system), algo=nk.distance.DiameterAlgo.EXACT)


ROWS = {
    "diameter": Row(
        "the exact diameter of the largest component",
        {
            "tgraph": Call("diameter", of=largest),
            "networkit": networkit_diameter,
            "igraph": Call("diameter", of=largest),
        },
        read={"networkit": lambda run: run.getDiameter()[0]},
        directed=False,
        largest=SLOW,
    ),
    "eccentricity": Row(
        "the eccentricities of the largest component, by value",
        dict.fromkeys(("tgraph", "igraph"), Call("eccentricity", of=largest)),
        read=dict.fromkeys(("tgraph", "igraph"), lambda found: np.sort(np.asarray(found))),
        directed=False,
        largest=SLOW,
    ),
    "radius": Row(
        "the least eccentricity in the largest component",
        dict.fromkeys(("tgraph", "igraph"), Call("radius", of=largest)),
        directed=False,
        largest=SLOW,
    ),
}
