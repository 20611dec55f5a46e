"""WSB: weighted block-sparse, windows of 16 rows in tiles of 8 columns with bitmaps, for tensor cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting, validate
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats.checks import check_names, check_rows, count_option
from tgraph.formats.uncompressed import Csr, Uncompressed, transposed_csr
from tgraph.kernels.operators.aggregation import tiles as portable
from tgraph.kernels.operators.aggregation.tiles import HEIGHT, WIDTH, Tiles
from tgraph.kernels.reductions import Reduction

if TYPE_CHECKING:
    from typing_extensions import Self

# Default density threshold. A tile of 128 entries with 16 arcs takes 48 bytes, against 64 in CSR, and each gathered row
# of the data is used for two rows of the window on average.
MIN_DENSITY = 1 / 8


class WSB(Uncompressed):
    """Weighted block-sparse ("On Efficient Scaling of GNNs via IO-Aware Layers Implementations", 2026, appendix D.3,
    after Li and Chandramowlishwaran, "Fused3S: fast sparse attention on tensor cores", 2025): the columns of 16
    consecutive rows are compacted into tiles of 8 columns, each with a bitmap of 128 bits. Weights are packed, one per
    arc, where the paper stores 128 per tile.

    tiles : the tensors, see `tgraph.kernels.operators.aggregation.tiles.Tiles`.

    On a CUDA device sums of 16-bit floats in 8 columns or more are computed by tensor cores, and sums of float32 where
    `torch.backends.cuda.matmul.allow_tf32` permits rounding to TF32. The CPU accumulates arc by arc, in about the time
    of CSR: there the layout saves memory only.

    >>> graph = tg.generators.complete(16).to_format("wsb")
    >>> graph.layout.fill, tg.aggregate(graph, torch.ones(16, 2))[0]
    (0.9375, tensor([15., 15.]))
    """

    tiles: Tiles
    weights: Tensor | None
    num_vertices: int
    num_arcs: int

    name = "wsb"
    rounds_once: ClassVar[bool] = True

    def __init__(self, tiles: Tiles, num_arcs: int):
        self.tiles, self.weights, self.num_vertices, self.num_arcs = tiles, tiles.weights, tiles.num_rows, num_arcs

    @classmethod
    def from_graph(cls, graph: Graph, *, min_density: float = MIN_DENSITY, **unknown: Any) -> Self:
        """The arcs of a graph, with rows in order: the numbering of the vertices determines the density of the tiles.

        min_density : the least fraction of tile entries that are arcs, 0 to 1; 0 accepts any graph. Below about 1/8 the
            padding costs more memory and time than the tiles save.

        Sorts the arcs once, with about 100 bytes per arc of temporary memory. Raises ArgumentError for a graph below
        the density, for unsorted rows, and for options that are out of range or `unknown`.
        """
        cls.refuse_options(unknown)
        if not isinstance(min_density, (int, float)) or not 0 <= min_density <= 1:
            raise ArgumentError(f"min_density: expected a share of entries, 0 to 1, got {min_density!r}")
        _ = graph.out_degree  # checks every entry
        if not validate.rows_ascend(graph.offset, graph.neighbors):
            raise ArgumentError("graph: a row of it descends; build the graph by Graph.from_csr")
        layout = cls(portable.tiles_of(graph.offset, graph.neighbors, graph.weights), graph.num_arcs)
        if layout.fill < min_density:
            raise ArgumentError(
                f"graph: its tiles of {HEIGHT} x {WIDTH} have {layout.fill * HEIGHT * WIDTH:.1f} arcs each, a density "
                f"of {layout.fill:.3f} where {min_density:g} is the least that pays; use 'csr', bring similar rows "
                "together by graph.reorder('rcm') or another order, or allow it with a smaller min_density="
            )
        return layout

    @property
    def fill(self) -> float:
        """The density: the fraction of tile entries that are arcs; 1 where nothing is stored.

        >>> tg.generators.complete(16).to_format("wsb").layout.fill
        0.9375
        """
        entries = self.tiles.num_tiles * HEIGHT * WIDTH
        return self.num_arcs / entries if entries else 1.0

    def to_csr(self) -> Csr:
        return portable.tile_rows(self.tiles, 0, len(self.tiles.offset) - 1)

    def _rows(self, vertices: Tensor) -> Csr:
        return portable.arcs_of(self.tiles, vertices)

    def out_degree(self) -> Tensor:
        return portable.tile_degrees(self.tiles)

    def tensors(self) -> dict[str, Tensor]:
        return {name: tensor for name, tensor in self.tiles._asdict().items() if isinstance(tensor, Tensor)}

    def options(self) -> dict[str, Any]:
        return {"num_vertices": self.num_vertices, "num_arcs": self.num_arcs}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        n, num_arcs = count_option(options, "num_vertices"), count_option(options, "num_arcs")
        return cls(_checked(cls.name, tensors, n, num_arcs), num_arcs)

    def transposed(self) -> Self:
        """The reversed arcs in a new layout, whatever its density."""
        return self.from_graph(Graph(*transposed_csr(*self.to_csr())), min_density=0)

    def _pull(self, data: Tensor, reduction: Reduction, edge: str, weights: Tensor | None) -> Tensor:
        return portable.pull_tiles(self.tiles._replace(weights=weights), data, reduction, edge)


def _checked(name: str, tensors: dict[str, Tensor], n: int, num_arcs: int) -> Tiles:
    """Tiles of stored tensors. Raises ArgumentError where these are inconsistent or have indices out of range."""
    tensors = check_names(name, tensors, ("offset", "columns", "bitmap"), ("start", "weights"))
    offset, columns, bitmap = tensors["offset"].to(torch.int64), tensors["columns"], tensors["bitmap"].to(torch.int64)
    if len(bitmap) % 2 or len(columns) != len(bitmap) // 2 * WIDTH:
        raise ArgumentError(f"columns: expected {WIDTH} for every 2 words of the bitmap, got {len(columns)}")
    check_rows(offset, -(-n // HEIGHT), len(bitmap) // 2)
    validate.check_range(columns, n, "columns")
    tiles = Tiles(offset, columns.to(sorting.index_dtype(n)), bitmap.contiguous(), None, None, n)
    _check_bitmap(tiles, num_arcs)
    start, weights = tensors.get("start"), tensors.get("weights")
    if (start is None) != (weights is None):
        raise ArgumentError("start: weights have it, and nothing else; the file may be damaged")
    if start is None:
        return tiles
    if len(start) != tiles.num_tiles + 1 or not torch.equal(start.to(torch.int64), portable.starts_of(bitmap)):
        raise ArgumentError("start: does not count the arcs of the bitmap; the file may be damaged")
    return tiles._replace(start=start.to(torch.int64), weights=inputs.as_weights(weights, num_arcs))


def _check_bitmap(tiles: Tiles, num_arcs: int) -> None:
    """Raise ArgumentError unless the bitmap has num_arcs bits, none beyond the last row, and columns ascend."""
    found = int(portable.count_bits(tiles.bitmap).sum())
    if found != num_arcs:
        raise ArgumentError(f"bitmap: has {found} arcs, expected {num_arcs}")
    if (last := tiles.num_rows % HEIGHT) and bool(tiles.rows[int(tiles.offset[-2]) :, last:].any()):
        raise ArgumentError(f"bitmap: has arcs of rows beyond the last, {tiles.num_rows - 1}")
    falls = tiles.columns[1:] < tiles.columns[:-1]
    begins = tiles.offset[1:-1] * WIDTH - 1
    falls[begins[(begins >= 0) & (begins < len(falls))]] = False  # windows are independent
    if len(wrong := falls.nonzero()):
        raise ArgumentError(f"columns: do not ascend at position {int(wrong[0]) + 1}")
