"""How far vertices lie from each other at most."""

from tgraph.algorithms.distances.eccentricity import center, diameter, eccentricity, periphery, radius

__all__ = [
    "center",
    "diameter",
    "eccentricity",
    "periphery",
    "radius",
]
