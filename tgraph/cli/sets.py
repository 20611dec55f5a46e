"""What commands say and write that find sets: of vertices, of edges, subgraphs, numbers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tgraph as tg

if TYPE_CHECKING:
    import pandas
    from torch import Tensor


def vertices(what: str) -> Callable[[tg.Graph, Tensor], str]:
    """How many vertices [k] were found, in words."""
    return lambda graph, chosen: f"{what} of {len(chosen):,} of {graph.num_vertices:,} vertices"


def vertex_frame(graph: tg.Graph, chosen: Tensor) -> pandas.DataFrame:
    """A table with a row for each vertex [k]: its original id."""
    import pandas

    return pandas.DataFrame({"vertex": _names(graph, chosen)})


def subgraph(graph: tg.Graph, found: tg.Graph) -> str:
    """The size of a graph that was found, and its weight where it has one."""

    import torch

    weights = found.decoded().weights
    total = "" if weights is None else f", of weight {weights.to(torch.float64).sum().item() / 2:.6g}"
    return f"{found.num_edges:,} of {graph.num_edges:,} edges among {found.num_vertices:,} vertices{total}"


def edge_frame(graph: tg.Graph, found: tg.Graph) -> pandas.DataFrame:
    """A table with a row for each edge of a graph: its ends, and its weight where it has one."""
    return found.to_pandas()


def matching(graph: tg.Graph, mate: Tensor) -> str:
    """How many edges are in the matching with these mates [n]."""
    matched = int((mate >= 0).sum())
    return f"{matched // 2:,} edges, {graph.num_vertices - matched:,} vertices are left alone"


def matching_frame(graph: tg.Graph, mate: Tensor) -> pandas.DataFrame:
    """A table with a row for each edge of a matching: its two ends."""

    import pandas
    import torch

    first = (mate > torch.arange(len(mate), device=mate.device)).nonzero().squeeze(1)
    return pandas.DataFrame({"vertex": _names(graph, first), "mate": _names(graph, mate[first])})


def cliques(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    """How many cliques there are, and the size of the largest."""
    size = found[0].diff()
    return f"{len(size):,} maximal cliques, the largest of {int(size.max()) if len(size) else 0:,} vertices"


def clique_frame(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> pandas.DataFrame:
    """A table with a row for each vertex of each clique: the number of the clique, and the vertex."""

    import pandas
    import torch

    offset, members = found
    number = torch.arange(len(offset) - 1, device=offset.device).repeat_interleave(offset.diff())
    return pandas.DataFrame({"clique": number.tolist(), "vertex": _names(graph, members)})


def arcs(name: str) -> Callable[[tg.Graph, Tensor], pandas.DataFrame]:
    """A table with a row for each arc: its ends, and the value [m] found for it under `name`."""

    def frame(graph: tg.Graph, values: Tensor) -> pandas.DataFrame:
        import pandas
        import torch

        held = graph.decoded()
        source = torch.arange(graph.num_vertices, device=graph.device).repeat_interleave(held.out_degree)
        ends = {"source": _names(graph, source), "target": _names(graph, held.neighbors.to(torch.int64))}
        return pandas.DataFrame({**ends, name: values.tolist()})

    return frame


def trusses(graph: tg.Graph, truss: Tensor) -> str:
    """The largest truss number, and how many edges have it."""
    largest = int(truss.max()) if len(truss) else 0
    return f"truss numbers up to {largest}, that of {int((truss == largest).sum()) // 2:,} edges"


def densest(graph: tg.Graph, found: tuple[float, Tensor]) -> str:
    """The density of a subgraph, and its size."""
    return f"{found[0]:.4g} edges for each vertex, among {len(found[1]):,} of {graph.num_vertices:,} vertices"


def densest_frame(graph: tg.Graph, found: tuple[float, Tensor]) -> pandas.DataFrame:
    """A table with a row for each vertex of the subgraph."""
    return vertex_frame(graph, found[1])


def number(name: str) -> Callable[[tg.Graph, Any], str]:
    """A single number in words."""
    return lambda graph, value: f"{name} {value:,}" if isinstance(value, int) else f"{name} {value:.6g}"


def number_frame(graph: tg.Graph, value: Any) -> pandas.DataFrame:
    """A table with that number."""
    import pandas

    return pandas.DataFrame({"value": [value]})


def counts(graph: tg.Graph, found: dict[str, int]) -> str:
    """Numbers by name, those that are not 0."""
    return ", ".join(f"{name} {count:,}" for name, count in found.items() if count) or "none"


def count_frame(graph: tg.Graph, found: dict[str, int]) -> pandas.DataFrame:
    """A table with a row for each name and its number."""
    import pandas

    return pandas.DataFrame({"kind": list(found), "count": list(found.values())})


def by_index(name: str) -> tuple[Callable[[tg.Graph, Tensor], str], Callable[[tg.Graph, Tensor], pandas.DataFrame]]:
    """(the last few of numbers [k] in words, a table of all), by their positions, which are called `name`."""

    def finding(graph: tg.Graph, values: Tensor) -> str:
        last = list(enumerate(values.tolist()))[-5:]
        return f"{name}: " + (", ".join(f"{index} ({value:.4g})" for index, value in last) or "none")

    def frame(graph: tg.Graph, values: Tensor) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame({name: range(len(values)), "value": values.tolist()})

    return finding, frame


def _names(graph: tg.Graph, chosen: Tensor) -> list[Any]:
    found = graph.ids(chosen)
    return found.tolist() if hasattr(found, "tolist") else list(found)
