"""What was found for each arc, such as how many paths use it, in lines and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import tgraph as tg

if TYPE_CHECKING:
    import pandas
    from torch import Tensor


def ranks(graph: tg.Graph, value: Tensor) -> str:
    """The five edges of the highest values [m], an undirected one once."""
    _, positions = _once(graph)
    values = value.cpu()[positions]
    best = values.argsort(descending=True, stable=True)[:5]
    named = ((graph.arc(int(positions[i])), float(values[i])) for i in best)
    return "top 5: " + ", ".join(f"{u} - {v} ({number:.3g})" for (u, v), number in named)


def column(name: str) -> Callable[[tg.Graph, Tensor], pandas.DataFrame]:
    """A table with a row for each edge: the original ids of its ends, and the value [m] of its arc under `name`."""

    def frame(graph: tg.Graph, value: Tensor) -> pandas.DataFrame:
        source, positions = _once(graph)
        table = graph.frame().rename(columns={"vertex": "source"})
        ends = graph.decoded().neighbors.cpu()[positions].numpy()
        found = table.iloc[source.numpy()].reset_index(drop=True)
        found["target"] = table["source"].to_numpy()[ends]
        found[name] = value.cpu()[positions].numpy()
        return found

    return frame


def _once(graph: tg.Graph) -> tuple[Tensor, Tensor]:
    """The source and the position of one arc of each edge."""

    import torch

    arcs = graph.decoded()
    source = torch.arange(arcs.num_vertices).repeat_interleave(arcs.out_degree.cpu())
    kept = torch.ones_like(source, dtype=torch.bool) if graph.directed else source <= arcs.neighbors.cpu()
    positions = kept.nonzero().flatten()
    return source[positions], positions
