"""Values that travel between ranks: from slots of the senders to slots of the receivers, which are fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.distributed.ranks.ownership import Ownership
from tgraph.distributed.ranks.transport import begin, carried, exchange
from tgraph.primitives import bitmaps

# Encodings of the changed slots of a message: none, numbers, a bit for each slot, or all slots.
_NONE, _NUMBERS, _BITS, _ALL = range(4)


@dataclass(eq=False)
class Sending:
    """Values under way; `wait` gives those that arrive."""

    received: Tensor
    _sent: Tensor  # referenced until it is sent
    _work: Any
    memory: Tensor | None = None  # whose end is `received`

    def wait(self) -> Tensor:
        """The values of all receiving slots, [R, ...]."""
        if self._work is not None:
            self._work.wait()
            self._work = None
        return self.received


@dataclass(eq=False)
class Channel:
    """S sending slots of this rank, by target rank, and R receiving ones, by source rank.

    The values of all slots are sent from their own device. Values of some slots are packed in host memory, which their
    length depends on.

    sending, receiving : the number of slots for, and from, each rank.
    bytes_sent : of all messages to other ranks so far.

    Both methods are to be called by all ranks.
    """

    ownership: Ownership
    sending: list[int]
    receiving: list[int]
    bytes_sent: int = field(default=0, init=False)

    def reversed(self) -> Channel:
        """The channel in the other direction."""
        return Channel(self.ownership, self.receiving, self.sending)

    def send(self, values: Tensor, received: Tensor | None = None) -> Sending:
        """Send the values [S, ...] of all slots, and go on meanwhile. They arrive in `received` [R, ...], or in memory
        of their own."""
        sent = values.contiguous()
        self.bytes_sent += sent.nbytes
        if received is None:
            received = sent.new_empty((sum(self.receiving), *sent.shape[1:]))
        given, taken = carried(sent), carried(received)
        work = begin(
            dist.all_to_all_single,
            *(taken, given, self.receiving, self.sending),
            group=self.ownership.group,
            sent=sent.nbytes,
            received=received.nbytes,
        )
        return Sending(received, sent, work)

    def send_changed(self, slots: Tensor, values: Tensor, beside: Sequence[int] = ()) -> ChangedSending:
        """Send the `values` [c, ...] of some slots, int64 [c] ascending, in the shortest encoding, and some numbers to
        all ranks."""
        device, slots, values = values.device, slots.cpu(), values.cpu()
        ends = torch.tensor(np.cumsum(self.sending), dtype=torch.int64, device="cpu")
        cut = [0, *torch.searchsorted(slots, ends).tolist()]
        messages, start = [], 0
        for rank, size in enumerate(self.sending):
            chosen = slice(cut[rank], cut[rank + 1])
            messages.append(_packed(slots[chosen] - start, values[chosen], size))
            start += size
        return ChangedSending(self, messages, values[:0], device, beside)

    def send_marks(self, marks: list[Tensor], dense: bool = False) -> MarksSending:
        """Send marks of slots without values: for each rank a bitmap of its slots. dense : the same on all ranks; True
        sends the bitmaps as they are, without exchanging encodings first."""
        device, marks = marks[0].device, [bits.cpu() for bits in marks]
        if dense:
            messages = [
                (Head(_BITS, size, 0), bits[: -(-size // 8)]) for bits, size in zip(marks, self.sending, strict=True)
            ]
            return MarksSending(self, messages, device, [Head(_BITS, size, 0) for size in self.receiving])
        messages = [_packed_marks(bits, size) for bits, size in zip(marks, self.sending, strict=True)]
        return MarksSending(self, messages, device)


class Head(NamedTuple):
    """The format of a message: the encoding of the changed slots, their number, and the number of values: one where all
    are equal, as in a breadth-first search."""

    kind: int
    slots: int
    values: int

    def names(self, size: int) -> int:
        """Bytes that encode the changed slots of `size`."""
        return {_NONE: 0, _NUMBERS: 4 * self.slots, _BITS: -(-size // 8), _ALL: 0}[self.kind]


class Messages:
    """Messages of any length under way, one to each rank.

    shared : int64 [p, b], the numbers that each rank sends to all.
    """

    shared: Tensor

    def __init__(
        self,
        channel: Channel,
        messages: list[tuple[Head, Tensor]],
        width: int = 0,
        beside: Sequence[int] = (),
        heads: list[Head] | None = None,
    ):
        """messages : in host memory. width : the bytes of a value. beside : numbers for all ranks. heads : of the
        messages that come from each rank, where these are known: nothing is sent `beside` then."""
        self._channel, self._work = channel, None
        self._sent = torch.cat([message for _, message in messages])
        is_needed = True
        if heads is None:
            common = (len(self._sent), *beside)
            taken = self._exchanged(
                torch.tensor([(*head, *common) for head, _ in messages], dtype=torch.int64, device="cpu")
            )
            heads = [Head(*head) for head in taken[:, :3].tolist()]
            is_needed, self.shared = bool(taken[:, 3].any()), taken[:, 4:]
        self._heads = heads
        self._sizes = [
            head.names(slots) + head.values * width for head, slots in zip(self._heads, channel.receiving, strict=True)
        ]
        self._received = torch.empty(sum(self._sizes), dtype=torch.uint8, device="cpu")
        if not is_needed:  # by any rank
            return
        channel.bytes_sent += len(self._sent)
        out = [len(message) for _, message in messages]
        self._work = begin(
            dist.all_to_all_single,
            *(self._received, self._sent, self._sizes, out),
            group=channel.ownership.group,
            sent=len(self._sent),
            received=len(self._received),
        )

    def _exchanged(self, given: Tensor) -> Tensor:
        """Exchange numbers for each rank, [p, b], for those of each rank."""
        taken, group = torch.empty_like(given), self._channel.ownership.group
        others = given.nbytes - given[0].nbytes
        exchange(dist.all_to_all_single, taken, given, group=group, sent=others, received=others)
        self._channel.bytes_sent += others
        return taken

    def arrived(self) -> Iterator[tuple[Head, Tensor, int]]:
        """(head, message uint8 [b], receiving slots) from each rank."""
        if self._work is not None:
            self._work.wait()
        yield from zip(self._heads, self._received.split(self._sizes), self._channel.receiving, strict=True)


class ChangedSending(Messages):
    """Values of some slots under way; `wait` gives the slots and values that arrive."""

    def __init__(
        self,
        channel: Channel,
        messages: list[tuple[Head, Tensor]],
        like: Tensor,
        device: torch.device,
        beside: Sequence[int] = (),
    ):
        """like : values [0, ...] in host memory. device : of the result."""
        super().__init__(channel, messages, like.element_size() * math.prod(like.shape[1:]), beside)
        self._like, self._device = like, device

    def wait(self) -> tuple[Tensor, Tensor]:
        """(slots int64 [d], values [d, ...]) that arrive, by source rank."""
        slots, values, start = [], [], 0
        for head, message, held in self.arrived():
            number, value = _unpacked(message, head, held, self._like)
            slots.append(number + start)
            values.append(value)
            start += held
        return torch.cat(slots).to(self._device), torch.cat(values).to(self._device)


class MarksSending(Messages):
    """Marks of slots under way; `wait` gives those that arrive."""

    def __init__(
        self,
        channel: Channel,
        messages: list[tuple[Head, Tensor]],
        device: torch.device,
        heads: list[Head] | None = None,
    ):
        """device : of the result."""
        super().__init__(channel, messages, heads=heads)
        self._device = device

    def wait(self) -> list[Tensor | None]:
        """A bitmap of the slots from each rank; None where none is marked."""
        found = [_unpacked_marks(message, head, size) for head, message, size in self.arrived()]
        return [None if bits is None else bits.to(self._device) for bits in found]


def _packed(slots: Tensor, values: Tensor, size: int) -> tuple[Head, Tensor]:
    """Encode the changed slots of `size`: the format, and the message."""
    count = len(slots)
    if not count:
        return Head(_NONE, 0, 0), torch.empty(0, dtype=torch.uint8, device="cpu")
    is_one = torch.equal(values[:1], values[-1:]) and bool((values == values[:1]).all())
    sent = values[:1] if is_one else values
    data = sent.contiguous().view(torch.uint8).flatten()
    if count == size:
        return Head(_ALL, count, len(sent)), data
    if 4 * count <= -(-size // 8):
        return Head(_NUMBERS, count, len(sent)), torch.cat((slots.to(torch.int32).view(torch.uint8), data))
    return Head(_BITS, count, len(sent)), torch.cat((bitmaps.of_ids(slots, size)[: -(-size // 8)], data))


def _unpacked(message: Tensor, head: Head, size: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Decode (slots int64 [c], values [c, ...]) of some of `size` slots."""
    if head.kind == _NONE:
        return torch.empty(0, dtype=torch.int64, device="cpu"), like
    names, data = message.split([head.names(size), len(message) - head.names(size)])
    if head.kind == _ALL:
        slots = torch.arange(size, device="cpu")
    elif head.kind == _NUMBERS:
        slots = names.clone().view(torch.int32).to(torch.int64)
    else:
        slots = bitmaps.members(_whole_words(names, size))
    values = data.clone().view(like.dtype).view(head.values, *like.shape[1:])
    return slots, values.expand(head.slots, *like.shape[1:])


def _packed_marks(bits: Tensor, size: int) -> tuple[Head, Tensor]:
    """Encode the set slots of a mask of `size`."""
    count = bitmaps.measure(bits)[0]
    if count in (0, size):
        return Head(_ALL if count else _NONE, count, 0), bits[:0]
    nbytes = -(-size // 8)
    if 4 * count <= nbytes:
        return Head(_NUMBERS, count, 0), bitmaps.members(bits).to(torch.int32).view(torch.uint8)
    return Head(_BITS, count, 0), bits[:nbytes]


def _unpacked_marks(message: Tensor, head: Head, size: int) -> Tensor | None:
    if head.kind == _NONE:
        return None
    if head.kind == _ALL:
        return bitmaps.pack(torch.ones(size, dtype=torch.bool, device="cpu"))
    if head.kind == _NUMBERS:
        return bitmaps.of_ids(message.clone().view(torch.int32).to(torch.int64), size)
    return _whole_words(message, size)


def _whole_words(message: Tensor, size: int) -> Tensor:
    """Decode the bitmap of `size` slots."""
    bits = bitmaps.empty(size)
    bits[: len(message)] = message
    return bits
