"""Random walks."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.arrays import Description
from bench.library import Row, ends
from bench.verify import require

WALKS, LENGTH = 1000, 80


def starts(description: Description) -> list[Any]:
    """The first vertices of walks, drawn at random."""
    return [np.random.default_rng(0).integers(description.num_vertices, size=WALKS)]


def igraph_walks(weights: str | None, system: Any, start: Any) -> Any:
    graph = system.weighted if weights else system.graph
    return graph, [graph.random_walk(int(v), LENGTH, stuck="return", weights=weights) for v in start]


def igraph_degrees(found: Any) -> np.ndarray:
    graph, walks = found
    steps = [pair for walk in walks for pair in itertools.pairwise(walk)]
    graph.get_eids(steps)  # raises where one is no edge
    return visited(np.array(graph.outdegree()), np.concatenate([np.asarray(walk) for walk in walks if len(walk) > 1]))


def degrees(found: Any) -> np.ndarray:
    graph, walks = found
    tails, heads = walks[:, :-1].flatten(), walks[:, 1:].flatten()
    source, target = (torch.from_numpy(column) for column in ends(graph))
    key = source * graph.num_vertices + target
    stays = (tails == heads) & (graph.out_degree[tails] == 0)
    wanted = tails * graph.num_vertices + heads
    held = key[torch.searchsorted(key, wanted).clamp(max=len(key) - 1)] == wanted
    require(bool((held | stays).all()), "a step is no arc")
    return visited(graph.out_degree.numpy(), walks[graph.out_degree[walks[:, 0]] > 0].numpy())


def visited(degree: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The mean of the logarithms of the degrees that walks come by."""
    return np.array([np.log2(degree[vertices.flatten()] + 1).mean()])


def alike(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Walks are drawn at random: they come by vertices of about the same degrees."""
    require(abs(ours[0] / theirs[0] - 1) < 0.03, f"walks come by degrees of 2^{ours[0]:.3f} and 2^{theirs[0]:.3f}")


def ours(weighted: bool, system: Any, start: Any) -> Any:
    graph = system.weighted if weighted else system.graph
    return graph, tg.algorithms.random_walks(graph, start, LENGTH, weighted=weighted)


def walks(title: str, weights: str | None) -> Row:
    return Row(
        f"{WALKS} random walks of {LENGTH} steps{title}",
        {"tgraph": partial(ours, weights is not None), "igraph": partial(igraph_walks, weights)},
        read={"tgraph": degrees, "igraph": igraph_degrees},
        agree=alike,
        directed=False,  # igraph's walks end where no arc leads on
        arguments=starts,
    )


ROWS = {"walks": walks("", None), "weighted-walks": walks(" by weights", "weight")}
