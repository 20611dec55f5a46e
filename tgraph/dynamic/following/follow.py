"""follow(): which follower a program has."""

from __future__ import annotations

from typing import Any, Literal

from tgraph.core.building.inputs import check_choice
from tgraph.core.graph import Graph
from tgraph.dynamic.following.cores import FollowedCores
from tgraph.dynamic.following.declared import Components, CoreNumbers, Embeddings, LinearSystem, Triangles
from tgraph.dynamic.following.embeddings import FollowedEmbeddings, outputs
from tgraph.dynamic.following.follower import Follower, Recomputing
from tgraph.dynamic.following.linear import FollowedSystem
from tgraph.dynamic.following.relaxation import FollowedComponents, FollowedRelaxation, declares, refuses_relaxation
from tgraph.dynamic.following.triangles import FollowedTriangles
from tgraph.dynamic.runs import WEIGHTS
from tgraph.dynamic.store import Store
from tgraph.engine.run import run
from tgraph.errors import ArgumentError
from tgraph.kernels import following
from tgraph.model.program import Program, Relaxation
from tgraph.primitives.cohesion.intersect import triangles
from tgraph.primitives.cohesion.k_core import core_numbers


def follow(
    program: Program | CoreNumbers | Triangles | Embeddings,
    store: Store,
    *,
    otherwise: Literal["refuse", "recompute"] = "refuse",
) -> Follower:
    """The values of a program on a store that changes: `follow(program, store).values` are those at the store's newest
    version, as `tgraph.run` on a snapshot would give them.

    program : a `tgraph.Relaxation`, whose values are equal to the bit; a program whose method `followed` returns a
        declaration, as of `tgraph.algorithms.WCC` and `PageRank`; `tgraph.dynamic.CoreNumbers()`, `Triangles()`
        or `Embeddings(layers, features)`.
    otherwise : for other programs, "refuse" raises an ArgumentError, "recompute" computes the values from nothing for
        each version that they are asked for.

    The first access computes the values from nothing. Later ones work in the changes of batches, at the cost of the
    vertices touched; where these are many, the values are computed from nothing again, as `statistics` says. The first
    values of a relaxation must not depend on the arcs. Weights that a store with multi="sum" adds up are rounded in the
    order of the batches. Without compiled kernels values are computed from nothing.

    Raises ArgumentError for another program or store.

    >>> store = tg.dynamic.Store(weights=torch.float32)
    >>> store.insert([0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    1
    >>> follow = tg.dynamic.follow(tg.algorithms.SSSP(0), store)
    >>> follow.values
    tensor([0., 1., 2., 3.])
    >>> store.delete([1], [2])
    2
    >>> follow.values
    tensor([0., 1., inf, inf])
    """
    check_choice(otherwise, "otherwise", ("refuse", "recompute"))
    if not isinstance(store, Store):
        raise ArgumentError(f"store: expected a tgraph.dynamic.Store, got {type(store).__name__}")
    declared: Any = program
    if isinstance(program, Program):
        steps = {"init", "tensorize", "compute", "residual", "finish"}
        declared = program.followed() if declares(type(program), "followed", steps) else None
    if not isinstance(program, (Program, CoreNumbers, Triangles, Embeddings)):
        raise ArgumentError(
            f"program: expected an instance of a Program, or CoreNumbers(), Triangles() or Embeddings(...), got "
            f"{program!r}"
        )
    if (reason := _refuses(program, declared, store)) is not None and otherwise == "refuse":
        raise ArgumentError(
            f"program: {type(program).__name__} cannot be followed: {reason}; say otherwise='recompute' to have its "
            "values computed from nothing for each version"
        )
    if (reason := reason or following.refuses()) is not None:
        return Recomputing(store, lambda graph: _from_nothing(program, graph), reason)
    return _follower(program, declared, store)


def _refuses(program: Any, declared: Any, store: Store) -> str | None:
    """Why a program cannot be followed, None if it can."""
    dtype = store.columns.get(WEIGHTS)
    weighted = dtype is not None and dtype not in following.WEIGHTS
    if declared is None and isinstance(program, Relaxation):
        return f"the store has weights of {dtype}" if weighted else refuses_relaxation(program)
    if declared is None:
        return "it is no relaxation, and declares nothing in its method `followed`"
    if isinstance(declared, Embeddings) and dtype is not None:
        return "the store has weights, which its layers would not be given"
    if isinstance(declared, LinearSystem) and declared.weighted and weighted:
        return f"the store has weights of {dtype}"
    return None


def _follower(program: Any, declared: Any, store: Store) -> Follower:
    if declared is None:
        return FollowedRelaxation(program, store)
    if isinstance(declared, Components):
        return FollowedComponents(program, store)
    if isinstance(declared, LinearSystem):
        return FollowedSystem(declared, program, store)
    if isinstance(declared, Embeddings):
        return FollowedEmbeddings(declared, store)
    return FollowedCores(store) if isinstance(declared, CoreNumbers) else FollowedTriangles(declared, store)


def _from_nothing(program: Any, graph: Graph) -> Any:
    if isinstance(program, Program):
        return run(program, graph).values
    if isinstance(program, CoreNumbers):
        return core_numbers(graph)
    if isinstance(program, Embeddings):
        return outputs(program, graph)[-1]
    found = triangles(graph, per_vertex=program.per_vertex)
    return found if program.per_vertex else int(found)
