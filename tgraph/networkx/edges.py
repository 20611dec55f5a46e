"""Views of edges that list the edges of all nodes at once."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import torch
from networkx.classes import reportviews
from torch import Tensor

from tgraph.kernels.operators.dicts import MISSING
from tgraph.networkx.views import Rows, attributes_of

_INWARD = (reportviews.InEdgeView, reportviews.InMultiEdgeView)


def listed(view: Any) -> Any:
    """The same view of networkx, quicker for the edges of all nodes, if these are in tensors."""
    if not isinstance(view._adjdict, Rows):
        return view
    view.__class__ = _listing(view.__class__)
    return view


@functools.cache
def _listing(kind: Any) -> type:
    data = type(kind.dataview.__name__, (_ListingData, kind.dataview), _namespace(kind.dataview))
    return type(kind.__name__, (_Listing, kind), {**_namespace(kind), "dataview": data})


def _namespace(kind: type) -> dict[str, Any]:
    return {"__module__": kind.__module__, "__slots__": (), "__doc__": kind.__doc__}


class _Listing:
    """The edges, with their keys in a multigraph."""

    __slots__ = ()
    _graph: Any

    def __iter__(self) -> Iterator[Any]:
        return _tuples(self, self._graph.is_multigraph(), False, None)

    def __len__(self) -> int:
        return self._graph.number_of_edges()

    def __reduce__(self) -> Any:
        return getattr, (self._graph, "in_edges" if isinstance(self, _INWARD) else "edges")


class _ListingData:
    """The edges with the attributes that networkx's `_report` gives."""

    __slots__ = ()
    _viewer: Any
    _nbunch: Any
    _data: Any
    _default: Any

    def __iter__(self) -> Iterator[Any]:
        if self._nbunch is not None:
            return super().__iter__()  # type: ignore[misc]
        return _tuples(self._viewer, getattr(self, "keys", False) is True, self._data, self._default)

    def __len__(self) -> int:
        return len(self._viewer) if self._nbunch is None else super().__len__()  # type: ignore[misc]

    def __reduce__(self) -> Any:
        return _viewed, (self.__getstate__(),)  # type: ignore[attr-defined]


def _viewed(state: dict[str, Any]) -> Any:
    return state["viewer"].dataview(**state)


def _tuples(view: Any, keys: bool, data: Any, default: Any) -> Iterator[Any]:
    """A tuple for each edge, in networkx's order: the ends, the key, and the attributes or the value of one."""
    rows, inward = view._adjdict, isinstance(view, _INWARD)
    twice = not view._graph.is_directed()  # an edge is listed with the first of its two arcs

    def some(begin: int, end: int) -> Iterator[Any]:
        source, target, arcs = rows.arcs_of(begin, end)
        key = _keys(rows, source, target, arcs) if keys else None
        if twice:
            upper = target >= source
            source, target, arcs = source[upper], target[upper], arcs[upper]
            key = None if key is None else key[upper.numpy()]
        ends = [rows.nodes.of(source), rows.nodes.of(target)]
        columns: list[Any] = ends[::-1] if inward else ends
        if key is not None:
            columns.append(key.tolist())
        if data is not False:
            columns.append(_reported(rows, arcs, data, default))
        return zip(*columns, strict=False)

    return chain.from_iterable(some(begin, end) for begin, end in rows.blocks())


def _reported(rows: Rows, arcs: Tensor, data: Any, default: Any) -> Any:
    """Data of each edge: all attributes, or the value of one."""
    if data is True:
        return attributes_of(rows.columns, len(arcs), arcs.numpy())
    column = rows.columns.get(data)
    if column is None:
        return repeat(default)
    values = column.tolist(arcs.numpy())
    if isinstance(column.values, Tensor) and column.present is None:
        return values
    return [default if value is MISSING else value for value in values]


def _keys(rows: Rows, source: Tensor, target: Tensor, arcs: Tensor) -> Any:
    """The keys of arcs, a numpy array: those that the edges have, or their numbers among parallel arcs."""
    if rows.edge_keys is not None:
        return rows.edge_keys[arcs.numpy()]
    places = torch.arange(len(target))
    start = torch.zeros_like(places)
    first = (target[1:] != target[:-1]) | (source[1:] != source[:-1])
    start[1:] = torch.where(first, places[1:], start[1:])
    return (places - start.cummax(0).values).numpy() if len(places) else places.numpy()
