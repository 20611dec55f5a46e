"""A plot of a partition: the number of arcs of each part, and between each two parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Distinguishable with colour blindness (Okabe, Ito 2008) and in greyscale.
INSIDE, OUTSIDE = "#0072b2", "#e69f00"

# With more parts than this there are no gaps between the bars.
BARS = 40


def draw(between: Tensor, path: str | Any, title: str = "") -> None:
    """Plot the arcs between p parts, int64 [p, p], to the image file `path`, with a `title`: a bar chart of the arcs of
    each part on the left, the matrix with source parts as rows, in logarithmic colours, on the right."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    bars, matrix = figure.subplots(1, 2, width_ratios=(5, 4))
    _draw_sizes(bars, between)
    _draw_matrix(figure, matrix, between)
    figure.suptitle(title, fontsize=12)
    figure.savefig(path, dpi=130)


def _draw_sizes(axis: Axes, between: Tensor) -> None:
    from matplotlib.ticker import EngFormatter

    parts = len(between)
    total, inside = between.sum(1).double(), between.diagonal().double()
    edges = [i - 0.5 for i in range(parts + 1)]
    gap: dict[str, Any] = {"edgecolor": "white", "linewidth": 1} if parts <= BARS else {}
    axis.stairs(total.tolist(), edges, fill=True, facecolor=OUTSIDE, label="to other parts")
    axis.stairs(inside.tolist(), edges, fill=True, facecolor=INSIDE, label="inside the part")
    if gap:
        axis.vlines(edges, 0, float(total.max()), color="white", linewidth=1.5)
    axis.axhline(float(total.mean()), color="black", linewidth=1, linestyle=":", label="mean")
    axis.set_xlim(-0.5, parts - 0.5)
    axis.set_ylim(0, 1.05 * max(float(total.max()), 1))
    axis.yaxis.set_major_formatter(EngFormatter(sep=" "))
    axis.set_ylabel("arcs")
    axis.set_title("Arcs of each part", fontsize=10, loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False, fontsize=9)
    _number(axis.xaxis)
    axis.set_xlabel("part")


def _draw_matrix(figure: Any, axis: Axes, between: Tensor) -> None:
    import matplotlib
    from matplotlib.colors import LogNorm

    colours = matplotlib.colormaps["viridis"].with_extremes(bad="white")
    shown = between.double().masked_fill(between == 0, float("nan")).numpy(force=True)
    largest = max(int(between.max()), 2)
    image = axis.imshow(shown, cmap=colours, norm=LogNorm(1, largest), interpolation="nearest")
    figure.colorbar(image, ax=axis, label="arcs (none: white)", fraction=0.046)
    axis.set_title("Arcs from part to part", fontsize=10, loc="left")
    axis.set_xlabel("to part")
    axis.set_ylabel("from part")
    _number(axis.xaxis)
    _number(axis.yaxis)


def _number(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
