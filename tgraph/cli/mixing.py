"""What a run found of similar vertices and of degrees, in lines that a person can check, and the tables that it
writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tgraph as tg
from tgraph.cli import report

if TYPE_CHECKING:
    from torch import Tensor

SHOWN = 5  # pairs in a line


def similar(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    """The most similar pairs."""
    table = similar_frame(graph, found)
    if not len(table):
        return "no two vertices have a neighbour in common"
    best = table.iloc[table["similarity"].to_numpy().argsort(kind="stable")[::-1][:SHOWN]]
    rows = best.itertuples(index=False)
    return "top 5: " + ", ".join(
        f"{report.shown(vertex)} - {report.shown(other)} ({score:.3g})" for vertex, other, score in rows
    )


def similar_frame(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> Any:
    """A table with a row for each pair, best first for each vertex: both original ids, and the similarity."""

    import pandas
    import torch

    others, scores = (part.cpu() for part in found)
    there = others >= 0
    ids = graph.frame()["vertex"].to_numpy()
    vertex = torch.arange(len(others))[:, None].expand_as(others)[there]
    columns = {"vertex": ids[vertex.numpy()], "other": ids[others[there].numpy()]}
    return pandas.DataFrame({**columns, "similarity": scores[there].numpy()})


def matrix(graph: tg.Graph, similarity: Tensor) -> str:
    """The most similar pairs of a matrix of similarities."""
    return similar(graph, _best(similarity))


def matrix_frame(graph: tg.Graph, similarity: Tensor) -> Any:
    """A table with a row for each vertex and each of the ten most similar to it."""
    return similar_frame(graph, _best(similarity))


def _best(similarity: Tensor, count: int = 10) -> tuple[Tensor, Tensor]:
    """The others of the highest scores above 0 for each vertex, and these, as `most_similar` has them."""
    scores = similarity.clone().fill_diagonal_(0)
    best, others = scores.sort(stable=True, dim=1, descending=True)
    best, others = best[:, :count], others[:, :count]
    return others.masked_fill(best <= 0, -1), best


def line(graph: tg.Graph, found: tuple[tg.Graph, Tensor]) -> str:
    """The size of a line graph."""
    return f"{found[0].num_vertices:,} edges, of which {found[0].num_edges:,} pairs share a vertex"


def line_frame(graph: tg.Graph, found: tuple[tg.Graph, Tensor]) -> Any:
    """A table with a row for each edge of a line graph: the numbers of two edges that share a vertex."""
    return found[0].to_pandas()


def degrees(graph: tg.Graph, count: Tensor) -> str:
    """The mean and the largest degree, and the power law that fits best."""

    import torch

    degree = torch.arange(len(count), device=count.device)
    mean = float((degree * count).sum()) / max(graph.num_vertices, 1)
    text = f"degree {mean:.4g} on average, {max(len(count) - 1, 0):,} at most"
    if int((count[1:] > 0).sum()) < 2:
        return text
    each = degree.repeat_interleave(count)
    law = tg.algorithms.power_law_fit(each)
    fits = "fits" if tg.algorithms.power_law_p_value(each, law) >= 0.1 else "fits badly"
    law_said = f"a power law of exponent {law.alpha:.3g} {fits} (distance {law.ks:.2g})"
    return f"{text}; from {law.xmin:,} on {law_said}"


def degrees_frame(graph: tg.Graph, count: Tensor) -> Any:
    """A table with a row for each degree that occurs: the degree, and how many vertices have it."""
    import pandas

    degree = count.nonzero().flatten()
    return pandas.DataFrame({"degree": degree.cpu().numpy(), "count": count[degree].cpu().numpy()})
