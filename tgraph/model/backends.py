"""Backends of `aggregate`: those that there are, and one's own.

tg.backends.register("mine", aggregate)
tg.run(program, graph, backend="mine")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from tgraph.core.building.inputs import check_choice
from tgraph.core.dispatch import BACKENDS, Backend
from tgraph.core.subgraph import Received, Subgraph
from tgraph.errors import ArgumentError
from tgraph.kernels.call import Call
from tgraph.kernels.operators.aggregation.aggregation import aggregate as declared
from tgraph.kernels.reductions import Reduction

__all__ = ["names", "register", "unregister"]

_registered: set[str] = set()


def names() -> tuple[str, ...]:
    """The names that `backend=` takes beside "auto", in the order in which "auto" asks them.

    >>> tg.backends.names()
    ('layout', 'native', 'cuda', 'scatter', 'sparse', 'portable')
    """
    return tuple(BACKENDS)


def register(
    name: str,
    aggregate: Callable[..., Received | Tensor],
    supports: Callable[..., bool | str] | None = None,
) -> None:
    """Register a backend: functions that take `backend=` then accept its `name`. "auto" never chooses it.

    aggregate : a function(sub, data, reduce, edge, weights, dtype). `sub` is the Subgraph: in a pull every row receives
        from its neighbors, in a push the rows send; `sub.offset`, `sub.neighbors`, `sub.rows`, `sub.row_of_arc` and
        `sub.active_mask` are its arcs. `data` is [n, ...], `reduce` and `edge` are names, `weights` is None, a number
        or [e, ...] in the order of these arcs, `dtype` as `tg.aggregate` takes it. It returns a `Received`; or a tensor
        with a row for each row of a pull. It records no gradient: gradients follow from the same function.
    supports : a function of the same arguments that says True, or in a sentence why the backend does not support them;
        by default it supports all.

    Raises ArgumentError for a name that is taken.

    >>> def by_loop(sub, data, reduce, edge, weights, dtype):
    ...     rows = zip(sub.offset[:-1], sub.offset[1:])
    ...     return torch.stack([data[sub.neighbors[a:b].long()].sum(0) for a, b in rows])
    >>> def supports(sub, data, reduce, edge, weights, dtype):
    ...     plain = sub.mode == "pull" and sub.active_mask is None and (reduce, edge) == ("sum", "copy")
    ...     return plain or "it adds what all vertices send"
    >>> tg.backends.register("loop", by_loop, supports)
    >>> tg.aggregate(tg.generators.path(3), torch.tensor([1.0, 2.0, 3.0]), backend="loop")
    tensor([2., 4., 2.])
    >>> tg.backends.unregister("loop")
    """
    if not isinstance(name, str) or not name.isidentifier() or name == "auto" or name in BACKENDS:
        raise ArgumentError(f"name: {name!r} is taken, or no name; take another than {', '.join(BACKENDS)} and auto")

    def refuses(call: Call) -> str | None:
        reduce = "" if call.reduction is None else call.reduction.name
        given = True if supports is None else supports(call.sub, call.data, reduce, call.edge, call.weights, call.dtype)
        return None if given is True else f"{given or 'it says so'}"

    def run(sub: Subgraph, data: Tensor, reduction: Reduction, edge: str, weights: Any, dtype: Any = None) -> Received:
        received = aggregate(sub, data, reduction.name, edge, weights, dtype)
        if isinstance(received, Tensor) and sub.mode == "pull":
            received = Received(received, sub.rows)
        if not isinstance(received, Received):
            raise ArgumentError(
                f"backend: {name!r} must return a tg.Received(values, vertices), got {type(received).__name__}"
            )
        count = len(sub.offset) - 1 if sub.mode == "pull" else sub.graph.num_vertices
        count = count if received.vertices is None else len(received.vertices)
        if received.values.shape[:1] != (count,):
            raise ArgumentError(
                f"backend: {name!r} returned values {list(received.values.shape)}, expected [{count}, ...]"
            )
        return received

    made = Backend(name)
    made.implements(declared, refuses)(run)
    BACKENDS[name] = made
    _registered.add(name)


def unregister(name: str) -> None:
    """Remove a backend that was registered. Raises ArgumentError for any other.

    >>> tg.backends.register("mine", lambda sub, data, reduce, edge, weights, dtype: data)
    >>> tg.backends.unregister("mine")
    >>> "mine" in tg.backends.names()
    False
    """
    check_choice(name, "name", tuple(sorted(_registered)))
    _registered.discard(name)
    del BACKENDS[name]
