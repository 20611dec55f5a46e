"""Runs on several ranks that are killed again and again go on from their checkpoints, on any number of ranks."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from ranks import on_ranks

import tgraph as tg
from tgraph.algorithms import BFS, HITS, SSSP, PageRank
from tgraph.distributed import gather, spread
from tgraph.distributed.programs.checkpoint import SpreadKeeper
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


def go_on(folder, after, device="cpu"):
    """For each program its values, or None where it was killed after so many offers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_loop, "SLICE", 0.0)
        return _go_on(folder, after, patch, device)


def _go_on(folder, after, patch, device):
    graph, found, offer = spread(a_graph().to(device)), {}, SpreadKeeper.offer
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
import pathlib, sys
import torch, torch.distributed as dist
import tgraph as tg
from test_checkpoint import LONG

folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
tg.distributed.init_process_group("gloo")
graph = tg.distributed.open(folder / "graph.tg")
(folder / "begun").touch()
values = tg.run(LONG[name](), graph, checkpoint=tg.Checkpoint(folder / "run.ckpt", seconds=0.05)).values
whole = tg.distributed.gather(graph, values)
if dist.get_rank() == 0:
    torch.save(whole, folder / "whole.pt")
dist.barrier()
dist.destroy_process_group()
"""

# All but the first take seconds: thousands of rounds.
LONG = {
    "hits": lambda: HITS(tol=None, max_iterations=300),
    "pagerank": lambda: PageRank(tol=None, max_iterations=2000),
    "bfs": lambda: BFS(0),
    "sssp": lambda: SSSP(0),
}


def kill_while_running(folder, name, kills, ranks):
    """Run the program under torchrun, kill random ranks at random moments, and return its values and how often a rank
    was killed. Of the moments half are in the few seconds in which ranks begin, half in the run itself."""
    (folder / "script.py").write_text(RUN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    command += [f"--max-restarts={kills}", "--monitor-interval=0.1", str(folder / "script.py"), str(folder), name]
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    chance, killed = random.Random(0), 0
    with (
        open(folder / "log", "w") as log,
        subprocess.Popen(
            command, stdout=log, stderr=log, env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
        ) as job,
    ):
        while job.poll() is None and killed < kills:
            if chance.random() < 0.5:
                wait(job, lambda: workers(job))
                time.sleep(chance.uniform(0, 4))
            else:
                wait(job, (folder / "begun").exists)
                time.sleep(chance.uniform(0, 0.5))
            killed += kill_one(workers(job), chance)
            (folder / "begun").unlink(missing_ok=True)
        job.wait()
    assert job.returncode == 0, (folder / "log").read_text()[-3000:]
    return torch.load(folder / "whole.pt"), killed


def wait(job, until):
    while job.poll() is None and not until():
        time.sleep(0.02)


def workers(job):
    """The numbers of the processes that torchrun has started and that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == job.pid and state != "Z":
                found.append(int(path.parent.name))
    return found


def kill_one(processes, chance):
    """Kill one of them; False where there is none, or it has ended meanwhile."""
    try:
        os.kill(chance.choice(processes), signal.SIGKILL)
    except (ProcessLookupError, IndexError):
        return False
    return True


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes of torchrun are found in /proc")
@pytest.mark.parametrize(
    ("name", "ranks", "kills"),
    [
        pytest.param("hits", 2, 2, marks=pytest.mark.soak),
        pytest.param("pagerank", 2, 20, marks=pytest.mark.soak),
        pytest.param("pagerank", 4, 20, marks=pytest.mark.soak),
        pytest.param("sssp", 3, 20, marks=pytest.mark.soak),
        pytest.param("bfs", 4, 20, marks=pytest.mark.soak),
    ],
)
def test_ranks_that_are_killed(tmp_path, name, ranks, kills):
    if name in ("hits", "pagerank"):
        graph = tg.generators.rmat(12, 8)
    else:
        graph = tg.generators.grid2d(8, 2000, weighted=name == "sssp")
    tg.stream.write_partitioned(graph, tmp_path / "graph.tg", parts=ranks)
    values, killed = kill_while_running(tmp_path, name, kills, ranks)
    assert killed
    torch.testing.assert_close(values, tg.run(LONG[name](), graph).values, rtol=1e-6, atol=1e-9)
    assert not list(tmp_path.glob("run.ckpt*"))
