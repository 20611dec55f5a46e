"""Which runs are merged when."""

import random
import threading

import pytest
import torch

from tgraph.dynamic import compaction
from tgraph.dynamic.runs import Run, Schema, sorted_run

SCHEMA = Schema("keep", {})


def run(size):
    vertices = torch.arange(size, dtype=torch.int32)
    return sorted_run(SCHEMA, vertices, vertices, (), True)


@pytest.mark.parametrize("sizes", [(1,), (900,), (1, 30, 700), (3000,), (1, 3000), (20, 500, 20_000)])
def test_runs_stay_few_and_no_change_is_merged_often(sizes):
    """As the writer and the thread merge them in turn: a few for each power of the fan-out, whatever sizes mix."""
    choose, runs, written = random.Random(1), (), 0
    for _ in range(700):
        runs = compaction.merged_tail(SCHEMA, (*runs, run(choose.choice(sizes))))
        while (chosen := compaction.mergeable(runs[: compaction.stable(runs)])) is not None:
            merged = compaction.merged(SCHEMA, runs[slice(*chosen)])
            runs, written = (*runs[: chosen[0]], merged, *runs[chosen[1] :]), written + merged.size
    levels = sum(part.size for part in runs).bit_length() // 4 + 1
    assert len(runs) <= 2 * compaction.FANOUT * levels
    assert written <= levels * sum(part.size for part in runs)


def test_where_there_are_enough_runs_all_are_merged():
    runs = tuple(run(3) for _ in range(compaction.FANOUT**2 + 1))
    found = compaction.merged_all(lambda chosen: compaction.merged(SCHEMA, chosen), runs)
    assert [part.size for part in found] == [3 * compaction.FANOUT**2, 3]
    assert compaction.merged_all(lambda chosen: chosen[0], found) is found


def test_the_thread_leaves_runs_alone_that_a_writer_may_merge():
    """So that what it makes of the others is not in vain."""
    small, large = Run(torch.zeros(9, dtype=torch.int64), (), 1), run(compaction.LARGE + 1)
    for runs in ((small,), (large, small, large), (large, small, small), (small,) * 15):
        merged = compaction.merged_tail(SCHEMA, (*runs, small))
        stable = compaction.stable(runs)
        assert merged[:stable] == runs[:stable]
        assert stable == 0 or runs[stable - 1] is large


def test_writers_that_wake_it_at_once_start_one_thread():
    """And none once it was stopped."""

    class Owner:
        """What the steps are of."""

        ran = 0

        def step(self):
            self.ran += 1
            return False

    for _ in range(20):
        owner, together = Owner(), threading.Barrier(8)
        compactor = compaction.Compactor(owner.step)

        def wake(compactor=compactor, together=together):
            together.wait()
            compactor.wake()

        before = {thread for thread in threading.enumerate() if thread.name == "tgraph compaction"}
        writers = [threading.Thread(target=wake) for _ in range(8)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        started = {thread for thread in threading.enumerate() if thread.name == "tgraph compaction"} - before
        assert len(started) == 1
        compactor.stop()
        compactor.wake()
        assert not any(thread.is_alive() for thread in started)
