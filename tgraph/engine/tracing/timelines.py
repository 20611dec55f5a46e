"""Gantt charts of a run: of block reads, and of computing and waiting ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tgraph.engine.tracing.records import Exchange, Interval, Share, Visit, count_ranks, joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STAGES = {"loading": "#009e73", "computing": "#cc79a7"}
RANKS = {"computing": "#cc79a7", "waiting": "#999999", "under way": "#009e73"}
FEW = 60  # blocks or iterations with room for their numbers


def draw_blocks(axis: Axes, visits: list[Visit]) -> None:
    """The intervals of loading blocks, above, and of computing on them, below; their numbers where there is room."""
    begin = min(visit.computing[0] if visit.loading is None else visit.loading[0] for visit in visits)
    for height, (stage, colour) in zip((1, 0), STAGES.items(), strict=True):
        times = [(visit.block, getattr(visit, stage)) for visit in visits if getattr(visit, stage)]
        bars = [(1e3 * (first - begin), 1e3 * (last - first)) for _, (first, last) in times]
        axis.broken_barh(bars, (height - 0.4, 0.8), color=colour, alpha=0.6, edgecolor="white", linewidth=0.5)
        if len(visits) <= FEW:
            for (block, _), (start, width) in zip(times, bars, strict=True):
                axis.text(start + width / 2, height, str(block), fontsize=7, ha="center", va="center", clip_on=True)
    loads = [visit for visit in visits if visit.loading]
    counted = f"{len(visits):,} {'visit' if len(visits) == 1 else 'visits'} to blocks, {len(loads):,} of them loaded"
    axis.set_title(f"{counted}, {sum(visit.nbytes for visit in loads) / 1e6:,.1f} MB", fontsize=10, loc="left")
    axis.set_yticks([1, 0], ["load", "compute"])
    _finish(axis)


def draw_ranks(axis: Axes, shares: list[Share], exchanges: list[Exchange]) -> None:
    """A row for each rank, the first one above: computing and waiting, the starts of its iterations, and below the
    intervals with messages under way."""
    ranks = count_ranks(shares)
    for rank in range(ranks):
        own = [share for share in shares if share.rank == rank]
        mine = [exchange for exchange in exchanges if exchange.rank == rank]
        waiting = [exchange.waiting for exchange in mine]
        bounds = [own[0].begin, *(bound for interval in waiting for bound in interval), own[-1].end]
        computing = list(zip(bounds[::2], bounds[1::2], strict=True))
        _bars(axis, computing, (rank - 0.4, 0.6), RANKS["computing"])
        _bars(axis, waiting, (rank - 0.4, 0.6), RANKS["waiting"])
        _bars(axis, list(joined(exchange.travelling for exchange in mine)), (rank + 0.24, 0.16), RANKS["under way"])
        if len(own) <= 10 * FEW:
            axis.vlines([1e3 * share.begin for share in own], rank - 0.45, rank + 0.4, color="black", linewidth=0.6)
        if 2 * len(own) <= FEW and not rank:
            for share in own:
                axis.text(1e3 * share.begin, -0.48, f" {share.iteration}", fontsize=7, va="bottom", clip_on=True)
    axis.set_title(_summary(ranks, shares), fontsize=10, loc="left")
    axis.set_yticks(range(ranks), [f"rank {rank}" for rank in range(ranks)])
    axis.set_ylim(ranks - 0.45, -0.75)
    _finish(axis)


def _summary(ranks: int, shares: list[Share]) -> str:
    """The bytes sent, the fraction of time spent waiting, and the hidden fraction of the time under way."""
    names = ("bytes_sent", "waiting", "computing", "travelling", "hidden")
    sent, waiting, computing, travelling, hidden = (sum(getattr(share, name) for share in shares) for name in names)
    return (
        f"{ranks} {'rank' if ranks == 1 else 'ranks'}, {sent / 1e6:,.2f} MB sent; waiting "
        f"{waiting / (waiting + computing):.0%} of the time, {hidden / (travelling or 1):.0%} of the time under way "
        "hidden by computing"
    )


def _bars(axis: Axes, intervals: list[Interval], place: tuple[float, float], colour: str) -> None:
    bars = [(1e3 * first, 1e3 * (last - first)) for first, last in intervals]
    axis.broken_barh(bars, place, color=colour, alpha=0.6, linewidth=0)


def _finish(axis: Axes) -> None:
    axis.set_xlim(left=0)
    axis.set_xlabel("milliseconds", fontsize=9)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
