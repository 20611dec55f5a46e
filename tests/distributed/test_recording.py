"""The trace of a run on two ranks: what each computed, sent and waited for; and who shows the progress."""

import dataclasses
import io
import time
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks

import tgraph as tg
from tgraph.algorithms import BFS, SSSP, WCC, PageRank
from tgraph.distributed.ranks import transport
from tgraph.engine.tracing.records import Share
from tgraph.engine.tracing.trace import plot
from tgraph.errors import NotConvergedError

SLEEP = 0.2


class Largest(tg.Program):
    """The largest number of a neighbour, three times; the second rank is slow in the second iteration."""

    rounds = 3

    def init(self, graph):
        self.iteration = 0
        return torch.arange(graph.num_vertices), graph.everything()

    def compute(self, sub, values, active):
        self.iteration += 1
        if self.iteration == 2 and dist.get_rank() == 1:
            time.sleep(SLEEP)
        return tg.update(values, active, tg.aggregate(sub, values, "max"), torch.maximum)


def graph():
    return tg.generators.rmat(8, weighted=True, seed=1)


def source():
    return int(graph().out_degree.argmax())


def programs():
    """A search by bits, a relaxation in the order of buckets, affine steps, components, and a program of its own."""
    return [BFS(source()), SSSP(source()), PageRank(), WCC(), Largest()]


def as_rank():
    """What the tests below look at, of one rank."""
    spread = tg.distributed.spread(graph())
    runs = {}
    for program in programs():
        runs[type(program).__name__] = tg.run(program, spread, trace=True)
        assert transport._recorder.get() is None
    assert tg.run(BFS(source()), spread).trace is None
    with pytest.raises(NotConvergedError) as fault:
        tg.run(PageRank(), spread, trace=True, max_iterations=2)
    part, shown = spread.layout.part, io.StringIO()
    with redirect_stderr(shown):
        tg.run(BFS(source()), spread, progress=True)
    return {
        "iterations": {name: run.iterations for name, run in runs.items()},
        "traces": {name: run.trace for name, run in runs.items()},
        "stopped": fault.value.run.trace,
        "mirrored": len(part.copied),
        "mirrors": len(part.mirrors),
        "shown": shown.getvalue(),
    }


@pytest.fixture(scope="module")
def ranks():
    return on_ranks(2, as_rank)


NAMES = [type(program).__name__ for program in programs()]


@pytest.mark.parametrize("name", NAMES)
def test_every_iteration_of_every_rank_is_there(ranks, name):
    first, second = (rank["traces"][name] for rank in ranks)
    assert first.shares == second.shares and first.exchanges == second.exchanges
    count = ranks[0]["iterations"][name]
    assert [(share.iteration, share.rank) for share in first.shares] == [(i, r) for i in range(count) for r in (0, 1)]
    for share in first.shares:
        assert share.computing + share.waiting == pytest.approx(share.end - share.begin)
        assert share.computing > 0 and share.waiting > 0 and share.travelling > 0 and share.exchanges > 0
    for rank in (0, 1):
        own = [share for share in first.shares if share.rank == rank]
        assert own[0].begin == 0
        assert [share.end for share in own[:-1]] == [share.begin for share in own[1:]]


@pytest.mark.parametrize("name", NAMES)
def test_what_one_sends_the_other_receives(ranks, name):
    trace = ranks[0]["traces"][name]
    sent, received = ([each for each in trace.exchanges if each.rank == rank] for rank in (0, 1))
    assert [each.bytes_sent for each in sent] == [each.bytes_received for each in received]
    assert [each.bytes_received for each in sent] == [each.bytes_sent for each in received]
    assert sum(share.bytes_sent for share in trace.shares) == sum(each.bytes_sent for each in trace.exchanges) > 0
    for each in trace.exchanges:
        assert 0 <= each.travelling[0] <= each.waiting[0] <= each.waiting[1]
        assert each.travelling[0] <= each.travelling[1] <= each.waiting[1]


def test_affine_steps_send_a_value_for_each_mirror_and_three_sums(ranks):
    trace = ranks[0]["traces"]["PageRank"]
    for share in trace.shares[2:]:
        values = ranks[share.rank]["mirrored"], ranks[share.rank]["mirrors"]
        assert (share.bytes_sent, share.bytes_received) == tuple(4 * count + 3 * 8 for count in values)


def test_who_is_slow_computes(ranks):
    slow = next(share for share in ranks[0]["traces"]["Largest"].shares if (share.iteration, share.rank) == (1, 1))
    assert slow.computing > SLEEP


def test_a_run_that_has_not_converged_keeps_its_trace(ranks):
    assert [share.iteration for share in ranks[1]["stopped"].shares] == [0, 0, 1, 1]


def test_a_table_and_a_picture(ranks, tmp_path: Path):
    traces = ranks[1]["traces"]
    table = traces["SSSP"].by_rank()
    assert list(table.columns) == [field.name for field in dataclasses.fields(Share)]
    assert len(table) == 2 * len(traces["SSSP"])
    assert table.groupby("rank").bytes_sent.sum().sum() == sum(each.bytes_sent for each in traces["SSSP"].exchanges)
    plot({name: traces[name] for name in ("BFS", "PageRank")}, tmp_path / "ranks.png")
    traces["WCC"].plot(tmp_path / "one.svg")
    assert (tmp_path / "ranks.png").stat().st_size > 10_000
    assert all(said in (tmp_path / "one.svg").read_text() for said in ("<svg", "</svg>"))


def test_a_run_in_one_process_has_no_ranks():
    trace = tg.run(BFS(source()), graph(), trace=True).trace
    assert trace.shares == [] and len(trace.by_rank()) == 0
    assert list(trace.by_rank().columns) == [field.name for field in dataclasses.fields(Share)]


def test_the_first_rank_shows_the_progress(ranks):
    assert "BFS" in ranks[0]["shown"] and "iterations" in ranks[0]["shown"]
    assert ranks[1]["shown"] == ""
