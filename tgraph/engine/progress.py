"""The progress bar of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from tgraph.engine.state import State

Advance = Callable[[int, int], None]  # given how many iterations were done, and how many vertices are active


def progress_bar(state: State, show: bool) -> AbstractContextManager[Advance]:
    """A function to call after each iteration, which counts it on a tqdm bar where one is to be shown."""
    return _shown(state) if show else nullcontext(lambda steps, active: None)


@contextmanager
def _shown(state: State) -> Iterator[Advance]:
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
