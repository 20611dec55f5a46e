"""Layer-wise sampling by importance: LADIES (Zou et al., "Layer-dependent importance sampling for training deep and
large graph convolutional networks", NeurIPS 2019) and FastGCN (Chen, Ma and Xiao, "FastGCN: fast learning with graph
convolutional networks via importance sampling", ICLR 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.sampling.members import arcs_from
from tgraph.sampling.hops import Chosen, of_one_type, sample_hops
from tgraph.sampling.output import SamplerOutput
from tgraph.sampling.relations import Arcs
from tgraph.sampling.seeds import Seeded, checked_vertices
from tgraph.sampling.stored import ROWS, StoredArcs

_STRETCH = 1 << 22  # arcs processed at a time


class LayerSampler(Seeded):
    """Samples a fixed number of sources in each hop, for all vertices of the previous hop together, so that batches
    grow linearly with the number of layers; all arcs from these sources are taken.

    With the aggregation matrix A, entries A[v, u] for arcs u -> v, the draws are with replacement: "ladies" draws u by
    the sum of A[v, u]^2 over the vertices v of the previous hop, "fastgcn" over all vertices. An arc from u, drawn t
    times out of s with probability p each, has the weight A[v, u] t / (s p): the weighted sum over the sampled arcs is
    an unbiased estimate of the sum over all arcs.

    Parameters
    ----------
    graph : a Graph, or a square Csr with destinations as rows; of a graph in a layout the rows of a batch are decoded,
        and its arcs have no numbers.
    num_draws : of sources, in each hop; distinct sources are fewer, and fewer still have an arc with "fastgcn".
    weighted : whether A are the weights of the graph, such as those of a normalised GCN; otherwise A[v, u] is
        1 / in-degree(v), as in a mean.
    normalize : whether the weights of the arcs of each vertex are scaled to its row sum in A, as LADIES proposes: less
        variance, but biased.
    seed : with the number of the call, determines the draws, on any number of threads.

    Raises ArgumentError for another `method`, negative draws, and, if `weighted`, graphs without finite weights.

    >>> sampler = tg.sampling.LayerSampler(tg.generators.complete_bipartite(2, 30), [4], seed=1)
    >>> sample = sampler.sample([0, 1])
    >>> sample.node
    tensor([ 0,  1,  2,  6, 11, 28])
    """

    num_draws: list[int]
    normalize: bool
    seed: int

    def __init__(
        self,
        graph: Graph | Csr,
        num_draws: Sequence[int],
        *,
        method: Literal["ladies", "fastgcn"] = "ladies",
        weighted: bool = False,
        normalize: bool = False,
        seed: int = 0,
    ):
        if method not in ("ladies", "fastgcn"):
            raise ArgumentError(f"method: expected 'ladies' or 'fastgcn', got {method!r}")
        if any(count < 0 for count in num_draws):
            raise ArgumentError(f"num_draws: must not be negative, got {list(num_draws)}")
        self._arcs: Arcs | StoredArcs
        self._entries, self._weighted = None, weighted
        if isinstance(graph, Graph) and graph.layout is not None:
            stored = StoredArcs.of(graph, "in", weighted, False, "graph")
            assert stored is not None
            self._arcs = stored
        else:
            self._arcs, weights = Arcs.with_values(graph, "in")
            self._entries = _checked(weights) if weighted else None
        if self._arcs.num_sources != self._arcs.num_rows:
            raise ArgumentError("graph: layers need the same vertices as rows and as columns")
        self.num_draws, self.method, self.normalize, self.seed = list(num_draws), method, normalize, seed
        given = graph.weight_dtype if weighted else torch.float32
        self._dtype = given if given is not None and given.is_floating_point else torch.float64
        self._running = self._mass_of_all().cumsum(0) if method == "fastgcn" else None

    def sample(self, seeds: Tensor | Sequence[int], *, draw: int | None = None) -> SamplerOutput:
        """The vertices and arcs sampled for `seeds`, indices of vertices, with `weight`, of the dtype of the graph's
        weights where `weighted`, else float32. Vertices reached in earlier hops get no further arcs.

        draw : the number of the call, by default counted; with the sampler's seed, determines the draws. Raises
        ArgumentError for seeds out of range.

        >>> sampler = tg.sampling.LayerSampler(tg.generators.cycle(5), [3], seed=1)
        >>> sample = sampler.sample([0])
        >>> sample.node[sample.row], sample.weight
        (tensor([1, 4]), tensor([0.6667, 0.3333]))
        """
        key = self._key(draw)
        node = checked_vertices(seeds, self._arcs.num_rows, "seeds")
        weights = [torch.empty(0, dtype=self._dtype)]

        def choose(_: int, hop: int, vertices: Tensor, place: int) -> Chosen:
            matrix, rows = self._rows_of(vertices)
            found, arc, weight = self._layer(matrix, rows, self.num_draws[hop], random.key(key, hop))
            weights.append(weight.to(self._dtype))
            return Chosen(found, matrix.neighbors[arc].long(), arc)

        found = sample_hops([self._arcs.num_rows], [(0, 0)], {0: node}, len(self.num_draws), False, choose)
        return of_one_type(found, self._arcs.numbered(found.arcs[0]), torch.cat(weights))

    def _mass_of_all(self) -> Tensor:
        """The sum of squares of each column of A, float64 [n]."""
        mass = torch.zeros(self._arcs.num_sources, dtype=torch.float64)
        if isinstance(self._arcs, StoredArcs):
            for begin in range(0, self._arcs.num_rows, ROWS):
                part = torch.arange(begin, min(begin + ROWS, self._arcs.num_rows))
                self._rows_of(part)[0].add_mass(mass, 0, None)
            return mass
        matrix = self._rows_of(mass[:0].long())[0]
        for begin in range(0, len(matrix.neighbors), _STRETCH):
            matrix.add_mass(mass, begin, begin + _STRETCH)
        return mass

    def _rows_of(self, vertices: Tensor) -> tuple[_Matrix, Tensor]:
        """(a matrix, the rows of the vertices in it)"""
        if isinstance(self._arcs, StoredArcs):
            offset, neighbors, weights = self._arcs.storage.rows(vertices)
            entries = _checked(weights) if self._weighted else None
            return _Matrix(offset, neighbors, entries), torch.arange(len(vertices))
        return _Matrix(self._arcs.offset, self._arcs.neighbors, self._entries), vertices

    def _layer(self, matrix: _Matrix, rows: Tensor, count: int, key: int) -> tuple[Tensor, Tensor, Tensor]:
        """The arcs of rows from `count` drawn sources: (arcs of each row, numbers, weights float64)."""
        if self._running is None:
            drawn, total = matrix.drawn(rows, count, key)
        else:
            drawn = _places(self._running, random.uniform(key, 2 * torch.arange(count)))
            total = float(self._running[-1]) if len(self._running) else 0.0
        sources, times = drawn.unique(return_counts=True)
        found, arc, place = arcs_from(matrix.offset, matrix.neighbors, rows, sources)
        value = matrix.values(rows, found, arc)
        if self._running is None:
            mass = torch.zeros(len(sources), dtype=torch.float64).index_add_(0, place, value.square())
        else:
            mass = self._running[sources] - torch.where(sources > 0, self._running[sources - 1], 0)
        weight = value * (times * total / (max(count, 1) * mass))[place]
        return found, arc, matrix.scaled(weight, found, rows) if self.normalize else weight


class _Matrix(NamedTuple):
    """Rows of A: offset int64 [k + 1], neighbors [e], entries [e], or None for 1 / the arcs of the row."""

    offset: Tensor
    neighbors: Tensor
    entries: Tensor | None

    def drawn(self, rows: Tensor, count: int, key: int) -> tuple[Tensor, float]:
        """(`count` sources of the arcs of rows, drawn by the squares of the entries, the sum of all squares)"""
        number = torch.arange(count)
        if self.entries is None:  # equal in a row, with squares that sum to 1 / the arcs of the row
            degree = self.degree(rows)
            running = torch.where(degree > 0, 1 / degree.double(), 0).cumsum(0)
            found = _places(running, random.uniform(key, 2 * number))
            within = random.below(key, 2 * number[: len(found)] + 1, degree[found])
            arc = self.offset[rows[found]] + within
        else:
            every = gather_rows(self.offset, rows)[1]
            running = self.entries[every].double().square().cumsum(0)
            arc = every[_places(running, random.uniform(key, 2 * number))]
        return self.neighbors[arc].long(), float(running[-1]) if len(running) else 0.0

    def add_mass(self, mass: Tensor, begin: int, end: int | None) -> None:
        """Add the squares of arcs begin..end - 1 to the `mass` of their neighbors."""
        arc = torch.arange(len(self.neighbors))[begin:end]
        rows, count = (torch.searchsorted(self.offset, arc, right=True) - 1).unique_consecutive(return_counts=True)
        mass.index_add_(0, self.neighbors[arc].long(), self.values(rows, count, arc).square())

    def values(self, rows: Tensor, count: Tensor, arc: Tensor) -> Tensor:
        """The entries of arcs, float64. `count` : the arcs of each row."""
        if self.entries is None:
            return (1 / self.degree(rows).double()).repeat_interleave(count, output_size=len(arc))
        return self.entries[arc].double()

    def degree(self, rows: Tensor) -> Tensor:
        return self.offset[rows + 1] - self.offset[rows]

    def scaled(self, weight: Tensor, count: Tensor, rows: Tensor) -> Tensor:
        """Weights of sampled arcs, `count` in each row, scaled to the row's sum; unchanged if they sum to 0."""
        row = torch.arange(len(rows)).repeat_interleave(count)
        sampled = torch.zeros(len(rows), dtype=torch.float64).index_add_(0, row, weight)
        whole = torch.ones_like(sampled)
        if self.entries is not None:
            bounds, arc = gather_rows(self.offset, rows)
            every = torch.arange(len(rows)).repeat_interleave(bounds.diff())
            whole = torch.zeros_like(sampled).index_add_(0, every, self.entries[arc].double())
        return weight * torch.where(sampled != 0, whole / sampled, 1)[row]


def _checked(weights: Tensor | None) -> Tensor:
    """Floating weights. Raises ArgumentError unless they exist and are finite."""
    if weights is None:
        raise ArgumentError("graph: has no weights to sample by; give it weights, or leave weighted=False")
    weights = weights.detach() if weights.is_floating_point() else weights.double()
    if len(wrong := (~weights.isfinite()).nonzero()):
        place = int(wrong[0])
        raise ArgumentError(
            f"graph: arcs are sampled by finite weights, weights[{place}] is {weights[place].item()}; replace it, or "
            "leave weighted=False"
        )
    return weights


def _places(running: Tensor, share: Tensor) -> Tensor:
    """Inverse transform sampling: positions, int64, of fractions `share` of the total; empty for total 0."""
    if not len(running) or not running[-1] > 0:
        return share[:0].long()
    last = torch.searchsorted(running, running[-1])  # rounding may lead beyond it
    return torch.searchsorted(running, share * running[-1], right=True).clamp(max=last)
