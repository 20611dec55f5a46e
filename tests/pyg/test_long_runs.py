"""2,000 batches take no more memory, files and threads than a few, and workers no memory for the graph."""

import json
import subprocess
import sys

import pytest
import torch

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

HEAD = """
import gc, json, os, sys, threading
import psutil, torch
from torch_geometric.data import Data
from tgraph import nn
from tgraph.pyg import NeighborLoader

def processes():
    return [psutil.Process(), *psutil.Process().children(recursive=True)]

def data(vertices, arcs, columns):
    return Data(x=torch.rand(vertices, columns), edge_index=torch.randint(vertices, (2, arcs)))
"""

# Epochs of 200 batches of about 1 MB each; a layer computes with every eighth. In MB, of all processes together.
RUN = """
if __name__ == "__main__":
    loader = NeighborLoader(data(20_000, 400_000, 32), [10, 5], batch_size=100, shuffle=True, **json.loads(sys.argv[1]))
    layer, found = nn.SAGEConv(32, 8), []
    for epoch in range(11):
        for number, batch in enumerate(loader):
            if number % 8 == 0:
                layer(batch.x, batch.edge_index).sum().backward()
        del batch
        gc.collect()
        memory = sum(process.memory_info().rss for process in processes()) / 1e6
        found.append((memory, psutil.Process().num_fds(), threading.active_count(), len(processes())))
    print(json.dumps(found))
"""

# Proportional set sizes: memory that processes share counts once.
SHARED = """
if __name__ == "__main__":
    torch.manual_seed(1)
    loader = NeighborLoader(data(1_000_000, 6_000_000, 32), [5], batch_size=100, **json.loads(sys.argv[1]))
    batches = iter(loader)
    vertices = [next(batches).n_id.sum().item() for _ in range(20)]
    own = [process.memory_full_info() for process in processes()]
    print(json.dumps([sum(each.pss for each in own) / 1e6, len(own), vertices]))
"""


def run(script, **options):
    command = [sys.executable, "-c", HEAD + script, json.dumps(options)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout)


@pytest.mark.parametrize(
    "options",
    [{"prefetch": 0}, {"prefetch": 2}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True}],
    ids=str,
)
def test_memory_files_and_threads_stay_the_same(options):
    found = run(RUN, **options)
    memory = torch.tensor([each[0] for each in found])[1:]  # without what the first epoch takes for good
    print(options, memory.tolist(), found[-1])
    early, late = memory[:5], memory[5:]
    assert float(late.mean() - early.mean()) < 2 + float(early.max() - early.min())
    assert len({tuple(each[1:]) for each in found[1:]}) == 1


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_workers_have_no_graph_of_their_own(context):
    """The graph and its features take 230 MB and more; workers that import torch anew, 300 MB each without any."""
    alone, _, expected = run(SHARED, prefetch=0)
    beside, count, found = run(SHARED, num_workers=2, multiprocessing_context=context)
    print(context, alone, beside)
    assert count >= 3 and found == expected
    assert beside - alone < 2 * (40 if context == "fork" else 400)
