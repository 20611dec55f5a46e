"""Ranks with a network of their own each, one that delays and loses, compute what one process does."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch

import tgraph as tg
from bench.network import Network

pytestmark = [pytest.mark.slow, pytest.mark.thorough]
ROOT = Path(__file__).parents[2]

RANK = """
import sys
import torch, torch.distributed as dist
import tgraph as tg

torch.set_num_threads(1)
tg.distributed.init_process_group("gloo", timeout=120)
graph = tg.distributed.open(sys.argv[1])
own = graph.layout.ownership
data, layer = torch.load(sys.argv[2])
conv = tg.nn.GCNConv(8, 4)
conv.load_state_dict(layer)
found = {
    "pagerank": tg.algorithms.pagerank(graph),
    "bfs": tg.algorithms.bfs(graph, 0),
    "components": tg.algorithms.wcc(graph),
    "sssp": tg.algorithms.sssp(graph, 0),
    "layer": conv(own.own(data), graph).detach(),
}
whole = {name: tg.distributed.gather(graph, values) for name, values in found.items()}
if own.rank == 0:
    torch.save(whole, sys.argv[3])
dist.destroy_process_group()
"""


def whole(graph, data, conv):
    """What one process computes."""
    return {
        "pagerank": tg.algorithms.pagerank(graph),
        "bfs": tg.algorithms.bfs(graph, 0),
        "components": tg.algorithms.wcc(graph),
        "sssp": tg.algorithms.sssp(graph, 0),
        "layer": conv(data, graph).detach(),
    }


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """(folder with the files for the ranks, what one process computes)"""
    folder = tmp_path_factory.mktemp("network")
    torch.manual_seed(0)
    ends = (torch.rand(2, 12000) ** 2 * 2000).long()
    graph = tg.Graph.from_edges(*ends, torch.randint(1, 50, (12000,)).float(), num_vertices=2000, directed=False)
    data, conv = torch.randn(graph.num_vertices, 8), tg.nn.GCNConv(8, 4)
    tg.stream.write_partitioned(graph, folder / "graph.tg", parts=3)
    torch.save((data, conv.state_dict()), folder / "layer.pt")
    return folder, whole(graph, data, conv)


@pytest.mark.parametrize(("delay", "loss"), [(0, 0), (0.005, 0.005)], ids=["plain", "late and lossy"])
def test_ranks_in_namespaces(prepared, delay, loss):
    folder, wanted = prepared
    command = [sys.executable, "-c", RANK, *(str(folder / name) for name in ("graph.tg", "layer.pt", "whole.pt"))]
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    with ExitStack() as stack:
        try:
            network = stack.enter_context(Network(3, delay, loss))
        except OSError as refused:
            pytest.skip(f"the system allows no networks: {refused}")
        ranks = [network.start(rank, command, env=environment, stderr=subprocess.PIPE) for rank in range(3)]
        said = [rank.communicate(timeout=300)[1] for rank in ranks]
    assert not any(rank.returncode for rank in ranks), "\n".join(said)
    found = torch.load(folder / "whole.pt")
    (folder / "whole.pt").unlink()
    for name in ("bfs", "components", "sssp"):
        assert torch.equal(found[name], wanted[name]), name
    torch.testing.assert_close(found["pagerank"], wanted["pagerank"], rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(found["layer"], wanted["layer"], rtol=1e-5, atol=1e-5)
