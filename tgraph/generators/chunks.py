"""Work on ranges of edges whose temporaries fit the cache, on all threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray

CHUNK = 1 << 15  # edges whose temporaries fit the second-level cache


def in_chunks(edges: Callable[[int, int], tuple[NDArray, NDArray]], count: int) -> NDArray[np.int64]:
    """Both ends, [2, count], of edges that are generated a range at a time."""
    ends = np.empty((2, count), dtype=np.int64)

    def fill(first: int, last: int) -> None:
        ends[0, first:last], ends[1, first:last] = edges(first, last)

    for_chunks(fill, count)
    return ends


def for_chunks(work: Callable[[int, int], None], count: int) -> None:
    """Calls work(first, last) for consecutive ranges, on as many threads as torch uses (numpy lets them run)."""
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for done in [pool.submit(work, i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]:
            done.result()
