"""Trees: minimum spanning forests."""

from tgraph.algorithms.trees.spanning_forest import maximum_spanning_forest, minimum_spanning_forest

__all__ = ["maximum_spanning_forest", "minimum_spanning_forest"]
