"""Arcs of a graph spread over processes: the owner of a vertex draws among its arcs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.derived import computed_once
from tgraph.core.graph import Graph
from tgraph.distributed.ranks.requests import Requests
from tgraph.errors import ArgumentError
from tgraph.sampling.hops import Chosen
from tgraph.sampling.relations import Arcs
from tgraph.sampling.stored import StoredArcs, drawn_in_memory, least_of_rows


@dataclass(frozen=True)
class SpreadArcs(StoredArcs):
    """Arcs by destination, with the rows of own vertices on each process. All processes draw hops together, with the
    random numbers of a single process."""

    @classmethod
    def of(cls, graph: Graph, direction: str, weighted: bool, numbered: bool, name: str) -> SpreadArcs:
        """The arcs of a graph spread over processes. Raises ArgumentError for `numbered` and for missing weights,
        MemoryBudgetError where arcs are in blocks."""
        if numbered:
            raise ArgumentError(f"numbered: arcs of {name} have no numbers, spread over processes; leave it out")
        found = StoredArcs.of(graph, direction, weighted, False, name)
        assert found is not None
        layout: Any = found.storage
        layout.check_in_memory("a sampler")
        return cls(found.storage, weighted, None, name)

    @computed_once
    def _own(self) -> Arcs:
        """The rows of own vertices and an empty row, with neighbors as vertices of the whole graph."""
        layout: Any = self.storage
        rows, held = layout.local_rows, layout.ownership
        rows = rows.to(torch.device("cpu"))  # the device of samplers
        vertices = torch.cat((torch.arange(held.first, held.end, device="cpu"), layout.part.mirrors.cpu()))
        offset = torch.cat((rows.offset, rows.offset[-1:]))
        neighbors = vertices.to(rows.neighbors.dtype)[rows.neighbors.long()]
        arcs = Arcs(offset, neighbors, held.num_rows, None)
        return arcs.with_weights(rows.weights, self.name) if self.weighted else arcs

    def drawn(self, vertices: Tensor, fanout: int, replace: bool, key: int, place: int) -> Chosen:
        """As `StoredArcs.drawn`, by the owners of the vertices."""

        def draw(rows: Tensor, places: Tensor, own_key: int) -> Chosen:
            nothing = len(self._own.offset) - 2  # the empty row, for vertices of other processes
            every = torch.full((int(places[-1]) + 1 if len(places) else 0,), nothing, device="cpu")
            every[places] = rows
            found = drawn_in_memory(self._own, every, fanout, replace, own_key, 0)
            return Chosen(found.counts[places], found.neighbors, None)

        return self._asked(vertices, random.advanced(key, place), draw)

    def least(self, vertices: Tensor, fanout: int, key: int) -> Chosen:
        """As `StoredArcs.least`, by the owners of the vertices."""

        def choose(rows: Tensor, places: Tensor, own_key: int) -> Chosen:
            count, at = least_of_rows(self._own.offset, self._own.neighbors, rows, fanout, own_key)
            return Chosen(count, self._own.neighbors[at].long(), None)

        return self._asked(vertices, key, choose)

    def between(self, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Raises ArgumentError: no process has the arcs of all sampled vertices."""
        raise ArgumentError(f"induced: the arcs of {self.name} are spread over processes; sample with induced=False")

    def _asked(self, vertices: Tensor, key: int, choose: Callable[[Tensor, Tensor, int], Chosen]) -> Chosen:
        """The arcs of `vertices`, by choose(own vertices by local number, their ascending positions in a process's
        list, its key) on the owners."""
        layout: Any = self.storage
        requests = Requests(layout.ownership, vertices)
        places = requests.told(torch.arange(len(vertices), device="cpu"))
        keys = layout.ownership.gather(torch.tensor(key, device="cpu")).tolist()
        lists = requests.asked.split(requests.counts), places.split(requests.counts), keys
        found = [choose(*of_rank) for of_rank in zip(*lists, strict=True)]
        counts = torch.cat([each.counts for each in found])
        return Chosen(*requests.answered_by_lists(counts, torch.cat([each.neighbors for each in found])), None)
