"""The shape of graphs: degrees of neighbours, mixing, reciprocity, and the quality of a partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bench.arrays import Description
from bench.kernels import BLOCKS
from bench.library import Call, Row, close, nk

GROUPS = 64


def labels(description: Description) -> list[Any]:
    """A group of each vertex, by blocks of consecutive ones; in the forms of all systems."""
    n = description.num_vertices
    group = np.arange(n) * GROUPS // max(n, 1)
    found = {"tgraph": torch.from_numpy(group), "igraph": group.tolist()}
    if nk:
        found["networkit"] = nk.structures.Partition(n)
        found["networkit"].setUpperBound(GROUPS)
        for vertex, chosen in enumerate(group.tolist()):
            found["networkit"][vertex] = chosen
    return [found] * BLOCKS


ROWS = {
    "modularity": Row(
        "modularity of a given partition",
        {
            "tgraph": "modularity",
            "networkit": lambda system, given: nk.community.Modularity().getQuality(given["networkit"], system.graph),
            "igraph": "modularity",
        },
        agree=close,
        directed=False,
        arguments=labels,
    ),
    "degree assortativity": Row(
        "degree assortativity",
        {"tgraph": "degree_assortativity", "igraph": Call("assortativity_degree", directed=False)},
        agree=close,
        directed=False,
    ),
    "attribute assortativity": Row(
        "assortativity of given groups",
        {"tgraph": "attribute_assortativity", "igraph": Call("assortativity_nominal", directed=False)},
        agree=close,
        directed=False,
        arguments=labels,
    ),
    "neighbor degree": Row(
        "average degree of the neighbours",
        {"tgraph": "average_neighbor_degree", "igraph": "knn"},
        read={"igraph": lambda found: np.nan_to_num(np.asarray(found[0], dtype=np.float64))},
        agree=close,
        directed=False,
    ),
    "reciprocity": Row("reciprocity", dict.fromkeys(("tgraph", "igraph"), "reciprocity"), agree=close, directed=True),
}
