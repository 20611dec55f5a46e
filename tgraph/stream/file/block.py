"""A block of arcs in memory, plain or compressed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from tgraph.core.derived import computed_once
from tgraph.errors import FileFormatError
from tgraph.stream.file.container import REMEDY, SECTIONS, Extent
from tgraph.stream.file.folding import Folded, stages, unfold

# step(offset, neighbors): the results of the rows of a CSR, [rows, F]; the offsets need not begin with 0.
Step = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Block:
    """Consecutive arcs of one section, as views of the buffer that they were read into.

    `number` is that of the block in its file. The arcs begin with arc `first_arc` of the section and lie in the rows
    `first_row` to `end_row - 1`: row `first_row + i` has the neighbours `neighbors[offset[i]:offset[i + 1]]`. Only the
    first and the last row may have more neighbours, in other blocks. `offset` is int64 [rows + 1] from 0, `neighbors`
    int32 or int64 [e], `weights` [e] or None.
    """

    number: int
    first_row: int
    end_row: int
    first_arc: int
    offset: Tensor
    neighbors: Tensor
    weights: Tensor | None

    def reduce(self, data: Tensor, step: Step) -> Tensor:
        """The results of the rows by `step`, which reads `data`; see `BlockFile.with_virtual_rows`."""
        return step(self.offset, self.neighbors)

    def copy_to(self, neighbors: Tensor, weights: Tensor | None) -> None:
        """Write the arcs to their places among all of the section; `weights` where these are wanted."""
        arcs = slice(self.first_arc, self.first_arc + len(self.neighbors))
        neighbors[arcs] = self.neighbors
        if weights is not None and self.weights is not None:
            weights[arcs] = self.weights


class CompressedBlock(Block):
    """A block whose rows are compressed. `offset` and `neighbors` are decoded at their first use, and cached.

    extent : its entry in the index. folded : its compressed rows. num_vertices : of the graph. path : the file.
    """

    _extent: Extent
    _folded: Folded
    _num_vertices: int
    _path: str

    def __init__(self, number: int, extent: Extent, folded: Folded, num_vertices: int, path: str):
        place = {"first_row": extent.first_row, "end_row": extent.end_row, "first_arc": extent.first_arc}
        own = {"_extent": extent, "_folded": folded, "_num_vertices": num_vertices, "_path": path}
        self.__dict__.update(place | own, number=number, weights=None)  # the fields themselves are frozen

    @computed_once
    def _rows(self) -> tuple[Tensor, Tensor]:
        extent = self._extent
        rows = unfold(self._folded, self._num_vertices, extent.end_arc - extent.first_arc)
        if rows is None:
            raise damaged(self._path, self.number, extent, "stands for another number of arcs than the index says")
        return rows

    @property
    def offset(self) -> Tensor:
        return self._rows[0]

    @property
    def neighbors(self) -> Tensor:
        """See `Block`; in the order of the graph that was compressed."""
        return self._rows[1]

    def reduce(self, data: Tensor, step: Step) -> Tensor:
        """See `Block.reduce`. The virtual rows are reduced first, by depth, into `data` behind the rows of the
        vertices, which is where entries refer to them."""
        offset, entries, levels = self._folded
        offset, n = offset.long(), self._num_vertices
        for first, end in stages(levels):
            data[n + first : n + end] = step(offset[first : end + 1], entries)
        return step(offset[levels[-1] :], entries)


def damaged(path: str, block: int, extent: Extent, what: str) -> FileFormatError:
    """The error for a damaged block: `what` continues the sentence that names it."""
    return FileFormatError(path, f"block {block} (section {SECTIONS[extent.section]!r}) {what}", REMEDY)
