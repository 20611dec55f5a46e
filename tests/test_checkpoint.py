"""Runs that are killed again and again and go on from their checkpoints give what runs give that were left alone."""

import os
import random
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import Any, graphs, grid, random_graph

import tgraph as tg
from tgraph import fused
from tgraph.algorithms import BFS, HITS, SSSP, WCC, PageRank
from tgraph.checkpoint import Keeper
from tgraph.errors import ArgumentError, FileFormatError, NotConvergedError
from tgraph.io import sealed, state, whole
from tgraph.stream import fixpoint
from tgraph.stream.opening import within


class Killed(Exception):
    """In place of the signal, for tests in one process."""


@pytest.fixture
def killing(monkeypatch):
    """A function that lets runs be killed: the first after one iteration, or slice of a loop, each of which is written,
    the second after two more, and so on, so that all come to their end."""
    monkeypatch.setattr(fused, "SLICE", 0.0)
    monkeypatch.setattr(fixpoint, "SLICE", 0.0)
    offer = Keeper.offer

    def arm(first=1):
        after = [first, first]

        def counted(self, latest):
            offer(self, latest)
            after[0] -= 1
            if not after[0]:
                after[1] += 1
                after[0] = after[1]
                raise Killed

        monkeypatch.setattr(Keeper, "offer", counted)

    return arm


def until_done(make, graph, path, **options):
    """The Run of a program that is begun anew after every kill, and how often it was killed."""
    kills = 0
    while True:
        try:
            run = tg.run(make(), graph, checkpoint=tg.Checkpoint(path, seconds=0), **options)
        except Killed:
            kills += 1
            assert path.exists() and kills < 1000
        else:
            assert not path.exists() and not list(path.parent.glob(".*"))
            return run, kills


def assert_alike(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name in expected:
            assert_alike(found[name], expected[name])
    else:
        assert found.dtype == expected.dtype and torch.equal(found, expected)


class Spreading(tg.Program):
    """Sums that go out from two vertices over a frontier, with attributes of every plain kind that change on the way,
    and first values that are others every time."""

    def __init__(self, rounds=6):
        self.rounds = rounds

    def init(self, graph):
        self.left, self.history, self.seen = self.rounds, {"sizes": [2], 0: (None, True)}, np.zeros(2)
        self.factor = torch.tensor(0.5)
        self.kept = object()
        values = torch.zeros(graph.num_vertices)
        return {"mass": values.index_fill(0, torch.tensor([0, 1]), 1), "noise": torch.rand(graph.num_vertices)}, (
            graph.select([0, 1])
        )

    def compute(self, sub, values, active):
        received = tg.aggregate(sub, values["mass"], "sum")
        mass, changed = tg.update(values["mass"], active, received, lambda old, new: old + self.factor * new)
        self.left, self.factor = self.left - 1, self.factor * 0.7
        self.history["sizes"].append(len(changed))
        self.seen = self.seen + [1, len(active)]
        return {"mass": mass, "noise": values["noise"]}, changed

    def finish(self, values):
        assert isinstance(self.seen, np.ndarray) and self.history[0] == (None, True)
        sizes = torch.tensor([*self.history["sizes"], self.left, *self.seen.tolist()], dtype=torch.float64)
        return {"mass": values["mass"], "sizes": sizes}


MAKERS = {
    "pagerank": PageRank,
    "pagerank of some": lambda: PageRank(personalization={0: 1, 3: 2}, dangling="ignore", tol=1e-7, dtype=torch.float64),
    "pagerank by blocks": lambda: PageRank(method="gauss-seidel"),
    "pagerank by weights": lambda: PageRank(weighted=True, tol=None, max_iterations=7),
    "hits": lambda: HITS(tol=None, max_iterations=9),
    "bfs": lambda: BFS(3),
    "bfs of several": lambda: BFS([0, 5, 7]),
    "bfs of three hops": lambda: BFS(np.array([0]), max_depth=3),
    "sssp": lambda: SSSP(1),
    "sssp of several": lambda: SSSP(torch.tensor([1, 2])),
    "wcc": WCC,
    "sums": Spreading,
}
GRAPHS = {
    "directed": lambda: random_graph(60, 300, dtype=torch.float32),
    "grid": lambda: grid(7, 9, torch.int32),
    "streamed": lambda: within(random_graph(1000, 5000, dtype=torch.float32), "100kB", None),
    "compressed": lambda: random_graph(60, 300, dtype=torch.float32).to_format("csr", narrow=True),
}


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("backend", ["auto", "portable"])
def test_killed_again_and_again(tmp_path, killing, name, kind, backend):
    graph = GRAPHS[kind]()
    expected = tg.run(MAKERS[name](), graph, backend=backend)
    killing()
    found, kills = until_done(MAKERS[name], graph, tmp_path / "run.ckpt", backend=backend)
    assert kills
    assert_alike(found.values, expected.values)
    assert found.residual == expected.residual and found.converged
    if kind != "streamed" and name != "sssp":  # the order of blocks and buckets is theirs
        assert found.iterations == expected.iterations
