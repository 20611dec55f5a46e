"""The progress bar of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tgraph.engine.state import State
from tgraph.progress import bar

Advance = Callable[[int, int], None]  # given how many iterations were done, and how many vertices are active


@contextmanager
def progress_bar(state: State, asked: bool) -> Iterator[Advance]:
    """A function to call after each iteration, which counts it on a bar that was `asked` for, or is wanted."""
    layout = state.graph.layout
    counts = getattr(layout, "counts", None)  # of a graph that streams: what was read
    name = type(state.program).__name__
    with bar(name, unit=" iterations", asked=asked, initial=state.iterations) as shown:

        def advance(steps: int, active: int) -> None:
            nonlocal counts
            read = ""
            if counts is not None:
                before, counts = counts, layout.counts  # type: ignore[union-attr]
                read = f", {counts.since(before)}"
            shown.set_postfix_str(f"{active:,} active{read}", refresh=False)
            shown.update(steps)

        yield advance
