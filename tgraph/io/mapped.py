"""A graph with tensors memory-mapped from a file, each verified at first use."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.deferred_csr import DeferredCsr
from tgraph.core.derived import AtFirstUse
from tgraph.core.graph import Graph
from tgraph.core.ids import VertexIds
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files.checksummed import Contents, as_bytes


class _MappedIds(VertexIds):
    """Integer ids, memory-mapped from a file."""

    values = cast(Tensor, AtFirstUse())
    are_integers = True

    def __init__(self, values: Tensor, contents: Contents):
        self._mapped, self._contents = values, contents

    def __len__(self) -> int:
        return len(self._mapped)

    @property
    def nbytes(self) -> int:
        return self._mapped.nbytes

    def _at_first_use(self, name: str) -> Tensor:
        self._contents.check("vertices", as_bytes(self._mapped))
        return self._mapped


class MappedCsr(DeferredCsr):
    """The CSR of a graph, memory-mapped from a file with checksums.

    Each tensor is verified at first use, with FileFormatError if damaged. Sizes and dtypes are available before.
    """

    _mapped: dict[str, Tensor]
    _contents: Contents

    def __init__(self, tensors: dict[str, Tensor], contents: Contents):
        super().__init__(len(tensors["offset"]) - 1, _mapped=tensors, _contents=contents)

    def _at_first_use(self, name: str) -> Tensor | None:
        tensor = self._mapped.get(name)
        if tensor is None:
            return None
        self._contents.check(name, as_bytes(tensor.view(-1)))
        return tensor.to(sorting.index_dtype(self.num_columns)) if name == "neighbors" else tensor

    @property
    def num_arcs(self) -> int:
        return len(self._mapped["neighbors"])

    @property
    def weight_dtype(self) -> torch.dtype | None:
        return self._mapped["weights"].dtype if "weights" in self._mapped else None

    @property
    def device(self) -> torch.device:
        return self._mapped["offset"].device

    @property
    def nbytes(self) -> int:
        return sum(self._mapped[name].nbytes for name in ("offset", "neighbors", "weights") if name in self._mapped)


class MappedGraph(Graph):
    """A Graph memory-mapped from a file with checksums; its tensors, and `order`, are verified at first use.

    tensors : of the file, memory-mapped. contents : its header. labels : of the vertices, if they are text.
    directed : as for a Graph.
    Raises ArgumentError for tensors inconsistent with a graph.
    """

    order: Tensor | None = cast("Tensor | None", AtFirstUse())

    def __init__(self, tensors: dict[str, Tensor], contents: Contents, labels: np.ndarray | None, directed: bool):
        vertices = tensors.get("vertices", labels)
        ids = Graph(tensors["offset"], tensors["neighbors"], tensors.get("weights"), vertices, directed)._ids
        if "vertices" in tensors:
            ids = _MappedIds(tensors["vertices"], contents)
        self._hold(MappedCsr(tensors, contents), ids, directed)
        del self.__dict__["order"]

    def _at_first_use(self, name: str) -> Tensor | None:
        if name != "order":
            return super()._at_first_use(name)
        storage = cast(MappedCsr, self.storage)
        if (order := storage._at_first_use(name)) is not None:
            try:
                validate.check_order(order, self.num_vertices)
            except ArgumentError as fault:
                raise FileFormatError(storage._contents.path, str(fault), storage._contents.remedy) from fault
        return order

    def __reduce__(self) -> Any:
        fields = self.offset, self.neighbors, self.weights, self.vertices, self.directed
        return _in_memory, (*fields, self.order, self._arc_columns, self._vertex_columns)


def _in_memory(*fields: Any) -> Graph:
    *parts, order, arcs, vertices = fields
    graph = Graph(*parts).with_order(order)
    graph.__dict__.update(_arc_columns=arcs, _vertex_columns=vertices)
    return graph
