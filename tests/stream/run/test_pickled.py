"""Streamed graphs are pickled and copied by the path of their file."""

import copy
import pickle
from typing import Any

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.stream.run.opening import within


@pytest.mark.parametrize("again", [lambda graph: pickle.loads(pickle.dumps(graph)), copy.deepcopy])
@pytest.mark.parametrize("partitioned", [True, False])
def test_a_copy_reads_the_same_file(tmp_path: Any, again: Any, partitioned: bool) -> None:
    graph, path = random_graph(50, 300, dtype=torch.float32, directed=True), tmp_path / "graph.tg"
    tg.stream.write_partitioned(graph, path, parts=3) if partitioned else tg.write(graph, path)
    streamed = tg.open(path, memory="2MB")
    expected, x = tg.algorithms.sssp(graph, 0), torch.rand(50)
    assert torch.equal(tg.algorithms.sssp(streamed, 0), expected)
    found = again(streamed)
    assert len(pickle.dumps(streamed)) < 2000
    assert torch.equal(tg.algorithms.sssp(found, 0), expected)
    torch.testing.assert_close(tg.aggregate(found, x, edge="mul"), tg.aggregate(graph, x, edge="mul"))
    assert found.layout.memory == streamed.layout.memory


def test_arcs_in_memory_are_not_copied() -> None:
    graph = within(random_graph(3000, 1_000_000), "3MB", None)
    with pytest.raises(tg.errors.ArgumentError, match="streamed from memory"):
        pickle.dumps(graph)
