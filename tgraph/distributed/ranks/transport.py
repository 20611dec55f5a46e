"""Exchanges between ranks while programs run: through memory that they share, else passed to torch.distributed, and
recorded for a trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

from tgraph.distributed.ranks import shared

# Of the same size as dtypes that not every transport carries.
_CARRIED = {torch.bool: torch.uint8, torch.int16: torch.float16, torch.uint16: torch.float16, torch.uint32: torch.int32}
_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def carried(values: Tensor) -> Tensor:
    """The same memory as a tensor of a dtype that every transport carries."""
    return values.view(_CARRIED.get(values.dtype, values.dtype))


def begin(operation: Callable[..., Any], *arguments: Any, group: Any, sent: int, received: int) -> Any:
    """Begin an operation of torch.distributed such as `all_to_all_single`, and return its work to `wait` for.

    sent, received : the bytes to and from other ranks.
    """
    recorder = _recorder.get()
    if recorder is None:
        return _begun(operation, arguments, group)
    began = recorder.clock()
    return _Recorded(_begun(operation, arguments, group), recorder, (sent, received, began))


def _begun(operation: Callable[..., Any], arguments: tuple[Any, ...], group: Any) -> Any:
    is_in_memory = all(not isinstance(each, Tensor) or each.device.type == "cpu" for each in arguments)
    memory = shared.memory_of(group) if is_in_memory else None
    if memory is None:
        return operation(*arguments, group=group, async_op=True)
    return getattr(memory, operation.__name__)(*arguments)


def exchange(operation: Callable[..., Any], *arguments: Any, group: Any, sent: int, received: int) -> None:
    """Carry out an operation as `begin` does, and wait for it."""
    begun = begin(operation, *arguments, group=group, sent=sent, received=received)
    if isinstance(begun, _Recorded):
        begun.wait_from_start()
    else:
        begun.wait()


@contextmanager
def recorded(device: torch.device) -> Iterator[Recorder]:
    """A context in which the exchanges that this rank begins are recorded; `device` is where the data lies."""
    recorder = Recorder(device)
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)


class Recorder:
    """exchanges : for each (bytes sent; bytes received; the clock when it began, when it was done, when waiting for it
    began, and when waiting ended). Where the time of completion is unknown, it is the end of waiting."""

    def __init__(self, device: torch.device):
        self.exchanges: list[tuple[int, int, float, float, float, float]] = []
        self._device = device
        self.is_observed: bool = device.type == "cpu"  # else a stream learns of the completion, not this process

    def clock(self) -> float:
        """The time in seconds, once this device has finished its work; exchanges may be under way."""
        if self._device.type != "cpu":
            torch.accelerator.current_stream(self._device).synchronize()
        return time.perf_counter()


class _Recorded:
    """An operation under way, which is recorded once it was waited for."""

    def __init__(self, work: Any, recorder: Recorder, begun: tuple[int, int, float]):
        self._work, self._recorder, self._begun = work, recorder, begun
        self._done: list[float] = []
        if recorder.is_observed:
            done = self._done  # the transport must not reference this object
            with suppress(RuntimeError):  # of transports without futures
                work.get_future().add_done_callback(lambda _: done.append(time.perf_counter()))

    def wait(self) -> None:
        """Wait until it is done."""
        self._wait(self._recorder.clock())

    def wait_from_start(self) -> None:
        """Likewise, where nothing else was done since it began: handing it over is waiting, too."""
        self._wait(self._begun[2])

    def _wait(self, began: float) -> None:
        self._work.wait()
        end = self._recorder.clock()
        done = min([*self._done, end])
        self._recorder.exchanges.append((*self._begun, done, began, end))
