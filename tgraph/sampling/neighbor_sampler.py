"""Neighbour sampling (Hamilton et al., "Inductive representation learning on large graphs", NeurIPS 2017)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.sampling import neighbors as operators
from tgraph.kernels.operators.sampling.neighbors import Relation
from tgraph.sampling.hops import Choose, Chosen, of_one_type, sample_hops
from tgraph.sampling.in_store import StoreRows
from tgraph.sampling.output import EdgeType, SamplerOutput
from tgraph.sampling.relations import Arcs
from tgraph.sampling.seeds import Seeded, checked_vertices
from tgraph.sampling.spread import SpreadArcs
from tgraph.sampling.stored import StoredArcs, drawn_in_memory

Fanouts = Sequence[int] | Mapping[EdgeType, Sequence[int]]

_ONLY = "vertex"  # the type of vertices of a homogeneous graph


class NeighborSampler(Seeded):
    """Samples the neighbours of seeds, their neighbours, and so on, a hop for each fan-out.

    Parameters
    ----------
    graph : a Graph; a Csr with destinations as rows; such rows in a store, `GraphStore.rows`, of which each hop reads
        the arcs that are drawn, in one request; or, for a heterogeneous graph, a dictionary of these by type of
        edges, (source, relation, destination). On a Graph spread over processes all processes sample at the same time,
        each for seeds of its own, with the same options.
    num_neighbors : arcs for each vertex in each hop, -1 for all; or a dictionary of such lists by edge type.
    replace : whether an arc may be drawn more than once.
    weighted : whether arcs are drawn by their nonnegative weights, with weight 0 never.
    disjoint : whether each seed has a tree of its own, with its own copies of vertices.
    node_time, edge_time : int64 of all vertices [n] or arcs [m], by type in a heterogeneous graph. Vertices or arcs
        later than the time of the seed (`seed_time` of `sample`) are not sampled. Trees are disjoint then.
    induced : whether to return all arcs between sampled vertices (of a tree, where trees are disjoint), not only the
        drawn ones.
    num_vertices : of a heterogeneous graph, by type: for types without edges.
    temporal_strategy : "uniform" draws among the arcs that are not too late, "last" takes the latest of them.
    direction : "in" follows arcs against their direction, to the sources of messages, "out" along it.
    numbered : whether the numbers of the arcs are returned; by default except for graphs in a layout. There, only the
        rows of a batch are decoded; numbers take 8 bytes for each vertex, and for direction "in" on a directed graph,
        or times, the whole graph is decoded and cached.
    seed : with the number of the call, determines the draws, on any number of threads.

    Raises ArgumentError for fan-outs below -1 or of different numbers of hops, graphs without weights or with negative
    ones where `weighted`, times of another shape, both kinds of times, and unknown types.

    >>> graph = tg.Graph.from_edges([1, 2, 3, 3], [0, 0, 1, 2])
    >>> sample = tg.sampling.NeighborSampler(graph, [-1, 1], seed=7).sample([0])
    >>> sample.node, sample.num_sampled_nodes
    (tensor([0, 1, 2, 3]), [1, 2, 1])
    >>> sample.node[torch.stack([sample.row, sample.col])]
    tensor([[1, 2, 3, 3],
            [0, 0, 1, 2]])
    """

    node_types: list[str]

    def __init__(
        self,
        graph: Graph | Csr | StoreRows | Mapping[EdgeType, Graph | Csr | StoreRows],
        num_neighbors: Fanouts,
        *,
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        node_time: Tensor | Mapping[str, Tensor] | None = None,
        edge_time: Tensor | Mapping[EdgeType, Tensor] | None = None,
        temporal_strategy: Literal["uniform", "last"] = "uniform",
        induced: bool = False,
        num_vertices: Mapping[str, int] | None = None,
        direction: Literal["in", "out"] = "in",
        numbered: bool | None = None,
        seed: int = 0,
    ):
        if temporal_strategy not in ("uniform", "last"):
            raise ArgumentError(f"temporal_strategy: expected 'uniform' or 'last', got {temporal_strategy!r}")
        if direction not in ("in", "out"):
            raise ArgumentError(f"direction: expected 'in' or 'out', got {direction!r}")
        if node_time is not None and edge_time is not None:
            raise ArgumentError("node_time, edge_time: times of vertices and of arcs exclude each other; give one")
        self.is_hetero: bool = isinstance(graph, Mapping)
        given = dict(graph) if isinstance(graph, Mapping) else {(_ONLY, "to", _ONLY): graph}
        self.edge_types: list[EdgeType] = list(given)
        self._sizes = dict(num_vertices or {})
        self.node_types = list(dict.fromkeys([*self._sizes, *(kind for type in given for kind in type[::2])]))
        self.replace: bool = replace
        self.seed: int = seed
        self.latest: bool = temporal_strategy == "last"
        self._node_time = node_time
        self.is_temporal: bool = node_time is not None or edge_time is not None
        self.disjoint: bool = disjoint or self.is_temporal
        if induced and self.is_temporal:
            raise ArgumentError("induced: not supported with times, as induced arcs may be too late; leave one out")
        self.induced = induced
        self.num_neighbors = num_neighbors
        self._arcs: list[Arcs | StoredArcs] = []
        self._ends: list[tuple[int, int]] = []
        for kind, arcs in given.items():
            source, _, target = kind if direction == "in" else kind[::-1]
            self._ends.append((self.node_types.index(source), self.node_types.index(target)))
            name = f"graph[{kind!r}]" if self.is_hetero else "graph"
            times = _of(node_time, source, self.is_hetero), _of(edge_time, kind, self.is_hetero)
            stored = None
            if isinstance(arcs, Graph) and arcs.layout is not None and times == (None, None):
                stores = SpreadArcs if arcs.layout.is_distributed else StoredArcs
                stored = stores.of(arcs, direction, weighted, bool(numbered), name)
            elif isinstance(arcs, StoreRows):
                if times != (None, None):
                    raise ArgumentError(f"{name}: rows in a store are not sorted by time; read the edges with csc()")
                stored = StoredArcs.in_store(arcs, direction, weighted, bool(numbered), name)
            held = stored or Arcs.of(cast(Any, arcs), direction, weighted, *times, name)
            self._arcs.append(held)
            for end, size in ((source, held.num_sources), (target, held.num_rows)):
                self._sizes[end] = max(self._sizes.get(end, 0), size)
        self._direction = direction

    def sample(
        self,
        seeds: Tensor | Sequence[int] | Mapping[str, Tensor],
        seed_time: Tensor | Mapping[str, Tensor] | None = None,
        *,
        draw: int | None = None,
    ) -> SamplerOutput:
        """The vertices and arcs sampled around `seeds`: indices of vertices, by type in a heterogeneous graph.

        seed_time : int64, of each seed, where the sampler has times; by default the times of the vertices. draw : the
        number of the call, by default counted; with the sampler's seed, determines the draws.

        Raises ArgumentError for seeds out of range, and missing or unexpected times.

        >>> sampler = tg.sampling.NeighborSampler(tg.generators.cycle(6), [-1])
        >>> sample = sampler.sample([0, 3])
        >>> sample.node, sample.edge
        (tensor([0, 3, 1, 5, 2, 4]), tensor([0, 1, 6, 7]))
        """
        given = self._indices(seeds)
        latest_time = self._times(seed_time, given)
        hops = len(self._fanouts[0]) if self._fanouts else 0
        sampled = self._drawn(given, hops, self._key(draw), latest_time)
        return self._output(self._with_all_arcs(sampled) if self.induced else sampled)

    def _drawn(self, seeds: dict[int, Tensor], hops: int, key: int, latest_time: Tensor | None) -> operators.Sampled:
        keys = [random.key(key, i) for i in range(len(self._arcs))]
        relations = [
            Relation(
                *(arcs.offset, arcs.neighbors, *ends, own, fanouts),
                *(arcs.weights, arcs.sums, arcs.bounds, arcs.time, arcs.is_time_of_arcs),
            )
            for arcs, ends, own, fanouts in zip(self._arcs, self._ends, keys, self._fanouts, strict=True)
            if isinstance(arcs, Arcs)
        ]
        if len(relations) == len(self._arcs):
            choice = self.replace, self.disjoint, self.latest
            return operators.sample_neighbors(relations, seeds, len(self.node_types), hops, *choice, latest_time)

        def choose(i: int, hop: int, vertices: Tensor, place: int) -> Chosen:
            arcs, how = self._arcs[i], (vertices, self._fanouts[i][hop], self.replace, keys[i], place)
            return arcs.drawn(*how) if isinstance(arcs, StoredArcs) else drawn_in_memory(arcs, *how)

        return self._by_hops(seeds, hops, choose)

    def _by_hops(self, seeds: dict[int, Tensor], hops: int, choose: Choose) -> operators.Sampled:
        sizes = [self._sizes[kind] for kind in self.node_types]
        return sample_hops(sizes, self._ends, seeds, hops, self.disjoint, choose)

    @property
    def num_neighbors(self) -> Fanouts:
        """The fan-outs; may be assigned.

        >>> sampler = tg.sampling.NeighborSampler(tg.generators.cycle(6), [2, 1])
        >>> sampler.num_neighbors = [2, 2]
        >>> sampler.sample([0]).num_sampled_edges
        [2, 4]
        """
        return self._num_neighbors

    @num_neighbors.setter
    def num_neighbors(self, fanouts: Fanouts) -> None:
        self._num_neighbors, self._fanouts = fanouts, self._checked(fanouts)

    def _with_all_arcs(self, sampled: operators.Sampled) -> operators.Sampled:
        """The same vertices with all arcs between them, without counts of hops."""
        trees = sampled.trees
        ends = [
            arcs.between(
                *(sampled.vertices[source], sampled.vertices[target]),
                None if trees is None else (trees[source], trees[target]),
            )
            for arcs, (source, target) in zip(self._arcs, self._ends, strict=True)
        ]
        rows, columns, numbers = ([found[i] for found in ends] for i in range(3))
        return sampled._replace(rows=rows, columns=columns, arcs=numbers, counts=[None for _ in ends])

    def _output(self, sampled: operators.Sampled) -> SamplerOutput:
        if self._direction == "out":
            sampled = sampled._replace(rows=sampled.columns, columns=sampled.rows)
        edges = [held.numbered(arc) for held, arc in zip(self._arcs, sampled.arcs, strict=True)]
        if not self.is_hetero:
            return of_one_type(sampled, edges[0])
        trees = sampled.trees
        by_node = lambda values: dict(zip(self.node_types, values, strict=True))  # noqa: E731
        by_edge = lambda values: dict(zip(self.edge_types, values, strict=True))  # noqa: E731
        return SamplerOutput(
            *(by_node(sampled.vertices), by_edge(sampled.rows), by_edge(sampled.columns), by_edge(edges)),
            *(None if trees is None else by_node(trees), by_node(sampled.sizes), by_edge(sampled.counts)),
        )

    def _checked(self, num_neighbors: Fanouts) -> list[list[int]]:
        """The fan-outs of each edge type."""
        if isinstance(num_neighbors, Mapping):
            if unknown := [kind for kind in num_neighbors if kind not in self.edge_types]:
                raise ArgumentError(f"num_neighbors: the graph has no edges {unknown[0]!r}, only {self.edge_types}")
            hops = max((len(fanouts) for fanouts in num_neighbors.values()), default=0)
            found = [list(num_neighbors.get(kind, [0] * hops)) for kind in self.edge_types]
        else:
            found = [list(num_neighbors) for _ in self.edge_types]
        for kind, fanouts in zip(self.edge_types, found, strict=True):
            if len(fanouts) != len(found[0]):
                raise ArgumentError(
                    f"num_neighbors: {kind!r} has {len(fanouts)} hops, others have {len(found[0])}; 0 samples none"
                )
            for hop, fanout in enumerate(fanouts):
                if fanout < -1:
                    raise ArgumentError(f"num_neighbors: got {fanout} in hop {hop}; -1 takes all arcs")
        return found

    def _indices(self, seeds: Any) -> dict[int, Tensor]:
        """The seeds of each type, checked."""
        if isinstance(seeds, Mapping) != self.is_hetero:
            wanted = "a dictionary by type of vertices" if self.is_hetero else "indices of vertices"
            raise ArgumentError(f"seeds: expected {wanted}, got {type(seeds).__name__}")
        found = {}
        for kind, given in (seeds if self.is_hetero else {_ONLY: seeds}).items():
            if kind not in self.node_types:
                raise ArgumentError(f"seeds: the graph has no vertices {kind!r}, only {self.node_types}")
            index = checked_vertices(torch.as_tensor(given, device="cpu"), self._sizes[kind], "seeds")
            found[self.node_types.index(kind)] = index
        return found

    def _times(self, seed_time: Any, seeds: dict[int, Tensor]) -> Tensor | None:
        """The time of each tree, in the order of the seeds."""
        if not self.is_temporal:
            if seed_time is not None:
                raise ArgumentError("seed_time: the sampler has no times; give it node_time or edge_time")
            return None
        times = [self._times_of(self.node_types[kind], index, seed_time) for kind, index in seeds.items()]
        return torch.cat(times).to(torch.int64) if times else torch.empty(0, dtype=torch.int64)

    def _times_of(self, kind: str, index: Tensor, seed_time: Any) -> Tensor:
        """The times of the seeds of one type, by default the times of their vertices."""
        if seed_time is None:
            own = _of(self._node_time, kind, self.is_hetero)
            if own is None:
                raise ArgumentError("seed_time: required, one for each seed, as the sampler has times of arcs")
            return own.cpu()[index]
        time = torch.as_tensor(seed_time[kind] if self.is_hetero else seed_time, device="cpu")
        if time.shape != index.shape or time.is_floating_point():
            expected = f"expected int64 {list(index.shape)}, one for each seed"
            raise ArgumentError(f"seed_time: {expected}, got {time.dtype} {list(time.shape)}")
        return time


def _of(times: Any, kind: Any, is_hetero: bool) -> Tensor | None:
    """The times of one type."""
    return times.get(kind) if is_hetero and times is not None else times
