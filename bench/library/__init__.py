"""The library of algorithms beside its peers: a row for each function that others have too, in one file for each topic.

    python -m bench.library [--topics components,paths] [--rows scc] [--graphs rmat,web] [--scale 20] [--threads 2]

Every result is verified against ours, which the tests compare with other oracles; of communities, which may differ
and be as good, the modularity is shown. Graphs, peers and the way of timing are those of `bench.analytics`; a row for
undirected graphs takes directed ones without their directions. Prints the cells as they are measured, and writes
bench/results/library.json and library.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.arrays import Description
from bench.kernels import nothing
from bench.verify import require


def equal(ours: Any, theirs: Any) -> None:
    """The same integers."""
    require(np.array_equal(ours, theirs), "the results differ")


def close(ours: Any, theirs: Any) -> None:
    """The same numbers but for rounding."""
    require(np.allclose(ours, theirs, rtol=1e-4, atol=1e-8, equal_nan=True), "the numbers differ")


def same_groups(ours: Any, theirs: Any) -> None:
    """The same partition of the vertices, whatever the groups are called."""
    pairs = np.unique(np.stack((np.asarray(ours), np.asarray(theirs))), axis=1)
    groups = len(np.unique(pairs[0])), len(np.unique(pairs[1]))
    require(groups == (pairs.shape[1],) * 2, "the groups differ")


def anything(ours: Any, theirs: Any) -> None:
    """For results that may differ and still be right; say in the row's `quality` how good they are."""


@dataclass(frozen=True)
class Row:
    """A function that tgraph and some peers have.

    calls : by system, what is timed: a function of (system of bench.peers, argument).
    read : by system, turns what a call returns into numpy arrays or numbers; numpy.asarray where none is given.
    agree : raises WrongResult where our result and that of a peer, both read, are not both right.
    quality : by name, numbers of a result that has been read, such as its modularity: (system "tgraph", result) -> it.
    directed : True for directed graphs only, False for undirected ones, None for both.
    arguments : one for each block of calls.
    largest : arcs beyond which a peer takes too long, by system; leave ours out.
    """

    title: str
    calls: Mapping[str, Callable[[Any, Any], Any]]
    read: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    agree: Callable[[Any, Any], None] = equal
    quality: Mapping[str, Callable[[Any, Any], float]] = field(default_factory=dict)
    directed: bool | None = None
    arguments: Callable[[Description], list[Any]] = nothing
    largest: Mapping[str, int] = field(default_factory=dict)
