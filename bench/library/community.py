"""Communities. Partitions differ from system to system: their modularity tells how good they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.library import Call, Row, anything, partition

SLOW = 20_000_000  # arcs beyond which peers take minutes


def modularity(system: Any, result: Any) -> float:
    return tg.algorithms.modularity(system.graph, torch.as_tensor(np.asarray(result, dtype=np.int64)))


def communities(title: str, ours: str, networkit: str, igraph: Call, slow: tuple[str, ...]) -> Row:
    calls = {"tgraph": ours, "networkit": f"community.{networkit}", "igraph": igraph}
    read = {"networkit": partition, "igraph": lambda clustering: np.asarray(clustering.membership, dtype=np.int64)}
    quality = {"modularity": modularity}
    return Row(f"communities by {title}", calls, read, anything, quality, False, largest=dict.fromkeys(slow, SLOW))


BOTH = ("networkit", "igraph")
ROWS = {
    "louvain": communities(
        "Louvain (networkit PLM, igraph multilevel)", "louvain", "PLM", Call("community_multilevel"), BOTH
    ),
    "leiden": communities("Leiden", "leiden", "ParallelLeiden", Call("community_leiden", "modularity"), BOTH),
    "label_propagation": communities(
        "asynchronous label propagation", "label_propagation", "PLP", Call("community_label_propagation"), BOTH[1:]
    ),
}
