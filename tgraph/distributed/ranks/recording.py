"""The trace of a run on a distributed graph: computation, exchanges and waits of each rank."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from tgraph.distributed.ranks import transport
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.engine.tracing.records import Exchange, shares
from tgraph.engine.tracing.trace import Trace


@contextmanager
def recording(held: Ownership, device: torch.device, trace: Trace) -> Iterator[None]:
    """A context at whose end the trace gets the exchanges of all ranks, and their shares of its iterations.

    Entered by all ranks together. Their clocks need not agree: each counts from when all have arrived here, which they
    learn within the time of a small message.
    """
    held.gather(torch.tensor(0, device="cpu"))  # in host memory, so that this process waits, and not a stream
    start = time.perf_counter()
    with transport.recorded(device) as recorder:
        yield
        end = recorder.clock() - start
    begins = torch.tensor([*(begin - start for begin in trace.begins), end], dtype=torch.float64, device="cpu")
    times = held.gather(begins).tolist()
    mine = torch.tensor(recorder.exchanges, dtype=torch.float64, device="cpu").view(-1, 6)
    mine[:, 2:] -= start
    rows, counts = held.concatenate(mine)
    ranks = [rank for rank, count in enumerate(counts) for _ in range(count)]
    trace.exchanges = [
        Exchange(rank, int(sent), int(received), (began, done), (waiting, end))
        for rank, (sent, received, began, done, waiting, end) in zip(ranks, rows.tolist(), strict=True)
    ]
    trace.shares = shares([own[:-1] for own in times], [own[-1] for own in times], trace.exchanges)
