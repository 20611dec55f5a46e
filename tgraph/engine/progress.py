"""The progress bar of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tgraph.engine.state import State

Advance = Callable[[int, int], None]  # given how many iterations were done, and how many vertices are active


@contextmanager
def progress_bar(state: State) -> Iterator[Advance]:
    """A function to call after each iteration, which counts it on a tqdm bar."""
    from tqdm import tqdm

    layout = state.graph.layout
    counts = getattr(layout, "counts", None)  # of a graph that streams: what was read
    with tqdm(desc=type(state.program).__name__, unit=" iterations", initial=state.iterations) as bar:

        def advance(steps: int, active: int) -> None:
            nonlocal counts
            read = ""
            if counts is not None:
                before, counts = counts, layout.counts  # type: ignore[union-attr]
                read = f", {counts.since(before)}"
            bar.set_postfix_str(f"{active:,} active{read}", refresh=False)
            bar.update(steps)

        yield advance
