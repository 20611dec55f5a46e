"""The pipeline: threads load blocks into a few buffers while earlier blocks are computed on.

The next block is chosen one step ahead, as late as the overlap of compute and I/O allows, so that the choice can depend
on the newest activity. Buffers are a cache: a block in a buffer is not loaded again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from tgraph.core.system import native
from tgraph.engine import together
from tgraph.engine.tracing.records import Visit
from tgraph.errors import MemoryBudgetError
from tgraph.stream.file.blocks import Block
from tgraph.stream.memory import page_aligned
from tgraph.stream.run.budget import budget_for
from tgraph.stream.run.loading import Loaded, Loader

# Blocks requested ahead of the one being computed on. One keeps the loader busy where loading and
# computing take about the same time; a second one evens out differences between blocks.
AHEAD = 2

Choose = Callable[[Collection[int], Collection[int]], "int | None"]


@dataclass
class Counts:
    """Totals of a pipeline: visits to blocks, how many of these were loads, bytes loaded, and seconds: during which at
    least one block was being loaded, during which one was computed on, and from end to end."""

    visits: int = 0
    loads: int = 0
    nbytes: int = 0
    loading: float = 0.0
    computing: float = 0.0
    elapsed: float = 0.0

    @property
    def overlap(self) -> float:
        """The overlap of compute and I/O: how much of the shorter was hidden by the longer, 0 to 1; 1 without any."""
        shorter = min(self.loading, self.computing)
        hidden = self.loading + self.computing - self.elapsed
        return min(1.0, max(0.0, hidden / shorter)) if shorter else 1.0

    def __str__(self) -> str:
        return (
            f"{self.visits:,} blocks, {self.loads:,} of them loaded ({self.nbytes / 1e6:,.1f} MB), "
            f"{self.overlap:.0%} overlap"
        )

    def since(self, before: Counts) -> Counts:
        """The difference to `before`, an earlier copy."""
        return Counts(*(getattr(self, name) - getattr(before, name) for name in self.__dataclass_fields__))

    def copy(self) -> Counts:
        """These counts as they are now."""
        return self.since(Counts())


class Buffer:
    """A buffer for one block. `block` is the number of the block it holds once `loaded` is done; `used` is the time, in
    requests, of its last request."""

    memory: Tensor

    __slots__ = ("block", "host", "loaded", "memory", "ready", "used")

    def __init__(self, nbytes: int, device: torch.device):
        self.block: int | None = None
        self.loaded: Loaded | None = None
        self.used: int = 0
        self.ready: Any = None  # on CUDA: the event after the copy
        self.host: Tensor = page_aligned(nbytes) if device.type == "cpu" else _pinned(nbytes)
        self.memory = self.host if device.type == "cpu" else torch.empty(nbytes, dtype=torch.uint8, device=device)


class Pipeline:
    """Visits to the blocks of a source, within a memory budget.

    source : a `BlockFile`. memory : bytes, of which `reserved` are not for buffers. There are as many buffers as fit
        the rest (no more than there are blocks), each of the size of the largest block. device : the device that
        computes; for one other than the CPU blocks are loaded into pinned memory and copied on a separate stream.

    Visits by several threads take turns.
    """

    reserved: int
    capacity: int

    def __init__(self, source: Any, memory: int, device: torch.device):
        self.source: Any = source
        self.memory: int = memory
        self.device: torch.device = device
        self.counts: Counts = Counts()
        self.capacity = self.reserved = 0
        self._buffers: list[Buffer] = []
        self._cached: dict[int, Buffer] = {}
        self._clock = 0
        self._turn = threading.Lock()
        self.size: int | Any = 0
        self.measure()
        self._loader = Loader()
        self._loaded_until = 0.0
        self._recorders: list[tuple[Any, list[Visit]]] = []
        self.served: list[Any] = []  # the calls of a `tgraph.together` that the last block served
        self._fixed = self._runtime = 0
        self._states = WeakKeyDictionary[Any, int]()  # bytes of the run of each of them
        self._copies: Any = None if device.type == "cpu" else torch.Stream(device)

    def measure(self) -> None:
        """Read the sizes of the blocks of the source: at the start, and after it has got more blocks."""
        index = self.source.index
        self._nonempty = [number for number, extent in enumerate(index) if extent.end_arc > extent.first_arc]
        size = max((index[number].nbytes for number in self._nonempty), default=0)
        if size != self.size:
            self.release()
            self.size = size

    def reserve(self, nbytes: int, runtime: int = 0, state: int = 0) -> None:
        """Reserve bytes, and those of the runtime, outside the buffers. Raises MemoryBudgetError where the rest holds
        no block.

        state : further bytes, of a run; in a call of `tgraph.together` beside those of the other calls, once there is
            room for them.
        """
        call = together.current()
        if call is None:
            nbytes += state
            self._states.clear()
        else:
            self._states.pop(call, None)
            call.wait_until(lambda: self._has_room(nbytes + runtime + state), for_memory=True)
            self._states[call] = state
        self._fixed, self._runtime = nbytes, runtime
        self.fit()

    def _has_room(self, needed: int) -> bool:
        """Whether a run that needs so much goes along with those that go on: unless all blocks stay in memory beside it
        alone, if buffers enough are left to load while blocks are computed on."""
        free, blocks = self.memory - needed, len(self._nonempty)
        return not self.states or (
            free < blocks * self.size and free - self.states >= min(AHEAD + 1, blocks) * self.size
        )

    @property
    def states(self) -> int:
        """Bytes of the runs of a `tgraph.together` that go on."""
        return sum(held for call, held in self._states.items() if call.goes_on)

    def fit(self) -> None:
        """As many buffers as there is memory for beside what is reserved for runs that go on. Raises MemoryBudgetError
        where there is none for one."""
        nbytes = self._fixed + self.states
        taken = nbytes + self._runtime
        if taken + self.size > self.memory:
            what = "the data of the vertices" if taken > self.memory else "a block beside the data of the vertices"
            remedy = "give more" if taken > self.memory else "give more, or partition the graph into more blocks"
            raise MemoryBudgetError(what, budget_for(nbytes + self.size), self.memory, remedy)
        with self._turn:
            self.reserved = taken
            self.capacity = min(len(self._nonempty), (self.memory - taken) // self.size) if self._nonempty else 0
            for buffer in self._buffers[self.capacity :]:
                self._forget(buffer)
            del self._buffers[self.capacity :]

    # ---- recording and memory ----------------------------------------------------------------------------------------

    @contextmanager
    def recording(self) -> Iterator[list[Visit]]:
        """A list that every visit is added to while the `with` block lasts; in a call of `tgraph.together` those that
        serve it."""
        visits: list[Visit] = []
        self._recorders.append((together.current(), visits))
        try:
            yield visits
        finally:
            self._recorders = [each for each in self._recorders if each[1] is not visits]

    def release(self) -> None:
        """Free all buffers, until the next visit."""
        with self._turn:
            self._cached.clear()
            self._buffers.clear()

    # ---- visits ------------------------------------------------------------------------------------------------------

    def visit_all(self, blocks: Collection[int], work: Callable[[Block], None], in_order: bool = False) -> None:
        """Call work(block) once for each of the blocks: first the cached ones, then the others in order, or all in
        order.

        The block that was computed on last is evicted first, so that the others pass through a few buffers, which stay
        in the caches of the processor, and the rest of the buffers keep their blocks from pass to pass.
        """
        order = list(blocks)
        if not in_order:
            order.sort(key=lambda block: -self._cached[block].used if block in self._cached else 1)
        place, coming = {block: place for place, block in enumerate(order)}, iter(order)
        self.visit(lambda queued, cached: next(coming, None), work, lambda block: -place.get(block, 0), fixed=True)

    def visit(
        self,
        choose: Choose,
        work: Callable[[Block], None],
        value: Callable[[int], float] = lambda block: 0.0,
        fixed: bool = False,
    ) -> None:
        """Call work(block) for one block after another, until choose(queued, cached) gives None with nothing queued.

        choose : the block to request next, given the blocks that are `queued` (and must not be chosen) and those that
            are `cached`. value : the priority of a cached block; the lowest is evicted first, of equals the least
            recently requested. fixed : whether the choice is independent of the computation, so that cached blocks may
            be chosen any number of steps ahead, and the loader need not wait for them.

        Exceptions of the loader are raised here; nothing is being loaded afterwards.
        """
        with self._turn:
            start, queue = time.perf_counter(), deque[Buffer]()
            try:
                while True:
                    self._fill(queue, choose, value, fixed)
                    if not queue:
                        return
                    self._compute(queue.popleft(), work)
            finally:
                self._loader.drain()
                for buffer in queue:
                    self._drop_unloaded(buffer)
                self.counts.elapsed += time.perf_counter() - start

    def _fill(self, queue: deque[Buffer], choose: Choose, value: Callable[[int], float], fixed: bool) -> None:
        """Request blocks until AHEAD are queued, or no buffer is left."""
        while len(queue) < max(self.capacity, 1):
            ahead = sum(buffer.loaded is not None for buffer in queue) if fixed else len(queue)
            if ahead > AHEAD:
                return
            queued = [buffer.block for buffer in queue if buffer.block is not None]
            block = choose(queued, self._cached)
            if block is None:
                return
            self._clock += 1
            buffer = self._cached.get(block)
            if buffer is None:
                buffer = self._free(queue, value)
                buffer.block, self._cached[block] = block, buffer
                buffer.loaded = self._loader.submit(partial(self._fetch, buffer), partial(self._finish, buffer))
            buffer.used = self._clock
            queue.append(buffer)

    def _free(self, queue: deque[Buffer], value: Callable[[int], float]) -> Buffer:
        """A buffer without a queued block; the block in it is evicted."""
        if len(self._buffers) < self.capacity:
            self._buffers.append(Buffer(self.size, self.device))
            return self._buffers[-1]
        idle = [buffer for buffer in self._buffers if buffer not in queue]
        unused = [buffer for buffer in idle if buffer.block is None]
        chosen = unused[0] if unused else min(idle, key=lambda buffer: (value(int(buffer.block or 0)), buffer.used))
        self._forget(chosen)
        return chosen

    def _forget(self, buffer: Buffer) -> None:
        if buffer.block is not None:
            self._cached.pop(buffer.block, None)
        buffer.block = buffer.loaded = None

    def _drop_unloaded(self, buffer: Buffer) -> None:
        """Drop a queued block unless it was loaded."""
        loaded = buffer.loaded
        if loaded is not None and (loaded.cancelled() or not loaded.done() or loaded.exception() is not None):
            self._forget(buffer)

    def _compute(self, buffer: Buffer, work: Callable[[Block], None]) -> None:
        """Wait for a block and call `work` on it."""
        block = int(buffer.block or 0)
        loading, buffer.loaded = buffer.loaded, None
        late = loading is not None and not loading.done()
        try:
            times = None if loading is None else loading.result()
        except BaseException:
            self._forget(buffer)
            raise
        if buffer.ready is not None:
            torch.accelerator.current_stream(self.device).wait_event(buffer.ready)
        start = time.perf_counter()
        # I/O-bound, where blocks arrive late: the loader and the driver of the disk need a core.
        with native.one_thread_less() if late else nullcontext():
            work(self.source.views(block, buffer.memory))
        if self.device.type != "cpu":
            torch.accelerator.synchronize(self.device)  # the buffer may be overwritten from here on
        self._count(block, times, (start, time.perf_counter()))

    def _count(self, block: int, loading: tuple[float, float] | None, computing: tuple[float, float]) -> None:
        counts, nbytes = self.counts, 0
        counts.visits += 1
        counts.computing += computing[1] - computing[0]
        if loading is not None:
            nbytes = self.source.index[block].nbytes
            counts.loads += 1
            counts.nbytes += nbytes
            counts.loading += max(loading[1] - max(loading[0], self._loaded_until), 0.0)
            self._loaded_until = max(loading[1], self._loaded_until)
        visit = Visit(block, nbytes, loading, computing, max(len(self.served), 1))
        for call, visits in self._recorders:
            if call is None or not self.served or call in self.served:
                visits.append(visit)

    # ---- called by the threads of the loader ------------------------------------------------------------------------

    def _fetch(self, buffer: Buffer) -> None:
        self.source.fetch(int(buffer.block or 0), buffer.host)

    def _finish(self, buffer: Buffer) -> None:
        """Verify the block of a buffer, and copy it to the device."""
        block = int(buffer.block or 0)
        self.source.verify(block, buffer.host)
        if buffer.memory is not buffer.host:
            nbytes = self.source.index[block].nbytes
            with self._copies:
                buffer.memory[:nbytes].copy_(buffer.host[:nbytes], non_blocking=True)
                buffer.ready = self._copies.record_event()
            buffer.ready.synchronize()


def _pinned(nbytes: int) -> Tensor:
    buffer = torch.empty(nbytes + 4096, dtype=torch.uint8, device="cpu", pin_memory=True)
    return buffer[-buffer.data_ptr() % 4096 :][:nbytes]
