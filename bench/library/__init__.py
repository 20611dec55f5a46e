"""The library of algorithms beside its peers: a row for each function that others have too, in one file for each topic.

    python -m bench.library [--topics components,paths] [--rows scc] [--graphs rmat,web] [--scale 20] [--threads 2]

Every result is verified against ours, which the tests compare with other oracles; of communities, which may differ
and be as good, the modularity is shown. Graphs, peers and the way of timing are those of `bench.analytics`; a row for
undirected graphs takes directed ones without their directions. A system has about --budget seconds for a row, and at
most --limit for the first call. Prints the cells as they are measured, and writes bench/results/library.json and
library.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np
import torch

import tgraph as tg
from bench.arrays import Arrays, Description
from bench.kernels import BLOCKS, nothing
from bench.verify import require

MODULES = {
    "tgraph": "tgraph.algorithms",
    "networkit": "networkit",
    "rustworkx": "rustworkx",
    "scipy": "scipy.sparse.csgraph",
}


class Lazy:
    """A module that is imported when it is first used: rows of other systems do without it."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self.name), attribute)

    def __bool__(self) -> bool:
        return find_spec(self.name) is not None


nk, rx, igraph, graphblas = map(Lazy, ("networkit", "rustworkx", "igraph", "graphblas"))


class Ends(NamedTuple):
    """The two vertices of a path, passed one after the other."""

    source: int
    target: int


class Call:
    """A function of a system, by its name, of a graph and the argument of the block.

    name : in MODULES; of igraph, a method of its graph; of networkit, an algorithm, which is run. of : the graph, as an
    attribute of the system or a function of it. by : the keyword of the argument, if it has one. arguments and options
    follow it.
    """

    def __init__(
        self, name: str, *arguments: Any, of: str | Callable[[Any], Any] = "graph", by: str = "", **options: Any
    ):
        self.name, self.of, self.by, self.arguments, self.options = name, of, by, arguments, options

    def bound(self, system: Any) -> Callable[[Any], Any]:
        """The function of the argument, looked up so that this is not timed."""
        graph = getattr(system, self.of) if isinstance(self.of, str) else self.of(system)
        if system.name == "igraph":
            function = getattr(graph, self.name)
        else:
            function = partial(attrgetter(self.name)(import_module(MODULES[system.name])), graph)
        function = partial(ran, function) if system.name == "networkit" else function

        def call(argument: Any) -> Any:
            if argument is None:
                return function(*self.arguments, **self.options)
            if self.by:
                return function(*self.arguments, **{self.by: argument}, **self.options)
            given = argument[system.name] if isinstance(argument, dict) else argument
            return function(*(given if isinstance(given, Ends) else (given,)), *self.arguments, **self.options)

        return call


def ran(make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """An algorithm of networkit that has been run."""
    algorithm = make(*arguments, **options)
    algorithm.run()
    return algorithm


@dataclass(frozen=True)
class Row:
    """A function that tgraph and some peers have.

    calls : by system, the name of a function, a Call, or a function of (system of bench.peers, argument).
    read : by system, turns the result of a call into numpy arrays or numbers; numpy.asarray where none is given.
    agree : raises WrongResult where our result and that of a peer, both read, are not both right.
    quality : by name, numbers of a result that has been read, such as its modularity: (system "tgraph", result) -> it.
    directed : True for directed graphs only, False for undirected ones, None for both.
    arguments : one for each block of calls.
    largest : arcs beyond which a peer takes too long, by system; leave ours out.
    """

    title: str
    calls: Mapping[str, str | Call | Callable[[Any, Any], Any]]
    read: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    agree: Callable[[Any, Any], None] = lambda ours, theirs: equal(ours, theirs)
    quality: Mapping[str, Callable[[Any, Any], float]] = field(default_factory=dict)
    directed: bool | None = None
    arguments: Callable[[Description], list[Any]] = nothing
    largest: Mapping[str, int] = field(default_factory=dict)

    def bound(self, system: Any) -> Callable[[Any], Any]:
        """The call of a system, a function of the argument."""
        call = self.calls[system.name]
        call = Call(call) if isinstance(call, str) else call
        return call.bound(system) if isinstance(call, Call) else partial(call, system)


# ---- whether results agree


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


# ---- arguments and results


def drawn(count: int, seed: int = 0, blocks: int = BLOCKS) -> Callable[[Description], list[Any]]:
    """Different vertices drawn at random, the same in all blocks."""

    def arguments(description: Description) -> list[Any]:
        random = np.random.default_rng(seed)
        return [random.choice(description.num_vertices, count, replace=False).tolist()] * blocks

    return arguments


def ends(graph: Any) -> tuple[np.ndarray, np.ndarray]:
    """The sources and targets of the arcs of our graph, [m]."""
    return np.repeat(np.arange(graph.num_vertices), graph.out_degree.numpy()), graph.neighbors.numpy()


def of_arrays(system: Any, arrays: Arrays) -> Any:
    """The graph of other arrays as the system has it, with weights."""
    if system.name == "tgraph":
        tensors = map(torch.from_numpy, (arrays.offset, arrays.neighbors, arrays.weights))
        return tg.Graph(*tensors, directed=arrays.directed)
    made = type(system)(system.folder, arrays, system.description, system.threads)
    return made.graph if system.name == "rustworkx" else made.weighted


def method(name: str) -> Callable[[Any], np.ndarray]:
    """The array that a method of a result returns."""
    get = methodcaller(name)
    return lambda found: np.asarray(get(found))


def by_vertex(values: Any) -> np.ndarray:
    """From a mapping of rustworkx."""
    return np.asarray([values[vertex] for vertex in range(len(values))])


def partition(run: Any) -> np.ndarray:
    """Of networkit."""
    return np.asarray(run.getPartition().getVector(), dtype=np.int64)


def without_cache(name: str, **options: Any) -> Callable[[Any, Any], Any]:
    """A method of igraph's graph, which else remembers the answer."""

    def call(system: Any, _: Any) -> Any:
        getattr(system.graph, "__invalidate_cache")()
        return getattr(system.graph, name)(**options)

    return call
