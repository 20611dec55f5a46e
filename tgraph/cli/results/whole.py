"""Results of the whole graph: numbers, counts, other graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tgraph as tg
from tgraph.cli.results.result import Result, frame
from tgraph.cli.saying import grouped

if TYPE_CHECKING:
    import pandas
    from torch import Tensor


def number(name: str, column: str = "") -> Result:
    """A number, in a column of its name or another."""
    return Result(
        lambda graph, value: f"{name} {grouped(value)}" if isinstance(value, int) else f"{name} {value:.10g}",
        lambda graph, value: frame(**{column or name: [value]}),
    )


COUNTS = Result(
    lambda graph, found: ", ".join(f"{name} {grouped(count)}" for name, count in found.items() if count) or "none",
    lambda graph, found: frame(kind=list(found), count=list(found.values())),
)


def by_index(name: str) -> Result:
    """Numbers [k] by their positions, which are called `name`; the line has the last ones."""

    def line(graph: tg.Graph, values: Tensor) -> str:
        last = list(enumerate(values.tolist()))[-5:]
        return f"{name}: " + (", ".join(f"{index} ({value:.4g})" for index, value in last) or "none")

    return Result(line, lambda graph, values: frame(**{name: range(len(values))}, value=values))


def _degrees(graph: tg.Graph, count: Tensor) -> str:
    """The mean and the largest degree, and the power law that fits best."""
    import torch

    degree = torch.arange(len(count), device=count.device)
    mean = float((degree * count).sum()) / max(graph.num_vertices, 1)
    text = f"degree {mean:.4g} on average, {grouped(max(len(count) - 1, 0))} at most"
    if int((count[1:] > 0).sum()) < 2:
        return text
    each = degree.repeat_interleave(count)
    law = tg.algorithms.power_law_fit(each)
    fits = "fits" if tg.algorithms.power_law_p_value(each, law) >= 0.1 else "fits badly"
    return f"{text}; from {grouped(law.xmin)} on a power law of exponent {law.alpha:.3g} {fits} (distance {law.ks:.2g})"


def _degrees_table(graph: tg.Graph, count: Tensor) -> pandas.DataFrame:
    degree = count.nonzero().flatten()
    return frame(degree=degree, count=count[degree])


DEGREES = Result(_degrees, _degrees_table)

# ---- graphs -------------------------------------------------------------------------------------------------------


def _arcs(graph: tg.Graph, found: tg.Graph) -> str:
    return f"{grouped(found.num_arcs)} of {grouped(graph.num_arcs)} arcs"


def _subgraph(graph: tg.Graph, found: tg.Graph) -> str:
    weights = found.decoded().weights
    total = "" if weights is None else f", of weight {weights.double().sum().item() / 2:.6g}"
    edges = f"{grouped(found.num_edges)} of {grouped(graph.num_edges)} edges"
    return f"{edges} among {grouped(found.num_vertices)} vertices{total}"


def _line_graph(graph: tg.Graph, found: tuple[tg.Graph, Tensor]) -> str:
    return f"{grouped(found[0].num_vertices)} edges, of which {grouped(found[0].num_edges)} pairs share a vertex"


ARCS = Result(_arcs, lambda graph, found: found.to_pandas())
SUBGRAPH = Result(_subgraph, lambda graph, found: found.to_pandas())
LINE_GRAPH = Result(_line_graph, lambda graph, found: found[0].to_pandas())
