"""A graph whose tensors are memory-mapped from a file, each verified at first use."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.graph import Graph
from tgraph.core.ids import VertexIds
from tgraph.files.checksummed import Contents, as_bytes


class _Verified:
    """A descriptor that verifies a tensor at first use and then stores it as an ordinary attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, graph: Any, owner: type) -> Any:
        if graph is None:
            return self
        value = graph._verify(self._name)
        object.__setattr__(graph, self._name, value)
        return value


class _MappedIds(VertexIds):
    """Integer ids, memory-mapped from a file."""

    values = _Verified()
    are_integers = True

    def __init__(self, values: Tensor, contents: Contents):
        self._mapped, self._contents = values, contents

    def __len__(self) -> int:
        return len(self._mapped)

    @property
    def nbytes(self) -> int:
        return self._mapped.nbytes

    def _verify(self, name: str) -> Tensor:
        self._contents.check("vertices", as_bytes(self._mapped))
        return self._mapped


class MappedGraph(Graph):
    """A Graph memory-mapped from a file with checksums.

    `offset`, `neighbors`, `weights`, `vertices` and `order` are verified at first use, which takes one pass over the
    tensor and raises FileFormatError where it is damaged. Sizes and dtypes are available without it.

    tensors : those of the file, memory-mapped. contents : its header. labels : of the vertices, if they are text.
    directed : as for a Graph.
    Raises ArgumentError where the tensors cannot be those of a graph.
    """

    offset = _Verified()
    neighbors = _Verified()
    weights = _Verified()
    order = _Verified()
    _mapped: dict[str, Tensor]
    _contents: Contents

    def __init__(self, tensors: dict[str, Tensor], contents: Contents, labels: np.ndarray | None, directed: bool):
        vertices = tensors.get("vertices", labels)
        ids = Graph(tensors["offset"], tensors["neighbors"], tensors.get("weights"), vertices, directed)._ids
        if "vertices" in tensors:
            ids = _MappedIds(tensors["vertices"], contents)
        fields = {"directed": directed, "_ids": ids, "_cache": {}, "_mapped": tensors, "_contents": contents}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _verify(self, name: str) -> Tensor | None:
        tensor = self._mapped.get(name)
        if tensor is None:
            return None
        self._contents.check(name, as_bytes(tensor.view(-1)))
        return tensor.to(sorting.index_dtype(self.num_vertices)) if name == "neighbors" else tensor

    def __reduce__(self) -> Any:
        return _in_memory, (self.offset, self.neighbors, self.weights, self.vertices, self.directed, self.order)

    # ---- without verification ----------------------------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        return len(self._mapped["offset"]) - 1

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
        """Bytes of the stored tensors; `caches` lists the derived ones."""
        stored = sum(self._mapped[name].nbytes for name in ("offset", "neighbors", "weights") if name in self._mapped)
        return stored + (0 if self._ids is None else self._ids.nbytes)


def _in_memory(*fields: Any) -> Graph:
    *parts, order = fields
    return Graph(*parts).with_order(order)
