"""Threads of a store."""

import threading

from tgraph.dynamic.background import Worker


def test_writers_that_wake_a_worker_at_once_start_one_thread():
    """And none once it was stopped."""

    class Owner:
        """An owner of steps."""

        ran = 0

        def step(self):
            self.ran += 1
            return False

    for _ in range(20):
        owner, together = Owner(), threading.Barrier(8)
        worker = Worker(owner.step)

        def wake(worker=worker, together=together):
            together.wait()
            worker.wake()

        before = {thread for thread in threading.enumerate() if thread.name == "tgraph compaction"}
        writers = [threading.Thread(target=wake) for _ in range(8)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        started = {thread for thread in threading.enumerate() if thread.name == "tgraph compaction"} - before
        assert len(started) == 1
        worker.stop()
        worker.wake()
        assert not any(thread.is_alive() for thread in started)
