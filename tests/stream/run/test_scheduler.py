"""Which blocks stay in the buffers."""

import pytest
from strategies import random_graph
from streams import loads, streamed


@pytest.mark.parametrize(
    ("requests", "value", "evicted"),
    [
        ([0, 1, 0, 3, 0], lambda block: 0, [1]),  # of equal value: the least recently requested
        ([1, 0, 1, 3, 1], lambda block: 0, [0]),
        ([0, 1, 0, 3, 0], lambda block: block, [0, 1]),
        ([1, 0, 1, 3, 0], lambda block: -block, [1]),
    ],
)
def test_the_block_of_least_value_is_evicted(requests, value, evicted):
    graph = streamed(random_graph(60, 600), blocks=5, buffers=2)
    coming, visited, pipeline = iter(requests), [], graph.layout.section.pipeline
    assert pipeline.capacity == 2
    pipeline.visit(
        lambda queued, cached: None if queued else next(coming, None),
        lambda block: visited.append(block.number),
        value,
    )
    assert visited == requests and loads(graph) == 2 + len(evicted)
