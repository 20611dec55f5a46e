"""The share of a network's delay that ranks hide by computing meanwhile, for PageRank on a grid.

    python -m bench.distributed_delay [--side 1500] [--delays 0,1,5,20] [--iterations 20] [--repeat 5]

Two ranks in network namespaces of their own, as `bench.network` makes them: Linux, root and iproute2. For each delay,
in milliseconds one way: those of the fastest iteration; of these what rank 0 computed over the arcs inside its part
while values of mirrors travelled, and what it then still waited for them; and of the fastest one that waits before it
computes. Both kinds of runs take turns. An iteration has a second exchange, of its sums, which nothing hides.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

import tgraph as tg
from bench.command import ROOT, parsed
from bench.network import Network
from bench.results import table
from tgraph.distributed.parts.part import Part
from tgraph.distributed.ranks.channel import Sending

RANKS = 2


class Clock:
    """Watches the exchanges of mirrors, of which an iteration has one.

    in_turn : whether to wait at once, before anything is computed."""

    def __init__(self, in_turn: bool):
        self._times: list[list[float]] = []  # of each exchange: when it began, was waited for, and was there
        self._in_turn = in_turn
        self._fetch, self._wait = Part.fetch, Sending.wait

    def __enter__(self) -> Clock:
        fetch, wait = self._fetch, self._wait

        def fetched(part: Part, values: torch.Tensor) -> Sending:
            self._times.append([time.perf_counter()])
            sending = fetch(part, values)
            if self._in_turn:
                wait(sending)
            return sending

        def waited(sending: Sending) -> torch.Tensor:
            self._times[-1].append(time.perf_counter())
            received = wait(sending)
            self._times[-1].append(time.perf_counter())
            return received

        Part.fetch, Sending.wait = fetched, waited  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: Any) -> None:
        Part.fetch, Sending.wait = self._fetch, self._wait  # type: ignore[method-assign]

    def iterations(self) -> Iterator[tuple[float, float, float]]:
        """Seconds of each but the last: (whole, from the start of its exchange until it was waited for, waited)."""
        for (begun, asked, there), (following, *_) in itertools.pairwise(self._times):
            yield following - begun, asked - begun, there - asked


def as_rank(path: str, iterations: int, repeat: int) -> None:
    """A rank: the first one prints its fastest iteration, overlapped and in turn."""
    torch.set_num_threads(1)
    tg.distributed.init_process_group("gloo")
    graph, found = tg.distributed.open(path), dict[bool, list[tuple[float, float, float]]]({False: [], True: []})
    for turn in range(repeat + 1):
        for in_turn, seen in found.items():
            dist.barrier()
            with Clock(in_turn) as clock:
                tg.algorithms.pagerank(graph, tol=None, max_iterations=iterations)
            if turn:  # the first ones make what is kept
                seen += clock.iterations()
    if dist.get_rank() == 0:
        print(json.dumps([*min(found[False]), min(found[True])[0]]))
    dist.destroy_process_group()


def measured(path: Path, delay: float, iterations: int, repeat: int) -> list[float]:
    """The times that rank 0 prints, in a network of this delay in seconds."""
    command = [sys.executable, "-m", "bench.distributed_delay", "--rank-of", str(path)]
    command += ["--iterations", str(iterations), "--repeat", str(repeat)]
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    with Network(RANKS, delay) as network:
        ranks = [network.start(rank, command, env=environment, stdout=subprocess.PIPE) for rank in range(RANKS)]
        said = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise RuntimeError("a rank failed; see above")
    return json.loads(said[0])


def main() -> None:
    """Print the table."""
    given = parsed(
        __doc__, hidden=["rank_of"], side=1500, delays=[0.0, 1.0, 5.0, 20.0], iterations=20, repeat=5, rank_of=str
    )
    if given.rank_of:
        as_rank(given.rank_of, given.iterations, given.repeat)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.tg")
        tg.stream.write_partitioned(tg.generators.grid2d(given.side, given.side), path, parts=RANKS)
        for delay in (each / 1e3 for each in given.delays):
            found = measured(path, delay, given.iterations, given.repeat)
            rows.append([f"{delay * 1e3:g}", *(f"{seconds * 1e3:.1f}" for seconds in found)])
    print(table(["delay, ms", "ms an iteration", "computed meanwhile", "waited", "ms in turn"], rows))


if __name__ == "__main__":
    main()
