"""Visits to blocks, alone, or for several calls at once (`tgraph.together`): a block serves all that need it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable
from functools import partial

from tgraph.engine import together
from tgraph.engine.together import Asked
from tgraph.stream.file.block import Block
from tgraph.stream.run.scheduler import Choose, Pipeline

Work = Callable[[Block], None]


class Wanted(ABC):
    """Visits that a call wants: work(block) for the blocks of a section that it `needs`."""

    section: str
    work: Work

    @abstractmethod
    def needs(self, block: int) -> bool:
        """Whether a visit to the block is of use."""

    @abstractmethod
    def is_over(self) -> bool:
        """Whether no more visits are needed, for now."""

    @abstractmethod
    def alone(self, source: Pipeline) -> None:
        """Make the visits that are left."""

    def make(self, pipeline: Pipeline) -> None:
        """Make the visits: with those of other calls within `tgraph.together`."""
        if call := together.current():
            call.ask(pipeline, self)
        else:
            self.alone(pipeline)

    @staticmethod
    def together(source: Pipeline, asked: list[Asked]) -> None:
        """One pass over the blocks of all passes, at which searches look on; or else visits that one search after the
        other chooses, until the first is over. Blocks of one section alone, first of one with searches: these end
        soon, and leave their memory to the blocks of the other."""
        first = min(asked, key=lambda each: isinstance(each.wanted, Pass)).wanted.section
        asked = [each for each in asked if each.wanted.section == first]

        def serve(block: Block) -> None:
            needing = [each for each in asked if each.waits and each.wanted.needs(block.number)]
            source.served = [each.call for each in needing]
            for each in needing:
                each.give(partial(each.wanted.visit, block))

        passes = [each.wanted for each in asked if isinstance(each.wanted, Pass)]
        source.fit()
        try:
            if passes:
                blocks = sorted({block for each in passes for block in each.left})
                source.visit_all(blocks, serve, any(each.in_order for each in passes))
            else:
                searches = [each.wanted for each in asked]
                source.visit(_in_turn(searches), serve, lambda block: max(each.value(block) for each in searches))
        finally:
            source.served = []
        for each in asked:
            each.is_met = each.wanted.is_over()

    def visit(self, block: Block) -> None:
        """Work on a block."""
        self.work(block)


class Pass(Wanted):
    """Each of some blocks once, `in_order` where results depend on that; see `Pipeline.visit_all`."""

    def __init__(self, section: str, blocks: Iterable[int], work: Work, in_order: bool = False):
        self.section, self.left, self.work, self.in_order = section, dict.fromkeys(blocks), work, in_order

    def needs(self, block: int) -> bool:
        return block in self.left

    def is_over(self) -> bool:
        return not self.left

    def visit(self, block: Block) -> None:
        self.work(block)
        del self.left[block.number]

    def alone(self, source: Pipeline) -> None:
        source.visit_all(list(self.left), self.work, self.in_order)


class Search(Wanted):
    """Blocks in an order of its own, until none is chosen; see `Pipeline.visit`.

    waits_for(block) : whether a visit to the block is of use.
    """

    def __init__(
        self,
        section: str,
        choose: Choose,
        work: Work,
        value: Callable[[int], float],
        waits_for: Callable[[int], bool],
    ):
        self.section, self.choose, self.work, self.value, self._waits_for = section, choose, work, value, waits_for

    def needs(self, block: int) -> bool:
        return self._waits_for(block)

    def is_over(self) -> bool:
        return self.choose((), ()) is None

    def alone(self, source: Pipeline) -> None:
        source.visit(self.choose, self.work, self.value)


def _in_turn(searches: list[Search]) -> Choose:
    """The choice of one search after the other, until the first is over."""
    order = deque(searches)

    def choose(queued: Collection[int], cached: Collection[int]) -> int | None:
        for _ in searches:
            order.rotate(-1)
            block = order[0].choose(queued, cached)
            if block is not None or order[0].is_over():
                return block
        return None

    return choose
