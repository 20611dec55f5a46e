"""Times on a cluster, from volumes and from rates that are measured here.

A node is a rank. It computes `cores * parallel` times as fast as one core here, sends and receives at the same time at
a part of the bandwidth, spends some time for each message, and takes part in a collective operation (all ranks agree
whether to go on) of 2 * log2(ranks) hops. The arcs whose ends a rank owns are computed while values travel, the others
afterwards. The slowest rank counts: the largest shares of arcs and of volume are taken to meet at one rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import log2

import numpy as np
import torch

import tgraph as tg

VALUE = 4  # bytes


@dataclass(frozen=True)
class Cluster:
    """pagerank, bfs, uncached : arcs per second of a core, the last of PageRank where no cache holds the values.
    bandwidth : bytes per second of a node, each way. message, hop : seconds."""

    pagerank: float
    bfs: float
    uncached: float
    bandwidth: float = 25e9
    efficiency: float = 0.8
    message: float = 2e-6
    hop: float = 5e-6
    cores: int = 64
    parallel: float = 0.5

    def node(self, rate: float) -> float:
        """Arcs per second of a node."""
        return rate * self.cores * self.parallel


@dataclass(frozen=True)
class Load:
    """A graph on p ranks. volume : values and sums that are sent in all. arcs_balance, volume_balance : the largest
    rank's share over the mean. inside : share of the arcs whose ends one rank owns. peers : ranks that a rank hears
    from. levels : shares of the volume by the level of a search."""

    arcs: float
    parts: int
    volume: float
    arcs_balance: float
    volume_balance: float
    inside: float
    peers: int
    levels: tuple[float, ...] = ()


@dataclass(frozen=True)
class Times:
    """Seconds: computing, what travels while nothing is computed, and the latency of messages and collectives."""

    computing: float
    travelling: float
    latency: float

    @property
    def total(self) -> float:
        return self.computing + self.travelling + self.latency


def iteration(load: Load, cluster: Cluster) -> Times:
    """PageRank: every vertex has a new value."""
    return added(load, cluster, cluster.pagerank, VALUE * load.volume, 1)


def search(load: Load, cluster: Cluster) -> Times:
    """A whole breadth-first search. A level is sent as ids of 4 bytes, or as a bit for each value that a rank could be
    sent, whichever is less."""
    sent = sum(min(VALUE * share * load.volume, load.volume / 8) for share in load.levels)
    return added(load, cluster, cluster.bfs, sent, len(load.levels))


def added(load: Load, cluster: Cluster, rate: float, sent: float, rounds: int) -> Times:
    arcs = load.arcs / load.parts / cluster.node(rate)
    network = sent / load.parts / (cluster.bandwidth * cluster.efficiency)
    latency = rounds * (load.peers * cluster.message + 2 * log2(load.parts) * cluster.hop)

    computing, travelling = arcs * load.arcs_balance, network * load.volume_balance
    return Times(computing, max(travelling - load.inside * computing, 0), latency)


def stragglers(parts: int, noise: float, slow: float = 1.0, resized: bool = False, draws: int = 400) -> float:
    """Simulated: how many times as long bulk-synchronous iterations take where the speed of each rank varies by a
    lognormal factor of that deviation in each, and one rank has only the speed `slow`; `resized`: parts are made in
    proportion to speeds."""
    random, speed = np.random.default_rng(0), np.ones(parts)
    speed[0] = slow
    share = speed * parts / speed.sum() if resized else np.ones(parts)
    factors = random.lognormal(0, noise, (draws, parts)) if noise else np.ones((1, parts))
    return float((share / speed * factors).max(1).mean())


def rates(scale: int, table: int, repeat: int = 3) -> tuple[float, float, float]:
    """Arcs per second of one core, by processor time, since the machine may be busy: of PageRank and of breadth-first
    search on R-MAT of 2**scale vertices, and of PageRank on a uniform graph of 2**table, whose values no cache
    holds."""
    torch.set_num_threads(1)
    graph, far = tg.generators.rmat(scale, 16), tg.generators.uniform(table, 4)
    source, iterations = int(graph.out_degree.argmax()), 5

    def ranked(graph: tg.Graph) -> float:
        call = partial(tg.algorithms.pagerank, graph, tol=None, max_iterations=iterations)
        return iterations * graph.num_arcs / fastest(call, repeat)

    search = graph.num_arcs / fastest(lambda: tg.algorithms.bfs(graph, source), repeat)
    return ranked(graph), search, ranked(far)


def fastest(call: Callable[[], object], repeat: int) -> float:
    """Seconds of processor time of the fastest of some calls, after one that is not counted."""
    call()
    taken = []
    for _ in range(repeat):
        begin = time.process_time()
        call()
        taken.append(time.process_time() - begin)
    return min(taken)
