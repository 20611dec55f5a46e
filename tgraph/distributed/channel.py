"""Values that travel between ranks: from slots of the senders to slots of the receivers, which are fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.distributed.ownership import Ownership

# How the changed slots of a message are named: not at all, by number, by a bit for each slot, or because all are sent.
_NONE, _NUMBERS, _BITS, _ALL = range(4)


@dataclass(eq=False)
class Sending:
    """Values under way; `wait` gives those that arrive."""

    received: Tensor
    _sent: Tensor  # kept until it is sent
    _work: Any
    memory: Tensor | None = None  # that `received` is the end of

    def wait(self) -> Tensor:
        """The values of all receiving slots, [R, ...]."""
        if self._work is not None:
            self._work.wait()
            self._work = None
        return self.received


@dataclass(eq=False)
class Channel:
    """S sending slots of this rank, those for rank 0 first, and R receiving ones, those from rank 0 first.

    sending, receiving : how many slots there are for, and from, each rank.
    bytes_sent : of all messages so far, those to other ranks.

    Both methods are to be called by all ranks.
    """

    ownership: Ownership
    sending: list[int]
    receiving: list[int]
    bytes_sent: int = field(default=0, init=False)

    def reversed(self) -> Channel:
        """The way back."""
        return Channel(self.ownership, self.receiving, self.sending)

    def send(self, values: Tensor, received: Tensor | None = None) -> Sending:
        """Send the values [S, ...] of all slots, and go on meanwhile. They arrive in `received` [R, ...], or in memory
        of their own."""
        sent = values.contiguous()
        self.bytes_sent += sent.nbytes
        if received is None:
            received = sent.new_empty((sum(self.receiving), *sent.shape[1:]))
        given, taken = (each.view(torch.uint8) if each.dtype == torch.bool else each for each in (sent, received))
        work = dist.all_to_all_single(
            taken, given, self.receiving, self.sending, group=self.ownership.group, async_op=True
        )
        return Sending(received, sent, work)

    def send_changed(self, slots: Tensor, values: Tensor) -> ChangedSending:
        """Send the `values` [c, ...] of some slots, int64 [c] ascending, in whichever form takes the fewest bytes."""
        ends = torch.tensor(np.cumsum(self.sending), dtype=torch.int64)
        cut = [0, *torch.searchsorted(slots.cpu(), ends).tolist()]
        width = values[:1].numel() * values.element_size() if len(values) else 0
        messages, heads, start = [], [], 0
        for rank, size in enumerate(self.sending):
            chosen = slice(cut[rank], cut[rank + 1])
            kind, message = _packed(slots[chosen] - start, values[chosen], size, width)
            heads.append((kind, cut[rank + 1] - cut[rank]))
            messages.append(message)
            start += size
        return ChangedSending(self, heads, messages, values[:0])


class ChangedSending:
    """Messages about some slots under way; `wait` gives the slots and values that arrive."""

    def __init__(self, channel: Channel, heads: list[tuple[int, int]], messages: list[Tensor], like: Tensor):
        self._channel, self._like = channel, like
        group = channel.ownership.group
        given = torch.tensor(heads, dtype=torch.int64).flatten()
        taken = torch.empty_like(given)
        sizes = [2] * len(heads)
        dist.all_to_all_single(taken, given, sizes, sizes, group=group)
        self._heads = taken.view(-1, 2).tolist()
        self._sent, out = torch.cat(messages), [len(message) for message in messages]
        self._sizes = [
            _size(kind, count, slots, self._width)
            for (kind, count), slots in zip(self._heads, channel.receiving, strict=True)
        ]
        self._received = torch.empty(sum(self._sizes), dtype=torch.uint8)
        channel.bytes_sent += len(self._sent) + given.nbytes
        self._work = dist.all_to_all_single(self._received, self._sent, self._sizes, out, group=group, async_op=True)

    @property
    def _width(self) -> int:
        """The bytes of a slot's value."""
        return self._like.element_size() * int(np.prod(self._like.shape[1:], dtype=np.int64))

    def wait(self) -> tuple[Tensor, Tensor]:
        """(slots int64 [d], values [d, ...]) that arrive, those from rank 0 first."""
        self._work.wait()
        slots, values, place, start = [], [], 0, 0
        for (kind, count), size, held in zip(self._heads, self._sizes, self._channel.receiving, strict=True):
            message = self._received[place : place + size]
            number, value = _unpacked(message, kind, count, held, self._like)
            slots.append(number + start)
            values.append(value)
            place, start = place + size, start + held
        return torch.cat(slots), torch.cat(values)


def _packed(slots: Tensor, values: Tensor, size: int, width: int) -> tuple[int, Tensor]:
    """How the changed ones of `size` slots are named where that takes the fewest bytes, and the message."""
    if not len(slots):
        return _NONE, torch.empty(0, dtype=torch.uint8)
    data = values.contiguous().view(torch.uint8).flatten()
    if len(slots) == size:
        return _ALL, data
    if 4 * len(slots) <= -(-size // 8):
        return _NUMBERS, torch.cat((slots.to(torch.int32).view(torch.uint8), data))
    marks = np.zeros(size, np.uint8)
    marks[slots.numpy()] = 1
    return _BITS, torch.cat((torch.from_numpy(np.packbits(marks, bitorder="little")), data))


def _size(kind: int, count: int, slots: int, width: int) -> int:
    """The bytes of a message."""
    names = {_NONE: 0, _NUMBERS: 4 * count, _BITS: -(-slots // 8), _ALL: 0}
    return names[kind] + count * width


def _unpacked(message: Tensor, kind: int, count: int, size: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """(slots int64 [count], values [count, ...]) of a message."""
    if kind == _NONE:
        return torch.empty(0, dtype=torch.int64), like
    names = _size(kind, count, size, 0)
    head, data = message[:names], message[names:]
    if kind == _ALL:
        slots = torch.arange(size)
    elif kind == _NUMBERS:
        slots = head.clone().view(torch.int32).to(torch.int64)
    else:
        slots = torch.from_numpy(np.flatnonzero(np.unpackbits(head.numpy(), count=size, bitorder="little")))
    return slots, data.clone().view(like.dtype).view(count, *like.shape[1:])
