"""Batches from a memory-mapped file of which nothing is in memory: the pages needed are asked for first."""

import ctypes
import mmap
import os
import sys

import pytest
import torch
from samples import same
from strategies import random_graph, thread_count

import tgraph as tg

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="posix_fadvise as Linux has it")


def forget(graph, path):
    """Drop the pages that the graph maps from memory."""
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for tensor in (graph.offset, graph.neighbors, graph.weights):
        begin = tensor.data_ptr() // mmap.PAGESIZE * mmap.PAGESIZE
        assert libc.madvise(begin, tensor.data_ptr() + tensor.nbytes - begin, mmap.MADV_DONTNEED) == 0
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.covering(1)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", [{}, {"replace": True}, {"weighted": True}, {"disjoint": True}], ids=str)
def test_as_from_memory(tmp_path, options, threads):
    held = random_graph(5000, 90_000, directed=False, dtype=torch.float32)
    tg.write(held, tmp_path / "graph.tg")
    mapped = tg.read(tmp_path / "graph.tg", verify=False)
    seeds = torch.arange(0, 5000, 7)
    warm, cold = (tg.sampling.NeighborSampler(graph, [5, 4, -1], seed=3, **options) for graph in (held, mapped))
    with thread_count(threads):
        for draw in range(3):
            forget(mapped, tmp_path / "graph.tg")
            same(cold.sample(seeds, draw=draw), warm.sample(seeds, draw=draw))
