"""Communities. Partitions differ from system to system: their modularity tells how good they are."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np
import torch

import tgraph as tg
from bench.library import Row, anything


def modularity(system: Any, result: Any) -> float:
    return tg.algorithms.modularity(system.graph, torch.as_tensor(np.asarray(result, dtype=np.int64)))


def subsets(run: Any) -> np.ndarray:
    return np.asarray(run.getPartition().getVector(), dtype=np.int64)


def members(clustering: Any) -> np.ndarray:
    return np.asarray(clustering.membership, dtype=np.int64)


READ = {"networkit": subsets, "igraph": members}
QUALITY = {"modularity": modularity}
SLOW = 20_000_000  # arcs beyond which peers take minutes

ROWS = {
    "louvain": Row(
        "communities by Louvain (networkit PLM, igraph multilevel)",
        {
            "tgraph": lambda system, _: tg.algorithms.louvain(system.graph),
            "networkit": lambda system, _: nk.community.PLM(system.graph).run(),
            "igraph": lambda system, _: system.graph.community_multilevel(),
        },
        READ,
        anything,
        QUALITY,
        directed=False,
        largest={"networkit": SLOW, "igraph": SLOW},
    ),
    "leiden": Row(
        "communities by Leiden",
        {
            "tgraph": lambda system, _: tg.algorithms.leiden(system.graph),
            "networkit": lambda system, _: nk.community.ParallelLeiden(system.graph).run(),
            "igraph": lambda system, _: system.graph.community_leiden("modularity"),
        },
        READ,
        anything,
        QUALITY,
        directed=False,
        largest={"networkit": SLOW, "igraph": SLOW},
    ),
    "label_propagation": Row(
        "communities by asynchronous label propagation",
        {
            "tgraph": lambda system, _: tg.algorithms.label_propagation(system.graph),
            "networkit": lambda system, _: nk.community.PLP(system.graph).run(),
            "igraph": lambda system, _: system.graph.community_label_propagation(),
        },
        READ,
        anything,
        QUALITY,
        directed=False,
        largest={"igraph": SLOW},
    ),
}
