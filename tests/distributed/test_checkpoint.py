"""Runs on several ranks that are killed again and again go on from their checkpoints, on any number of ranks."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
from ranks import on_ranks

import tgraph as tg
from tgraph.algorithms import BFS, HITS, SSSP, PageRank
from tgraph.distributed import gather, spread
from tgraph.distributed.checkpoint import SpreadKeeper
from tgraph.engine import compiled_loop


class Killed(Exception):
    """In place of the signal."""


MAKERS = {
    "pagerank": lambda: PageRank(tol=None, max_iterations=12),
    "bfs": lambda: BFS(0),
    "bfs of some hops": lambda: BFS(0, max_depth=4),
    "sssp": lambda: SSSP(1),
    "hits": lambda: HITS(tol=None, max_iterations=9),
}


def a_graph():
    random = torch.Generator().manual_seed(0)
    ends = torch.randint(0, 300, (2, 900), generator=random)
    return tg.Graph.from_edges(*ends, torch.rand(900, generator=random), num_vertices=300)


def go_on(folder, after):
    """For each program its values, or None where it was killed after so many offers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_loop, "SLICE", 0.0)
        return _go_on(folder, after, patch)


def _go_on(folder, after, patch):
    graph, found, offer = spread(a_graph()), {}, SpreadKeeper.offer
    for name, program in MAKERS.items():
        left = [after]

        def counted(self, latest, left=left):
            offer(self, latest)
            left[0] -= 1
            if not left[0]:
                raise Killed

        patch.setattr(SpreadKeeper, "offer", counted)
        try:
            checkpoint = tg.Checkpoint(f"{folder}/{name}", seconds=0)
            found[name] = gather(graph, tg.run(program(), graph, checkpoint=checkpoint).values)
        except Killed:
            found[name] = None
    return found


def test_other_numbers_of_ranks_go_on(tmp_path):
    kept = ["bfs", "hits", "pagerank", "sssp"]
    for ranks in (2, 3, 1):
        found = on_ranks(ranks, go_on, str(tmp_path), 2)
        assert all(each[name] is None for each in found for name in kept)
    for each in on_ranks(2, go_on, str(tmp_path), 10**6):
        for name, values in each.items():
            wanted = tg.run(MAKERS[name](), a_graph()).values
            wanted = torch.stack(list(wanted)) if isinstance(wanted, tuple) else wanted
            torch.testing.assert_close(values, wanted, rtol=1e-6, atol=1e-9)
    assert not list(tmp_path.iterdir())


# ---- ranks that are killed -------------------------------------------------------------------------------------------

RUN = """
import os, pathlib, sys, time
import torch, torch.distributed as dist
import tgraph as tg
from tgraph.algorithms import SSSP, PageRank

folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
dist.init_process_group("gloo")
(folder / f"rank{dist.get_rank()}.pid").write_text(str(os.getpid()))
graph = tg.distributed.open(folder / "graph.tg")
program = PageRank(tol=None, max_iterations=400) if name == "pagerank" else SSSP(0)
values = tg.run(program, graph, checkpoint=tg.Checkpoint(folder / "run.ckpt", seconds=0.05)).values
whole = tg.distributed.gather(graph, values)
if dist.get_rank() == 0:
    torch.save(whole, folder / "whole.pt")
dist.barrier()
"""


def kill_while_running(folder, name, kills, seconds, ranks=2):
    """Run the program under torchrun, kill random ranks after random times until it has come to its end, and return its
    values and how often a rank was killed."""
    (folder / "script.py").write_text(RUN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    command += [f"--max-restarts={kills + 1}", "--monitor-interval=0.1", str(folder / "script.py"), str(folder), name]
    chance, killed = random.Random(0), 0
    with (
        open(folder / "log", "w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"OMP_NUM_THREADS": "1"}) as job,
    ):
        while job.poll() is None:
            if killed < kills:
                killed += kill_one(folder / f"rank{chance.randrange(ranks)}.pid", chance.uniform(0, seconds))
            time.sleep(0.02)
    assert job.returncode == 0, (folder / "log").read_text()[-3000:]
    return torch.load(folder / "whole.pt"), killed


def kill_one(path, wait):
    """Kill the process whose number a file has, after so long; False where there is none, or it has ended meanwhile."""
    if not path.exists():
        return False
    time.sleep(wait)
    try:
        os.kill(int(path.read_text()), signal.SIGKILL)
    except (ProcessLookupError, ValueError):  # it has ended, or has not yet written its number
        return False
    path.unlink()
    return True


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kills"),
    [
        pytest.param("pagerank", 2, marks=pytest.mark.soak),
        pytest.param("pagerank", 20, marks=pytest.mark.soak),
        pytest.param("sssp", 20, marks=pytest.mark.soak),
    ],
)
def test_ranks_that_are_killed(tmp_path, name, kills):
    graph = tg.generators.grid2d(300, 300, weighted=True) if name == "sssp" else tg.generators.rmat(14, 8)
    tg.stream.write_partitioned(graph, tmp_path / "graph.tg", parts=2)
    values, killed = kill_while_running(tmp_path, name, kills, seconds=2.0)
    program = PageRank(tol=None, max_iterations=400) if name == "pagerank" else SSSP(0)
    assert killed
    torch.testing.assert_close(values, tg.run(program, graph).values, rtol=1e-6, atol=1e-9)
    assert not list(tmp_path.glob("run.ckpt*"))
