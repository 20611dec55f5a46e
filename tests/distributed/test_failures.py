"""What one rank fails of ends the others, with its message; what all fail of ends none."""

import os
import signal

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks

import tgraph as tg
from tgraph.algorithms import BFS, PageRank
from tgraph.distributed import spread, together
from tgraph.errors import ArgumentError, RankError

pytestmark = pytest.mark.fault


class Failing(tg.Program):
    """Fails on one rank, in `init` or in the third `compute`."""

    rounds = 9

    def __init__(self, rank, step):
        self.rank, self.step = rank, step

    def reach(self, step):
        if dist.get_rank() == self.rank and step == self.step:
            raise KINDS[step]("no such key")

    def init(self, graph):
        self.done = 0
        self.reach("init")
        return torch.ones(graph.num_vertices), graph.everything()

    def compute(self, sub, values, active):
        self.done += 1
        self.reach(f"compute {self.done}")
        return tg.update(values, active, tg.aggregate(sub, values, "sum"), lambda old, new: old + new)


KINDS = {"init": KeyError, "compute 3": ValueError, "compute 4": KeyboardInterrupt}


def ring():
    return spread(tg.Graph.from_edges(torch.arange(30), (torch.arange(30) + 1) % 30))


def fail(rank, step):
    graph, program = ring(), Failing(rank, step)
    try:
        tg.run(program, graph)
    except RankError as error:
        said = ("RankError", error.rank, error.said)
    except BaseException as error:
        said = (type(error).__name__,)
    with pytest.raises(RankError, match=r"broken since a failure \(.*no such key.*start the ranks anew"):
        tg.run(PageRank(), graph)  # who catches the exception cannot go on with this group
    return said


@pytest.mark.parametrize(
    ("rank", "step"),
    [(2, "compute 4"), *(pytest.param(*each, marks=pytest.mark.thorough) for each in [(1, "init"), (0, "compute 3")])],
)
def test_a_failure_ends_the_others(rank, step):
    found = on_ranks(3, fail, rank, step)
    for number, said in enumerate(found):
        if number == rank:
            assert said == (KINDS[step].__name__,)
        else:
            assert said[:2] == ("RankError", rank) and "no such key" in said[2]


def chain():
    """Rank 2 waits for rank 1 alone, and rank 1 for rank 0, which fails."""
    try:
        with together():
            if dist.get_rank() == 0:
                raise ValueError("at the beginning")
            dist.recv(torch.zeros(1), src=dist.get_rank() - 1)
    except (ValueError, RankError) as error:
        return str(error)


def test_it_reaches_ranks_that_do_not_wait_for_the_one_that_failed():
    assert ["at the beginning" in said for said in on_ranks(3, chain)] == [True] * 3


def lose():
    rank, graph = dist.get_rank(), ring()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(RankError, match="rank 1 was lost without a message: killed") as error:
        tg.run(PageRank(), graph)
    return error.value.rank, error.value.said


def test_a_rank_that_is_killed_is_named():
    with pytest.raises(AssertionError) as error:
        on_ranks(3, lose)
    assert "rank 1: it left nothing behind" in str(error.value) and "rank 0" not in str(error.value)


def disagree():
    graph, rank, said = ring(), dist.get_rank(), []
    for run in (
        lambda: tg.run(PageRank(damping=0.85 if rank else 0.5), graph),
        lambda: tg.run(PageRank() if rank else BFS(0), graph),
        lambda: tg.run(PageRank(), graph, max_iterations=40 + rank),
        lambda: tg.run(BFS(0), graph, mode="sideways"),
        lambda: tg.run(BFS(0), graph, max_iterations=2),
    ):
        with pytest.raises((ArgumentError, tg.errors.NotConvergedError)) as error:
            run()
        said.append(str(error.value))
    return said, float(tg.algorithms.pagerank(graph).sum())  # the group lives on


def test_ranks_that_run_different_programs_notice():
    for said, total in on_ranks(2, disagree):
        assert "its damping is 0.5 on rank 0 and 0.85 on rank 1" in said[0]
        assert "BFS on rank 0" in said[1] and "PageRank on rank 1" in said[1]
        assert "max_iterations is 40 on rank 0 and 41 on rank 1" in said[2]
        assert "sideways" in said[3] and "not converged" in said[4]
        assert total == pytest.approx(1, abs=1e-4)
