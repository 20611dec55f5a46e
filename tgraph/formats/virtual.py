"""Repeated stretches of rows as virtual vertices: rule-based compression (section 5.1 of the TGraph paper)."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from tgraph import build, csr, native
from tgraph.errors import ArgumentError
from tgraph.formats import dag
from tgraph.formats.dag import Dag
from tgraph.formats.grammar import Grammar
from tgraph.formats.layout import Layout
from tgraph.formats.transposing import transposed
from tgraph.graph import Graph
from tgraph.kernels.native import pairing as compiled
from tgraph.kernels.portable import pairing as portable
from tgraph.rows import gather_rows

if TYPE_CHECKING:
    from typing_extensions import Self

TENSORS = ("offset", "children", "weights")
DEEPEST = 255  # what the builders count in a byte


class Virtual(Layout):
    """Rows in which virtual vertices stand for sequences of neighbours that repeat, and for other virtual vertices.

    The sequences are found as in CompressGraph (Chen et al., "CompressGraph: efficient parallel graph analytics with
    rule-based compression", SIGMOD 2023): pairs that repeat, again and again, and of these rules the ones that pay.
    What a sequence consists of are arcs, so those of one also agree in their weights. Every reduction is served, and
    computes what is shared once. The memory is never much more than that of a CSR.

    dag : the virtual vertices by how deep they nest, then the rows. num_arcs : the arcs that these stand for.
    in_order : whether rows lead to their neighbours in the order of these, which those of a transpose do not.

    Of a graph in this layout, rows come back in their order. The transpose is the same DAG the other way round, not
    compressed anew; parallel arcs of different weights may come back from that in another order.
    """

    name: ClassVar[str] = "virtual"

    def __init__(self, dag: Dag, num_arcs: int, in_order: bool = True):
        self.dag, self.num_arcs, self.in_order = dag, num_arcs, in_order
        self.num_vertices = dag.num_vertices

    @classmethod
    def from_graph(  # type: ignore[override]
        cls, graph: Graph, *, min_gain: int = 1, max_depth: int = 10
    ) -> Self:
        """Compress the rows of a graph: O(m) work for each of some twenty rounds over what is left, on all threads.

        min_gain : a sequence of l entries that is used f times becomes a virtual vertex where (f - 1) (l - 1) - 1 is
            more than this, 0 or more. 1 makes the fewest bytes, as a virtual vertex takes an offset too; more makes
            fewer virtual vertices. max_depth : they nest no deeper, 0 to 255.

        Takes up to 40 bytes for each arc meanwhile. The result does not depend on the number of threads.

        Raises ArgumentError for options out of range, and where vertices and half the arcs are 2**31 or more.
        """
        min_gain, max_depth = build.as_count(min_gain, "min_gain"), build.as_count(max_depth, "max_depth")
        if max_depth > DEEPEST:
            raise ArgumentError(f"max_depth: {max_depth} is more than {DEEPEST}; 16 hardly ever differ from more")
        tokens, neighbors, weights = _tokens(graph)
        if len(neighbors) + graph.num_arcs // 2 >= 2**31:
            raise ArgumentError(
                f"graph: {len(neighbors)} different arc ends and {graph.num_arcs} arcs are too many to number virtual "
                "vertices in 32 bits; use the layout 'csr'"
            )
        found = _builder().replace_pairs(graph.offset.cpu(), tokens.cpu(), len(neighbors), max_depth)
        grammar = Grammar.by_depth(found[0], found[1], len(neighbors), found[2])
        return cls(_dag_of(grammar, min_gain, neighbors.cpu(), weights).to(graph.device), graph.num_arcs)

    def to_csr(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Layout.to_csr`."""
        return self.rows(torch.arange(self.num_vertices, device=self.device))

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Layout.rows`. Costs these rows once for each level of virtual vertices at most."""
        offset, neighbors, weights = _expanded(self.dag, vertices.long())
        if not self.in_order:
            row = csr.expand_rows(offset)
            order = torch.argsort(neighbors, stable=True)
            order = order[torch.argsort(row[order], stable=True)]
            neighbors, weights = neighbors[order], None if weights is None else weights[order]
        return offset, neighbors.to(csr.index_dtype(self.num_vertices)), weights

    def out_degree(self) -> Tensor:
        """See `Layout.out_degree`."""
        return dag.degrees(self.dag)

    def tensors(self) -> dict[str, Tensor]:
        """See `Layout.tensors`."""
        return self.dag.tensors()

    def options(self) -> dict[str, Any]:
        """See `Layout.options`."""
        return {
            "num_vertices": self.num_vertices,
            "num_arcs": self.num_arcs,
            "phases": list(self.dag.phases),
            "weighted": self.dag.weighted,
            "in_order": self.in_order,
        }

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        """See `Layout.from_tensors`."""
        if missing := {"offset", "children"} - tensors.keys():
            raise ArgumentError(f"tensors: {', '.join(sorted(missing))} missing; 'virtual' needs offset and children")
        if unknown := tensors.keys() - set(TENSORS):
            raise ArgumentError(f"tensors: 'virtual' has no {', '.join(sorted(unknown))}; it has {', '.join(TENSORS)}")
        stored = {name: tensors.get(name) for name in TENSORS}
        built = Dag(
            num_vertices=int(options["num_vertices"]),
            order=None,
            phases=tuple(int(bound) for bound in options["phases"]),
            tasks=None,
            weighted=options["weighted"],
            **stored,  # type: ignore[arg-type]
        ).checked
        if built.signed or bool((built.children >= built.num_rows).any()):
            raise ArgumentError("children: 'virtual' has vertices and virtual vertices alone, none of them subtracted")
        layout = cls(built, int(options["num_arcs"]), bool(options["in_order"]))
        if (found := int(layout.out_degree().sum())) != layout.num_arcs:
            raise ArgumentError(f"num_arcs: the rows stand for {found} arcs, not {layout.num_arcs}")
        return layout

    def to(self, device: torch.device) -> Self:
        """The same layout on another device."""
        return type(self)(self.dag.to(device), self.num_arcs, self.in_order)

    def transposed(self) -> Virtual:
        """See `Layout.transposed`: the entries are the same ones, and not found anew."""
        return type(self)(transposed(self.dag), self.num_arcs, in_order=False)

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None:
        """See `Layout.refuses`: the transpose of a weighted graph takes what distributes over the reduction."""
        return dag.refuses(self.dag, reduce, edge)

    def pull(self, data: Tensor, reduce: str, edge: str = "copy") -> Tensor:
        """See `Layout.pull`. Raises ArgumentError for what `refuses` names."""
        return dag.evaluate(self.dag, data, reduce, edge)


def _builder() -> ModuleType:
    return portable if native.load() is None else compiled


def _tokens(graph: Graph) -> tuple[Tensor, Tensor, Tensor | None]:
    """What rows consist of: (token of each arc, int32 [m], neighbour of each token [T], weight of each token or None).

    Arcs to one neighbour are the same token where their weights have the same bits."""
    _ = graph.out_degree  # checks every entry, which the builders follow
    neighbors, weights = graph.neighbors, graph.weights
    if weights is None:
        return neighbors.int(), torch.arange(graph.num_vertices, device=neighbors.device), None
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[weights.element_size()]
    distinct, weight = torch.unique(weights.contiguous().view(bits), return_inverse=True)
    # The number of a weight is below m, that of a neighbour below n, and the product below 2**62.
    keys, tokens = torch.unique(neighbors.long() * max(len(distinct), 1) + weight, return_inverse=True)
    chosen = keys % max(len(distinct), 1)
    return tokens.int(), keys // max(len(distinct), 1), distinct[chosen].view(weights.dtype)


def _dag_of(grammar: Grammar, min_gain: int, neighbors: Tensor, weights: Tensor | None) -> Dag:
    """The rules of a grammar that are worth it, and its rows, as a DAG of vertices: neighbours [T] of the tokens."""
    n = len(grammar.offset) - 1
    offset, symbols, kept, levels = grammar.write(grammar.inlined(min_gain))
    dtype = csr.index_dtype(2 * n + len(kept))
    node = torch.zeros(grammar.num_symbols, dtype=dtype)
    node[: grammar.num_tokens] = neighbors.to(dtype)
    node[kept] = n + torch.arange(len(kept), dtype=dtype)
    on_arcs = None
    if weights is not None:
        on_arcs = torch.cat((weights.cpu(), weights.new_zeros(len(grammar.pairs)).cpu()))[symbols]
    phases = (0, *(bound for bound in levels if bound), len(kept) + n)
    return Dag(n, offset.to(csr.index_dtype(len(symbols))), node[symbols], on_arcs, None, phases, None)


def _expanded(dag: Dag, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """The inputs that some outputs lead to, in order, as the rows of a CSR, and the weights that their paths carry."""
    n, bounds = dag.num_vertices, dag.offset.long()
    offset, arcs = gather_rows(bounds, dag.num_virtual + vertices)
    children = dag.children.index_select(0, arcs)
    weights = None if dag.weights is None else dag.weights.index_select(0, arcs)
    while bool((is_virtual := children >= n).any()):
        # An input stands for itself, a virtual vertex for the children of its row.
        row = torch.where(is_virtual, children - n, 0).long()
        width = torch.where(is_virtual, bounds[row + 1] - bounds[row], 1)
        begin = torch.zeros(len(width) + 1, dtype=torch.int64, device=width.device)
        torch.cumsum(width, 0, out=begin[1:])
        parent = torch.repeat_interleave(width, output_size=int(begin[-1]))
        inner = is_virtual[parent]
        arcs = (bounds[row] - begin[:-1])[parent] + torch.arange(len(parent), device=width.device)
        arcs = torch.where(inner, arcs, 0)
        children = torch.where(inner, dag.children[arcs], children[parent])
        if weights is not None and dag.weights is not None:
            passed = weights[parent]
            own = inner if dag.weighted == "inputs" else torch.zeros_like(inner)
            weights = torch.where(own, dag.weights[arcs], passed)
        offset = begin[offset]
    return offset, children, weights
