"""The progress bar of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tgraph.engine.state import State
from tgraph.progress import bar

Advance = Callable[[int, int], None]  # of the number of iterations done, and of active vertices


@contextmanager
def progress_bar(state: State, asked: bool) -> Iterator[Advance]:
    """A function to call after each iteration, which advances a bar; `asked` : whether the user asked for it."""
    layout = state.graph.layout
    counts = getattr(layout, "counts", None)  # reads of a streamed graph
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
