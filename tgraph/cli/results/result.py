"""A kind of result, and what the lines and tables of several kinds share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import tgraph as tg
from tgraph.cli.saying import grouped
from tgraph.terminal import harmless

if TYPE_CHECKING:
    import pandas
    from torch import Tensor

SHOWN = 12  # vertices in a line

Line = Callable[["tg.Graph", Any], str]
Table = Callable[["tg.Graph", Any], "pandas.DataFrame"]


class Result(NamedTuple):
    """line : of the graph and what was found, a line that a person can check. table : of both, a row for each item."""

    line: Line
    table: Table


def shown(vertex: Any) -> str:
    """The original id of a vertex in a line, which its control characters leave whole."""
    return harmless(str(vertex))


def names(graph: tg.Graph, vertices: Tensor) -> list[str]:
    """The original ids of vertices, as `shown`."""
    return [shown(name) for name in ids(graph, vertices)]


def ids(graph: tg.Graph, vertices: Tensor) -> list[Any]:
    """The original ids of vertices."""
    found = graph.ids(vertices)
    return found.tolist() if hasattr(found, "tolist") else list(found)


def share(graph: tg.Graph, count: float) -> str:
    """A number of vertices, of all that the graph has."""
    return f"{grouped(count)} of {grouped(graph.num_vertices)} vertices"


def largest(values: Tensor) -> int | float:
    """The largest value, 0 where there are none."""
    return values.max().item() if len(values) else 0


def sizes(graph: tg.Graph, size: Tensor, one: str, several: str = "", of_largest: str = "the largest of") -> str:
    """The number of groups with these sizes, and the size of the largest."""
    counted = f"1 {one}" if len(size) == 1 else f"{grouped(len(size))} {several or f'{one}s'}"
    return f"{counted}, {of_largest} {share(graph, largest(size))}"


def listed(items: list[str], count: int) -> str:
    """The first of `count` items."""
    return ", ".join([*items[:SHOWN], "..."] if count > SHOWN else items)


def frame(**columns: Any) -> pandas.DataFrame:
    """The table with these columns, tensors or lists."""
    import pandas

    columns = {name: held.cpu().numpy() if hasattr(held, "cpu") else held for name, held in columns.items()}
    return pandas.DataFrame(columns)


def numbered(size: list[int]) -> list[int]:
    """The number of the group that each member is in, for groups of these sizes, one after the other."""
    return [group for group, count in enumerate(size) for _ in range(count)]
