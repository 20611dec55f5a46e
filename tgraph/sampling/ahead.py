"""Prefetching: threads prepare batches of any kind ahead of the training loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from tgraph.core.system import native
from tgraph.errors import ArgumentError

Item = TypeVar("Item")
Batch = TypeVar("Batch")


def ahead(prepare: Callable[[Item], Batch], items: Iterable[Item], count: int = 2) -> Iterator[Batch]:
    """prepare(item) of each of the `items` in order, with `count` of them prepared ahead, each by a thread of its own.

        def prepare(given):
            number, seeds = given
            batch = sampler.sample(seeds, draw=number)
            return batch, store.get_rows(features, batch.node)

        for batch, x in tg.sampling.ahead(prepare, enumerate(seeds.split(1024))):
            ...

    A store on the disk reads for several batches at the same time, and sampling, reading and training overlap. Each
    thread computes on one core and ends with the iterator. With `count` 0 the loop calls `prepare` itself. An error of
    `prepare` is raised in place of its batch. Raises ArgumentError for a count below 0.

    >>> sampler = tg.sampling.NeighborSampler(tg.generators.cycle(6), [1], seed=7)
    >>> def prepare(given):
    ...     number, seeds = given
    ...     return sampler.sample(seeds, draw=number)
    >>> [len(batch.row) for batch in tg.sampling.ahead(prepare, enumerate(torch.arange(6).split(2)))]
    [2, 2, 2]
    """
    if count < 0:
        raise ArgumentError(f"count: expected batches ahead, 0 for none, got {count}")
    return _ahead(prepare, items, count) if count else map(prepare, items)


def _ahead(prepare: Callable[[Item], Batch], items: Iterable[Item], count: int) -> Iterator[Batch]:
    waiting: deque[Future[Batch]] = deque()
    with ExitStack() as at_end:
        pool = ThreadPoolExecutor(count, "tgraph-ahead", initializer=native.hold_one_thread)
        at_end.callback(pool.shutdown, cancel_futures=True)
        for item in items:
            waiting.append(pool.submit(prepare, item))
            if len(waiting) > count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
