"""Prefetching: threads prepare batches ahead of the training loop."""

from __future__ import annotations

import contextvars
import copy
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

import torch
from torch import Tensor
from torch.utils.data.dataloader import _SingleProcessDataLoaderIter
from torch_geometric.loader.base import DataLoaderIterator

from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.pyg.edge_features import WithEdgeFeatures
from tgraph.pyg.epochs import IN_LOOP, Epoch, chance
from tgraph.stores.feature_store import FeatureStore

Prepare = Callable[[Any], Any]

PATIENCE = 2.0  # seconds to wait for threads in the middle of a batch, such as in a read from a store that hangs


class Prefetching:
    """A mixin of DataLoaders: threads prepare batches ahead, with random draws determined by the epoch.

    prefetch : number of batches prepared ahead, each by a thread of its own; 0 for none, as with workers, and None for
        `usual_prefetch`.
    transforms_ahead : whether threads call the transform. It may draw random numbers, or not be thread-safe, so the
        loop calls it unless it was meant for workers.
    epoch : the epoch of random draws.
    """

    prefetch: int | None = None
    transforms_ahead: bool = False
    epoch: Epoch | None = None

    def __iter__(self) -> Iterator[Any]:
        loader: Any = self
        if (drawing := self._drawing()) is not None:
            if self.epoch is None:
                self.epoch = Epoch(is_shared=loader.persistent_workers)
            self.epoch.begin(loader.generator)
            drawing.epoch = self.epoch
        if loader.persistent_workers and loader._iterator is not None:  # as the seed of new workers is drawn
            chance(loader.generator)
        return super().__iter__()  # type: ignore[misc]

    def _drawing(self) -> Any:
        """The object that draws batches by its `epoch`, None without random draws."""
        return self

    def _get_iterator(self) -> Any:
        loader: Any = self
        pins = loader.pin_memory and torch.accelerator.is_available()
        if not loader.num_workers:
            return _Ahead(loader, usual_prefetch(loader.data) if self.prefetch is None else self.prefetch, pins)
        found = super()._get_iterator()  # type: ignore[misc]
        if loader.persistent_workers:
            weakref.finalize(self, lambda queues: None, _queues(found))  # a reference until then
        return DataLoaderIterator(found, _pinned) if pins and hasattr(self, "filter_fn") else found


def _queues(iterator: Any) -> list[Any]:
    """The queues that end persistent workers. Unless referenced, the garbage collector closes them before the iterator
    puts its last message, and the iterator waits for seconds and kills the workers."""
    while isinstance(iterator, DataLoaderIterator):
        iterator = iterator.iterator
    return iterator._index_queues


def check_prefetch(prefetch: Any) -> int | None:
    """The argument `prefetch` of a loader. Raises ArgumentError for anything but an int >= 0, or None."""
    if prefetch is not None and (isinstance(prefetch, bool) or not isinstance(prefetch, int) or prefetch < 0):
        raise ArgumentError(f"prefetch: expected batches ahead, 0 for none, got {prefetch!r}")
    return prefetch


def usual_prefetch(data: Any) -> int:
    """The default of `prefetch`: 2 where the model leaves a core idle; 0 for data on a device, and for other libraries'
    stores, which may not be thread-safe."""
    if torch.get_num_threads() >= native.usable_cpus() and not torch.accelerator.is_available():
        return 0
    if isinstance(data, tuple):
        return 2 if isinstance(data[0], FeatureStore) else 0
    stores = getattr(data, "stores", [])
    tensors = (value for store in stores for value in store.values() if isinstance(value, Tensor))
    return 2 if all(tensor.device.type == "cpu" for tensor in tensors) else 0


class _Ahead(_SingleProcessDataLoaderIter):
    """The batches of a loader in order, `count` ahead. Threads hold no reference to this object, and end with it."""

    def __init__(self, loader: Any, count: int, pins: bool):
        own, transform = _without_transform(loader)
        super().__init__(own)
        join = None if getattr(own, "filter_per_worker", True) else own.filter_fn
        pin = _pinned if pins else None
        prepare = self._prepare = _composed(self._dataset_fetcher.fetch, join, pin if transform is None else None)
        self._epoch = None if loader.epoch is None else loader.epoch.number
        self._finish = _composed(transform, pin if transform is not None else None)
        self._waiting: deque[Future[Any]] = deque()
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._count, self._is_over = count, False
        self._threads = [
            threading.Thread(target=_work, args=(self._tasks, prepare), name=f"tgraph-loader-{i}", daemon=True)
            for i in range(count)
        ]
        self._end = weakref.finalize(self, _end, self._tasks, self._threads, self._waiting)
        for thread in self._threads:
            thread.start()

    def _next_data(self) -> Any:
        if not self._count:
            return self._finish(self._context().run(self._prepare, self._next_index()))
        self._submit()
        if not self._waiting:
            self._end()
            raise StopIteration
        batch = self._waiting.popleft().result()
        self._submit()
        return self._finish(batch)

    def _submit(self) -> None:
        """Submit the next batches to the threads."""
        while not self._is_over and len(self._waiting) < self._count:
            try:
                index = self._next_index()
            except StopIteration:
                self._is_over = True
                return
            future: Future[Any] = Future()
            self._waiting.append(future)
            self._tasks.put((future, self._context(), index))

    def _context(self) -> contextvars.Context:
        context = contextvars.copy_context()
        context.run(IN_LOOP.set, self._epoch)
        return context


def _without_transform(loader: Any) -> tuple[Any, Prepare | None]:
    """(the loader for threads, the transform for the loop or None)"""
    transform = getattr(loader, "transform", None)
    if transform is None or loader.transforms_ahead:
        return loader, None
    own = copy.copy(loader)
    own.transform = None
    if isinstance(transform, WithEdgeFeatures):
        own.transform, transform = WithEdgeFeatures(transform.features, None), transform.transform
    own.collate_fn = type(own).collate_fn.__get__(own)
    return own, transform


def _composed(*steps: Prepare | None) -> Prepare:
    """The composition of the steps that are not None."""
    given = [step for step in steps if step is not None]

    def call(batch: Any) -> Any:
        for step in given:
            batch = step(batch)
        return batch

    return call


def _work(tasks: SimpleQueue[Any], prepare: Prepare) -> None:
    """Prepare batches until the task None, on one core: other threads prepare the next ones, or compute the model."""
    native.hold_one_thread()
    for future, context, index in iter(tasks.get, None):
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(context.run(prepare, index))
            except BaseException as error:  # raised where the batch is taken
                future.set_exception(error)
        del future, context, index  # freed before the next task


def _end(tasks: SimpleQueue[Any], threads: list[threading.Thread], waiting: deque[Future[Any]]) -> None:
    for future in waiting:
        future.cancel()
    for _ in threads:
        tasks.put(None)
    latest = time.monotonic() + PATIENCE
    for thread in threads:
        if thread is not threading.current_thread():  # the garbage collector runs in any
            thread.join(max(latest - time.monotonic(), 0))


def _pinned(batch: Any) -> Any:
    return batch.pin_memory() if hasattr(batch, "pin_memory") else batch
