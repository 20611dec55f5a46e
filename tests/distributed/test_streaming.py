"""Parts that are larger than the memory of their rank are read block by block, with the same results."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks
from test_equality import METHODS, differences, edges
from torch import Tensor

import tgraph as tg
from tgraph.distributed import gather
from tgraph.errors import MemoryBudgetError
from tgraph.stream import partition, write_partitioned

BLOCKS = 24  # of the files
COPIED = 40  # bytes of a vertex that float64, or two values, take more than float32


def within_least(path: Path, num_vertices: int) -> tg.Graph:
    """The graph in a file within the least memory that errors name, and that of the largest values of programs."""
    memory = 1
    while True:
        try:
            return tg.distributed.open(path, memory=memory + COPIED * num_vertices)
        except MemoryBudgetError as fault:
            memory = max(fault.needed - COPIED * num_vertices, memory + 1)


def made() -> list[tg.Graph]:
    """Graphs whose arcs take more than what their vertices take."""
    found = [tg.generators.rmat(8, 40, seed=2, directed=True)]
    for directed in (False, True):
        found += [edges(200, 8000, directed, weighted, 5) for weighted in (False, True)]
    return found


def write(folder: Path) -> None:
    for number, graph in enumerate(made()):
        for method in METHODS:
            write_partitioned(graph, folder / f"{number}-{method}.tg", partition(graph, BLOCKS, method))


def compare(folder: Path, some: bool) -> list[str]:
    """What differs, of each graph by one of the partitions, or by all."""
    wrong = []
    for number, graph in enumerate(made()):
        for method in METHODS[number % 2 :][:1] if some else METHODS:
            parts = within_least(folder / f"{number}-{method}.tg", graph.num_vertices)
            wrong += differences(graph, method, 5, parts=parts)
            layout: Any = parts.layout
            print(
                layout.part.num_arcs,
                layout.counts,
                layout._pipeline.capacity,
                layout._pipeline.size,
                len(layout._pipeline.source.index),
                layout._pipeline.memory,
            )
    return wrong


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made_in = tmp_path_factory.mktemp("blocks")
    write(made_in)
    return made_in


def test_programs_are_equal(folder):
    for wrong in on_ranks(2, compare, folder, True, timeout=300):
        assert not wrong, "\n".join(wrong)
