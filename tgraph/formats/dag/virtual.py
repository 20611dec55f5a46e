"""Repeated sequences of neighbours as virtual vertices: rule-based compression (section 5.1 of the TGraph paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats.dag import evaluation
from tgraph.formats.dag.compressed import Compressed
from tgraph.formats.dag.grammar import Grammar
from tgraph.kernels.dag import Dag
from tgraph.kernels.operators.compressed.evaluate import ordered_dag_rows
from tgraph.kernels.operators.compressed.pairing import replace_pairs

if TYPE_CHECKING:
    from typing_extensions import Self

DEEPEST = 255  # the builders count depth in a byte


class Virtual(Compressed):
    """Rows in which virtual vertices replace repeated sequences of neighbours, which may contain virtual vertices
    again.

    Sequences are found as in CompressGraph (Chen et al., "CompressGraph: efficient parallel graph analytics with
    rule-based compression", SIGMOD 2023): repeated pairs are replaced in rounds, and the rules that save memory are
    kept. Arcs of equal sequences also agree in their weights. All reductions are supported, and each virtual
    vertex is computed once. Memory is never much larger than that of CSR.

    dag : the virtual vertices by nesting depth, then the rows. num_arcs : the number of arcs of the graph.

    The transpose is the adjoint DAG, not compressed anew; it may reorder parallel arcs of different weights.

    >>> graph = tg.generators.complete_bipartite(50, 50)
    >>> graph.to_format("virtual").layout.nbytes, graph.nbytes
    (1212, 20808)
    """

    name: ClassVar[str] = "virtual"
    OPTIONAL: ClassVar[tuple[str, ...]] = ("weights",)

    @classmethod
    def from_graph(cls, graph: Graph, *, min_gain: int = 1, max_depth: int = 10, **unknown: Any) -> Self:
        """Compress the rows of a graph in about twenty parallel rounds, each of O(m) work over what remains.

        min_gain : a sequence of l entries that is used f times becomes a virtual vertex where (f - 1) (l - 1) - 1 is
            greater than this, 0 or more. 1 gives the least memory, as a virtual vertex takes an offset too; larger
            values give fewer virtual vertices. max_depth : the largest nesting depth, 0 to 255.

        Needs up to 40 bytes per arc of temporary memory. The result does not depend on the number of threads.

        Raises ArgumentError for options that are out of range or `unknown`, and where vertices plus half the arcs are
        2**31 or more.
        """
        cls.refuse_options(unknown)
        min_gain, max_depth = inputs.as_count(min_gain, "min_gain"), inputs.as_count(max_depth, "max_depth")
        if max_depth > DEEPEST:
            raise ArgumentError(f"max_depth: {max_depth} is more than {DEEPEST}; 16 hardly ever differ from more")
        tokens, neighbors, weights = _tokens(graph)
        if len(neighbors) + graph.num_arcs // 2 >= 2**31:
            raise ArgumentError(
                f"graph: {len(neighbors)} different arc ends and {graph.num_arcs} arcs are too many to number virtual "
                "vertices in 32 bits; use the layout 'csr'"
            )
        found = replace_pairs(graph.offset.cpu(), tokens.cpu(), len(neighbors), max_depth)
        grammar = Grammar.by_depth(found[0], found[1], len(neighbors), found[2])
        return cls(_dag_of(grammar, min_gain, neighbors.cpu(), weights).to(graph.device), graph.num_arcs)

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Layout.rows`. The cost is the arcs of these rows plus the virtual vertices expanded."""
        if self.dag.weights is None:
            return evaluation.rows(self.dag, vertices)
        evaluation.check_vertices(self.dag, vertices)
        return ordered_dag_rows(self.dag.checked, vertices)

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        """See `Layout.from_tensors`."""
        layout = super().from_tensors(tensors, options)
        built = layout.dag
        if built.signed or bool((built.children >= built.num_rows).any()):
            raise ArgumentError("children: 'virtual' has vertices and virtual vertices alone, none of them subtracted")
        return layout


def _tokens(graph: Graph) -> tuple[Tensor, Tensor, Tensor | None]:
    """The alphabet of the rows: (token of each arc, int32 [m], neighbour of each token [T], weight of each token or
    None).

    Arcs to one neighbour share a token where their weights have equal bits.
    """
    _ = graph.out_degree  # validates the entries, which builders use as indices
    neighbors, weights = graph.neighbors, graph.weights
    if weights is None:
        return neighbors.int(), torch.arange(graph.num_vertices, device=neighbors.device), None
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[weights.element_size()]
    distinct, weight = torch.unique(weights.contiguous().view(bits), return_inverse=True)
    # A weight has a number below m, a neighbour one below n: the key is below 2**62.
    keys, tokens = torch.unique(neighbors.long() * max(len(distinct), 1) + weight, return_inverse=True)
    chosen = keys % max(len(distinct), 1)
    return tokens.int(), keys // max(len(distinct), 1), distinct[chosen].view(weights.dtype)


def _dag_of(grammar: Grammar, min_gain: int, neighbors: Tensor, weights: Tensor | None) -> Dag:
    """The DAG of the rules that save memory and of the rows; `neighbors` [T] are those of the tokens."""
    n = len(grammar.offset) - 1
    offset, symbols, kept, levels = grammar.write(grammar.inlined(min_gain))
    dtype = sorting.index_dtype(2 * n + len(kept))
    node = torch.zeros(grammar.num_symbols, dtype=dtype, device=kept.device)
    node[: grammar.num_tokens] = neighbors.to(dtype)
    node[kept] = n + torch.arange(len(kept), dtype=dtype, device=kept.device)
    on_arcs = None
    if weights is not None:
        on_arcs = torch.cat((weights.cpu(), weights.new_zeros(len(grammar.pairs)).cpu()))[symbols]
    phases = (0, *(bound for bound in levels if bound), len(kept) + n)
    return Dag(n, offset.to(sorting.index_dtype(len(symbols))), node[symbols], on_arcs, None, phases, None)
