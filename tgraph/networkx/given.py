"""Nodes as they are given: objects that equal a node of the graph, and objects that are none.

networkx puts a source into its results as it was given, `2.0` or `np.int64(2)` for the node 2. What becomes of an
object that is no node, networkx's own code tells: an exception, its message, or a result after all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import networkx as nx

from tgraph.networkx.graph import Graph
from tgraph.networkx.nodes import NoNode

# Parameters whose nodes are in results as they are given, and those of functions that give the graph's own.
GIVEN = ("source", "sources", "nodes", "nbunch", "n", "v", "u", "target", "targets")
OWN = {("bellman_ford_predecessor_and_distance", "target")}
ALSO = {("laplacian_centrality", "nodelist"), ("minimum_cut", "_t")}


def as_networkx(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for nodes as they are given."""
    places = {each: place for place, each in enumerate(inspect.signature(function).parameters)}
    taken = {(name, each) for each in GIVEN} - OWN | ALSO
    given = [(each, place) for each, place in places.items() if (name, each) in taken]
    lazy, first = inspect.isgeneratorfunction(function), next(iter(places), "")

    def call(*args: Any, **kwargs: Any) -> Any:
        graph = args[0] if args else kwargs.get(first)
        if isinstance(graph, Graph):
            values = [args[place] if place < len(args) else kwargs.get(each) for each, place in given]
            graph = _renamed(graph, [value for value in values if value is not None])
        try:
            if args:
                found = function(graph, *args[1:], **kwargs)
            else:
                found = function(**kwargs | ({first: graph} if first in kwargs else {}))
            return _begun(found) if lazy else found
        except NoNode:
            own = nx.utils.backends._registered_algorithms[name].orig_func
            plain = [each._as_plain() if isinstance(each, Graph) else each for each in args]
            options = {key: each._as_plain() if isinstance(each, Graph) else each for key, each in kwargs.items()}
            with nx.config(backend_priority=[]):
                return own(*plain, **options)

    return call


def _begun(results: Iterator[Any]) -> Iterator[Any]:
    """The results, the first of which is computed at once: later, networkx would not take a call back."""
    try:
        first = [next(results)]
    except StopIteration:
        first = []
    except (NoNode, NotImplementedError):
        raise
    except Exception as fault:
        return _raised(fault)
    return _resumed(first, results)


def _resumed(first: list[Any], results: Iterator[Any]) -> Iterator[Any]:
    yield from first
    yield from results


def _raised(fault: Exception) -> Iterator[Any]:
    raise fault
    yield


def _renamed(graph: Graph, values: Sequence[Any]) -> Graph:
    """The graph, whose results have the nodes among `values`, nodes or collections of them, as they are there."""
    kind = graph.labels.kind
    given: dict[int, Any] = {}
    for value in values:
        if type(value) is kind or isinstance(value, Iterator):
            continue
        nodes = value if isinstance(value, Collection) and not _is_node(graph, value) else (value,)
        if set(map(type, nodes)) <= {kind}:
            continue
        for node in nodes:
            if _is_node(graph, node):
                given.setdefault(graph.labels.index(node), node)
    given = {vertex: node for vertex, node in given.items() if not _alike(node, graph.labels.names[vertex])}
    return graph._given_as(given) if given else graph


def _is_node(graph: Graph, value: Any) -> bool:
    try:
        return value in graph.labels
    except TypeError:  # what cannot be hashed
        return False


def _alike(node: Any, other: Any) -> bool:
    """Whether equal objects look alike, what they contain included."""
    return node is other or (type(node) is type(other) and (type(node) in (int, str) or repr(node) == repr(other)))
