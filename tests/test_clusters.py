"""A peer in a process of its own: it takes turns with TGraph, its results are verified, and its faults are told."""

import json
import sys
from pathlib import Path

import pytest

import tgraph as tg

sys.path.append(str(Path(__file__).parents[1]))

from bench import clusters, measure, verify
from bench.arrays import Arrays
from bench.graphs import describe, store
from bench.kernels import KERNELS


@pytest.fixture
def served(tmp_path, monkeypatch):
    """igraph, from the environment of the tests, as if it had one of its own."""
    pytest.importorskip("igraph")
    monkeypatch.setattr(clusters, "environment", lambda name: Path(sys.executable))
    graph = tg.generators.rmat(6, 4, weighted=True)
    store(graph, describe("rmat-6", graph, 2), tmp_path)
    peer = clusters.Served.start("igraph", tmp_path, 1, tmp_path / "log")
    yield peer
    peer.stop()
    assert peer.process.returncode == 0


def test_systems_take_turns_and_are_verified(served, tmp_path):
    cells = clusters.compare(tmp_path, 1, [served], measure.Settings(repeat=1, budget=1))
    assert [(cell["kernel"], cell["system"]) for cell in cells] == [
        (kernel, system) for kernel in clusters.WANTED for system in ("tgraph", "igraph")
    ]
    assert all(cell["error"] is None and cell["blocks"] for cell in cells)
    assert clusters.markdown(cells).count("igraph") == 3


def test_a_wrong_result_and_a_fault_are_told(served, tmp_path):
    arrays = Arrays.load(tmp_path / "graph.npz")
    served.kernel, served.check = "bfs", KERNELS["wcc"].check(arrays, tmp_path)
    with pytest.raises(verify.WrongResult):
        served.timed(0)
    served.kernel = "no kernel"
    with pytest.raises(RuntimeError, match="KeyError"):
        served.timed(0)


def test_what_workers_log_is_read(tmp_path):
    log = tmp_path / "log"
    log.write_text("a] Query time: 0.5 seconds\nb] Query time: 1e-05 seconds\n")
    assert clusters.Served("graphscope", tmp_path, None, log).logged() == [0.5, 1e-05]
    assert clusters.Served("igraph", tmp_path, None, log).logged() == []


def test_a_peer_that_failed_is_reported():
    made = [
        {"kernel": kernel, "system": system, "blocks": {0: [0.001]} if system == "tgraph" else {}, "error": fault}
        | {"inside": []}
        for kernel in clusters.WANTED
        for system, fault in (("tgraph", None), ("graphx", "RuntimeError: no"))
    ]
    assert clusters.markdown(json.loads(json.dumps(made))).count("RuntimeError: no") == 3
