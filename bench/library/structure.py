"""What graphs look like: degrees of neighbours, mixing, reciprocity, power laws, and the quality of a partition."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np
import torch

import tgraph as tg
from bench.arrays import Description
from bench.kernels import BLOCKS
from bench.library import Row, close

GROUPS = 64


def labels(description: Description) -> list[Any]:
    """A group of each vertex, by blocks of consecutive ones; in the forms of all systems."""
    n = description.num_vertices
    group = np.arange(n) * GROUPS // max(n, 1)
    partition = nk.structures.Partition(n)
    partition.setUpperBound(GROUPS)
    for vertex, chosen in enumerate(group.tolist()):
        partition[vertex] = chosen
    return [{"tgraph": torch.from_numpy(group), "networkit": partition, "igraph": group.tolist()}] * BLOCKS


ROWS = {
    "modularity": Row(
        "modularity of a given partition",
        {
            "tgraph": lambda system, given: tg.algorithms.modularity(system.graph, given["tgraph"]),
            "networkit": lambda system, given: nk.community.Modularity().getQuality(given["networkit"], system.graph),
            "igraph": lambda system, given: system.graph.modularity(given["igraph"]),
        },
        agree=close,
        directed=False,
        arguments=labels,
    ),
    "degree assortativity": Row(
        "degree assortativity",
        {
            "tgraph": lambda system, _: tg.algorithms.degree_assortativity(system.graph),
            "igraph": lambda system, _: system.graph.assortativity_degree(directed=False),
        },
        agree=close,
        directed=False,
    ),
    "attribute assortativity": Row(
        "assortativity of given groups",
        {
            "tgraph": lambda system, given: tg.algorithms.attribute_assortativity(system.graph, given["tgraph"]),
            "igraph": lambda system, given: system.graph.assortativity_nominal(given["igraph"], directed=False),
        },
        agree=close,
        directed=False,
        arguments=labels,
    ),
    "neighbor degree": Row(
        "average degree of the neighbours",
        {
            "tgraph": lambda system, _: tg.algorithms.average_neighbor_degree(system.graph),
            "igraph": lambda system, _: system.graph.knn()[0],
        },
        read={"igraph": lambda found: np.nan_to_num(np.asarray(found, dtype=np.float64))},
        agree=close,
        directed=False,
    ),
    "reciprocity": Row(
        "reciprocity",
        {
            "tgraph": lambda system, _: tg.algorithms.reciprocity(system.graph),
            "igraph": lambda system, _: system.graph.reciprocity(),
        },
        agree=close,
        directed=True,
    ),
}
