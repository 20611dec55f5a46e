"""A set of active vertices: ids while sparse, a mask while dense."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from tgraph.core.rows import partition
from tgraph.core.system import devices


class Vertices(Protocol):
    """The interface of a graph to its frontiers; implemented by `tgraph.Graph`."""

    @property
    def num_vertices(self) -> int: ...

    @property
    def num_arcs(self) -> int: ...

    @property
    def out_degree(self) -> Tensor: ...

    @property
    def device(self) -> torch.device: ...

    def select(self, vertices: Any, name: str = ...) -> Frontier: ...

    def nothing(self) -> Frontier: ...


class Frontier:
    """The active vertices of one iteration (the paper's actMask), in whichever form costs least.

    Made by `graph.select`, `graph.everything`, `graph.nothing` and by `update`. A frontier made from ids costs
    O(size), never O(n); one made from a mask costs O(n), which is right for a dense set. `everything` holds
    neither: no arange, no mask. The other form is computed at first use and cached.

    >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> active = graph.select([1, 2])
    >>> active.size, active.ids.tolist(), active.mask.tolist()
    (2, [1, 2], [False, True, True, False])
    """

    graph: Vertices

    __slots__ = ("_count", "_ids", "_mask", "graph")

    def __init__(
        self,
        graph: Vertices,
        *,
        ids: Tensor | None = None,
        mask: Tensor | None = None,
        count: tuple[int, int] | None = None,
    ):
        """`count` is the result of `measure`, where the caller knows it."""
        self.graph, self._ids, self._mask = graph, ids, mask
        self._count = count

    @classmethod
    def compact(cls, graph: Vertices, candidates: Tensor, keep: Tensor) -> Frontier:
        """The `candidates` [c], distinct vertices where kept, that are marked in `keep` [c].

        >>> graph = tg.generators.path(5)
        >>> depth = torch.tensor([0, 1, 2, 3, 4])
        >>> reached = torch.tensor([1, 3, 4])
        >>> tg.Frontier.compact(graph, reached, depth[reached] > 2).ids
        tensor([3, 4])
        """
        if type(candidates) is Tensor and devices.waits_are_free(candidates) and not torch.compiler.is_compiling():
            return cls(graph, ids=candidates.masked_select(keep))  # nothing waits for a size here
        return cls.split(graph, candidates, keep)[0]

    @classmethod
    def split(cls, graph: Vertices, candidates: Tensor, keep: Tensor) -> tuple[Frontier, Tensor]:
        """The `candidates` [c] marked in `keep` [c] as a frontier, and the others; one small device-to-host read.

        >>> graph = tg.generators.path(5)
        >>> near, far = tg.Frontier.split(graph, torch.tensor([1, 3, 4]), torch.tensor([True, False, True]))
        >>> near.ids, far
        (tensor([1, 4]), tensor([3]))
        """
        arcs = graph.out_degree.index_select(0, candidates) * keep
        size, num_arcs = torch.stack((keep.sum(), arcs.sum())).tolist()
        kept, others = partition(candidates, keep, size)
        return cls(graph, ids=kept, count=(size, num_arcs)), others

    @property
    def is_everything(self) -> bool:
        """True for `graph.everything()`, whose ids and mask are never materialised by the engine.

        >>> graph = tg.generators.path(3)
        >>> graph.everything().is_everything, graph.select([0, 1, 2]).is_everything
        (True, False)
        """
        return self._ids is None and self._mask is None

    @property
    def ids(self) -> Tensor:
        """The active vertices as distinct indices, int64 [size].

        >>> tg.generators.path(4).select(torch.tensor([True, False, True, False])).ids
        tensor([0, 2])
        """
        if self._ids is None:
            if self._mask is None:
                return torch.arange(self.graph.num_vertices, device=self.graph.device)
            is_spread = type(self._mask) is not Tensor  # over processes
            if self._count is None or is_spread or devices.waits_are_free(self._mask):
                self._ids = self._mask.nonzero().flatten()
            else:  # the size is known: no need to wait for it again
                vertices = torch.arange(self.graph.num_vertices, device=self.graph.device)
                self._ids = partition(vertices, self._mask, self._count[0])[0]
        return self._ids

    @property
    def mask(self) -> Tensor:
        """True where active, bool [n].

        >>> tg.generators.path(4).select([0, 2]).mask
        tensor([ True, False,  True, False])
        """
        if self._mask is None:
            everything = self._ids is None
            self._mask = torch.full((self.graph.num_vertices,), everything, device=self.graph.device)
            if self._ids is not None:
                self._mask[self._ids] = True
        return self._mask

    @property
    def size(self) -> int:
        """How many vertices are active.

        >>> tg.generators.star(4).select([0, 2]).size
        2
        """
        return len(self)

    @property
    def num_arcs(self) -> int:
        """How many arcs leave the active vertices: the work of a push.

        >>> graph = tg.generators.star(4)
        >>> graph.select(0).num_arcs, graph.select([1, 2]).num_arcs
        (4, 2)
        """
        return self.measure()[1]

    def forms(self) -> dict[str, Tensor]:
        """The ids and the mask, whichever there are, by the names that the constructor takes; neither for
        everything.

        >>> graph = tg.generators.path(3)
        >>> graph.select([0, 2]).forms(), graph.everything().forms()
        ({'ids': tensor([0, 2])}, {})
        """
        held = {"ids": self._ids, "mask": self._mask}
        return {name: form for name, form in held.items() if form is not None}

    def measure(self) -> tuple[int, int]:
        """(size, num_arcs) by one small device-to-host read, kept.

        >>> tg.generators.star(4).select([0, 2]).measure()
        (2, 5)
        """
        if self._count is None and self.is_everything:
            self._count = (self.graph.num_vertices, self.graph.num_arcs)
        elif self._count is None:
            degree = self.graph.out_degree
            if self._ids is not None:
                self._count = (len(self._ids), int(degree.index_select(0, self._ids).sum()))
            else:
                size, arcs = torch.stack((self.mask.sum(), (degree * self.mask).sum())).tolist()
                self._count = (size, arcs)
        return self._count

    def __len__(self) -> int:
        if self._count is None and self._mask is None:
            return self.graph.num_vertices if self._ids is None else self._ids.shape[0]
        return self.measure()[0]

    def __contains__(self, vertex: int) -> bool:
        if not 0 <= vertex < self.graph.num_vertices:
            return False
        if self._mask is not None:
            return bool(self._mask[vertex])
        return self._ids is None or bool((self._ids == vertex).any())

    def __repr__(self) -> str:
        form = "everything" if self.is_everything else "ids" if self._mask is None else "mask"
        return f"Frontier({self.size:,} of {self.graph.num_vertices:,} vertices, {self.num_arcs:,} arcs, {form})"
