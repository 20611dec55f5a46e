"""Integers of an `aggregate` fit their dtypes: proven by their range before the kernels run, or else looked at one by
one."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.subgraph import Subgraph
from tgraph.core.system.library import in_functorch, is_plain
from tgraph.errors import ArgumentError
from tgraph.kernels.call import Call
from tgraph.kernels.messages import across, column, is_per_arc, sent_dtype
from tgraph.kernels.native.base.values import largest_bound
from tgraph.kernels.operators.aggregation.aggregation import reduce_messages, sent_data

Range = tuple[int, int]

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
LIMITS: dict[torch.dtype, Range] = {dtype: (torch.iinfo(dtype).min, torch.iinfo(dtype).max) for dtype in _INTEGERS}
LIMITS[torch.bool] = 0, 1


def check(call: Call, own: bool, again: Callable[[Tensor], Tensor]) -> None:
    """Raise ArgumentError where a message, sum or product of integers does not fit its dtype.

    call : with the weights of the arcs held. own : whether these are the graph's. again : gives what the same call
    receives of other data. Costs a pass over the vertices that send, where their dtype does not prove it, and passes
    over the arcs only where their range does not.
    """
    sub, data = call.sub, call.data
    assert sub is not None and call.reduction is not None
    sends, reduce, count = call.edge in ("add", "mul"), call.reduction.name, sub.graph.num_arcs
    adds = reduce in ("sum", "prod")
    if not (sends or adds) or not count:
        return
    known = None if data.dtype == torch.int64 else LIMITS.get(data.dtype)
    if call.edge == "copy" and known is not None and call.dtype is None and _adds_up(known, count, reduce):
        return
    if call.edge == "copy" and call.dtype is None and reduce == "sum" and sub.graph.layout is None:
        bound = largest_bound(data)
        if bound is not None and bound * count <= sums.MOST:
            return
    is_distributed = sub.graph.storage.is_distributed
    if not (sub.active.is_everything if is_distributed else is_readable(data)):
        return
    if call.dtype is not None and not call.dtype.is_floating_point:
        if not is_distributed:
            _check_narrowing(data, call.dtype)
        data, known = data.to(call.dtype), None
    dtype = _dtype_of_messages(call)
    if dtype is None:
        return
    by = None if call.edge == "copy" else _range_of_weights(call, own)
    for sent in (known, None):
        message = _messages(sent or _range_of_sent(sub, data), call.edge, by)
        if (not sends or _holds(dtype, message)) and (not adds or _adds_up(message, count, reduce)):
            return
    if is_distributed:  # single arcs are not looked at
        raise _error(f"sums or products of integers from {message[0]} to {message[1]} along {count} arcs may", dtype)
    if call.edge == "copy" and reduce == "sum":
        _check_halves(again(data >> 32), again(data & sums.HALF - 1))
        return
    messages = _exact_messages(call.decoded(), data, dtype)
    if reduce == "sum":
        halves = messages >> 32, messages & sums.HALF - 1
        _check_halves(*(reduce_messages(sub, half, call.reduction).values for half in halves))
    elif reduce == "prod":
        wide, product = (reduce_messages(sub, each, call.reduction).values for each in (messages.double(), messages))
        wrong = ((wide - product.double()).abs() > 2**62).nonzero()
        if len(wrong):
            raise _error(f"a product of about {float(wide[tuple(wrong[0].tolist())]):.6g}", torch.int64)


def is_readable(data: Tensor) -> bool:
    """Whether the integers can be looked at without breaking a trace or a transform."""
    if data.is_floating_point():
        return False
    if not data.is_cuda:
        return is_plain(data)
    return not (torch.compiler.is_compiling() or in_functorch() or torch.cuda.is_current_stream_capturing())


def _dtype_of_messages(call: Call) -> torch.dtype | None:
    """The dtype of the messages of integers, None where they are floating or logical."""
    assert call.reduction is not None
    dtype, weights = sent_dtype(call.dtype or call.data.dtype, call.reduction, call.edge), call.weights
    if call.weights_in_layout:
        assert call.sub is not None and call.sub.graph.weight_dtype is not None
        dtype = torch.promote_types(dtype, call.sub.graph.weight_dtype)
    elif is_per_arc(weights):
        dtype = torch.promote_types(dtype, weights.dtype)
    elif isinstance(weights, float) or (isinstance(weights, Tensor) and weights.is_floating_point()):
        return None
    return None if dtype.is_floating_point or dtype == torch.bool else dtype


def _range_of_weights(call: Call, own: bool) -> Range:
    weights, sub = call.weights, call.sub
    if own and sub is not None:
        least, most = sub.graph.weight_range
        return int(least), int(most)
    if not isinstance(weights, Tensor):
        assert isinstance(weights, int)
        return weights, weights
    is_narrow = weights.dim() > 0 and weights.dtype != torch.int64
    return (LIMITS.get(weights.dtype) if is_narrow else None) or sums.ends(weights)


def _range_of_sent(sub: Subgraph, data: Tensor) -> Range:
    if sub.graph.storage.is_distributed:
        return int(data.amin()), int(data.amax())
    return sums.ends(data if sub.active.is_everything else data.index_select(0, sub.active.ids))


def _messages(sent: Range, edge: str, by: Range | None) -> Range:
    """The range of the messages."""
    if by is None:
        return sent
    if edge == "add":
        return sent[0] + by[0], sent[1] + by[1]
    if edge == "mul":
        corners = [value * weight for value in sent for weight in by]
        return min(corners), max(corners)
    return min(*sent, *by), max(*sent, *by)


def _holds(dtype: torch.dtype, message: Range) -> bool:
    least, most = LIMITS[dtype]
    return least <= message[0] and message[1] <= most


def _adds_up(message: Range, count: int, reduce: str) -> bool:
    """Whether so many messages add up, or multiply, to what int64 holds."""
    largest = max(-message[0], message[1])
    return largest * count <= sums.MOST if reduce == "sum" else largest <= 1


def _check_narrowing(data: Tensor, dtype: torch.dtype) -> None:
    wrong = (data.to(dtype) != data).nonzero()
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise ArgumentError(f"dtype: {data[place].item()} at position {list(place)} of data does not fit {dtype}")


def _exact_messages(call: Call, data: Tensor, dtype: torch.dtype) -> Tensor:
    """The messages of the arcs, int64 [e, ...], 0 where none is sent."""
    sub, weights = call.sub, call.weights
    assert sub is not None and call.reduction is not None
    value = sent_data(sub, data).to(torch.int64)
    sends = None if sub.active_mask is None else sub.active_mask.index_select(0, sub.neighbors)
    if call.edge == "copy":
        messages = value
    else:
        weight = weights.to(torch.int64) if isinstance(weights, Tensor) else torch.tensor(weights, device=value.device)
        if call.edge in ("add", "mul"):
            _check_messages(value, column(weight, value), call.edge, dtype, sends)
        messages = across(value, call.edge, weight)
    if sends is None:
        return messages
    return messages.masked_fill(~column(sends, messages), call.reduction.identity(torch.int64))


def _check_messages(value: Tensor, weight: Tensor, edge: str, dtype: torch.dtype, sends: Tensor | None) -> None:
    value, weight = torch.broadcast_tensors(value, weight)
    wrong = sums.leaves(value, weight, edge, *LIMITS[dtype])
    if sends is not None:
        wrong = wrong & column(sends, wrong)
    if len(places := wrong.nonzero()):
        place = tuple(places[0].tolist())
        sign = "+" if edge == "add" else "*"
        raise _error(f"a message of {int(value[place])} {sign} {int(weight[place])}", dtype)


def _check_halves(high: Tensor, low: Tensor) -> None:
    """Raise ArgumentError for sums, added up by the halves of their terms, that int64 cannot hold."""
    high = high + (low >> 32)
    wrong = ((high < -sums.HALF // 2) | (high >= sums.HALF // 2)).nonzero()
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise _error(f"a sum of {int(high[place]) * sums.HALF + int(low[place]) % sums.HALF}", torch.int64)


def _error(subject: str, dtype: torch.dtype) -> ArgumentError:
    wider = "float64" if dtype == torch.int64 else "int64"
    verb = "not fit" if subject.endswith("may") else "does not fit"
    return ArgumentError(f"data: {subject} {verb} {dtype}; convert the data to torch.{wider}")
