"""Nodes as they are given: objects that equal a node of the graph, and objects that are none.

networkx puts a source into its results as it was given, `2.0` or `np.int64(2)` for the node 2. For an object that
is no node networkx's own code runs, and gives an exception, its message, or a result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import networkx as nx

from tgraph.errors import ArgumentError
from tgraph.networkx.graph import Graph
from tgraph.networkx.nodes import NoNode

# Parameters whose nodes results have as they are given; OWN and ALSO are exceptions by function.
GIVEN = ("source", "sources", "nodes", "nbunch", "n", "v", "u", "target", "targets")
# Parameters of one node, which networkx looks up.
ONE = {"_s", "_t", "n", "node", "node1", "node2", "root", "s", "source", "start_with", "t", "target", "u"}
OWN = {("bellman_ford_predecessor_and_distance", "target")}
ALSO = {("laplacian_centrality", "nodelist"), ("minimum_cut", "_t")}


def as_networkx(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for nodes as they are given."""
    places = {each: place for place, each in enumerate(inspect.signature(function).parameters)}
    taken = {(name, each) for each in GIVEN} - OWN | ALSO
    given = [(each, place) for each, place in places.items() if (name, each) in taken]
    one, first = [(each, place) for each, place in places.items() if each in ONE], next(iter(places), "")
    alone, bunches = [each for each in given if each[0] in ONE], [each for each in given if each[0] not in ONE]

    def values(parameters: Sequence[tuple[str, int]], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        found = [args[place] if place < len(args) else kwargs.get(each) for each, place in parameters]
        return [value for value in found if value is not None]

    def call(*args: Any, **kwargs: Any) -> Any:
        graph = args[0] if args else kwargs.get(first)
        try:
            if (one or given) and isinstance(graph, Graph):
                _require_hashable(values(one, args, kwargs))
                graph = _renamed(graph, values(alone, args, kwargs), values(bunches, args, kwargs))
            if args:
                found = function(graph, *args[1:], **kwargs)
            else:
                found = function(**kwargs | ({first: graph} if first in kwargs else {}))
            return begun(found) if inspect.isgenerator(found) else found
        except NoNode:
            own = nx.utils.backends._registered_algorithms[name].orig_func
            plain = [each._as_plain() if isinstance(each, Graph) else each for each in args]
            options = {key: each._as_plain() if isinstance(each, Graph) else each for key, each in kwargs.items()}
            with nx.config(backend_priority=[]):
                return own(*plain, **options)

    return call


def begun(results: Iterator[Any]) -> Iterator[Any]:
    """The results, the first of them computed at once, so that networkx can still run a call that is left to it. Other
    exceptions come with the first result, as in networkx."""
    try:
        first = list(islice(results, 1))
    except (NoNode, NotImplementedError, ArgumentError):
        raise
    except Exception as fault:
        return _resumed([], results, fault)
    return _resumed(first, results)


def _resumed(first: list[Any], results: Iterator[Any], fault: Exception | None = None) -> Iterator[Any]:
    if fault is not None:
        raise fault
    yield from first
    yield from results


def _require_hashable(nodes: Sequence[Any]) -> None:
    """Raises NoNode for an object that cannot be hashed."""
    try:
        for node in nodes:
            hash(node)
    except TypeError as fault:
        raise NoNode(str(fault)) from fault


def _renamed(graph: Graph, nodes: Sequence[Any], bunches: Sequence[Any]) -> Graph:
    """The graph, whose results have these nodes as they are given, alone or in `bunches`, each a node or several.
    Raises NoNode for a bunch that may be a node or several, and for unlike objects that equal one node."""
    kind = graph.labels.kind
    given = _named(graph, [node for node in nodes if type(node) is not kind])
    for value in bunches:
        if type(value) is kind or isinstance(value, Iterator):
            continue
        bunch = value if isinstance(value, Collection) else ()
        found = {} if set(map(type, bunch)) <= {kind} else _named(graph, bunch)
        if _is_node(graph, value):
            if _unlike(graph, found):
                raise NoNode(f"{value!r}: a node, or several")
            found = _named(graph, (value,))
        given = found | given
    given = _unlike(graph, given)
    return graph._given_as(given) if given else graph


def _named(graph: Graph, nodes: Collection[Any]) -> dict[int, Any]:
    """The objects that equal a node, by vertex. Raises NoNode where unlike ones equal the same."""
    found: dict[int, Any] = {}
    for node in nodes:
        if _is_node(graph, node) and not _alike(found.setdefault(graph.labels.index(node), node), node):
            raise NoNode(f"{node!r}: given as another object as well")
    return found


def _unlike(graph: Graph, given: Mapping[int, Any]) -> dict[int, Any]:
    return {vertex: node for vertex, node in given.items() if not _alike(node, graph.labels.names[vertex])}


def _is_node(graph: Graph, value: Any) -> bool:
    try:
        return value in graph.labels
    except TypeError:  # it cannot be hashed
        return False


def _alike(node: Any, other: Any) -> bool:
    """True where equal objects look alike, their contents included."""
    return node is other or (type(node) is type(other) and (type(node) in (int, str) or repr(node) == repr(other)))
