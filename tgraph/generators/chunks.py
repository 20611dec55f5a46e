"""Multithreaded work on ranges of edges with temporaries that fit the cache."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray

CHUNK = 1 << 15  # edges, with temporaries that fit the second-level cache


def in_chunks(edges: Callable[[int, int], tuple[NDArray, NDArray]], count: int) -> NDArray[np.int64]:
    """Both ends, [2, count], of edges generated a range at a time."""
    ends = np.empty((2, count), dtype=np.int64)

    def fill(first: int, last: int) -> None:
        ends[0, first:last], ends[1, first:last] = edges(first, last)

    for_chunks(fill, count)
    return ends


def for_chunks(work: Callable[[int, int], None], count: int) -> None:
    """Call work(first, last) for consecutive ranges, on torch's number of threads (numpy releases the GIL)."""
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for done in [pool.submit(work, i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]:
            done.result()
