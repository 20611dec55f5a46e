"""Memory budgets: what is left for data and blocks, to the byte."""

from types import SimpleNamespace

import pytest

from tgraph.errors import MemoryBudgetError
from tgraph.stream.memory import PAGE
from tgraph.stream.run.budget import (
    BLOCKS_IN_MEMORY,
    RUNTIME,
    SMALL,
    block_count,
    budget_for,
    runtime_bytes,
    vertex_bytes,
)

SOURCE = SimpleNamespace(num_vertices=999, sections=[None], working_bytes=100)


@pytest.mark.parametrize("needed", [1, SMALL, SMALL + 1, SMALL + RUNTIME, 10 * SMALL])
def test_the_least_budget_leaves_just_what_is_needed(needed):
    left = [memory - runtime_bytes(memory) for memory in (budget_for(needed) - 1, budget_for(needed))]
    assert left == [needed - 1, needed]


@pytest.mark.parametrize("arcs", [0, 1, 10**4, 10**7])
@pytest.mark.parametrize("left", [PAGE, 3 * PAGE + 1])
def test_a_budget_holds_so_many_blocks(arcs, left):
    count = block_count(SOURCE, arcs, vertex_bytes(SOURCE) + left)
    assert count >= BLOCKS_IN_MEMORY and BLOCKS_IN_MEMORY * arcs <= count * left
    assert count == BLOCKS_IN_MEMORY or BLOCKS_IN_MEMORY * arcs > (count - 1) * left


@pytest.mark.parametrize("left", [0, 1, PAGE - 1])
def test_a_budget_without_a_page_for_blocks_is_refused(left):
    with pytest.raises(MemoryBudgetError, match="the data of the vertices"):
        block_count(SOURCE, 10**4, vertex_bytes(SOURCE) + left)
