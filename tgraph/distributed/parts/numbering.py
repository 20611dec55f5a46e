"""Where the arcs of a rank stand in the order of all arcs."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building.sorting import expand_rows
from tgraph.distributed.parts.part import Part
from tgraph.distributed.ranks.requests import Requests


def arc_numbers(part: Part, transposed: bool) -> list[Tensor]:
    """The numbers of the arcs of this rank in the order of the whole graph, by rows and then by neighbors, or in that
    of its transpose: int64 [e] for each of `part.graphs`. To be called by all ranks.

    The owner of a row counts the arcs of all ranks in it. Equal ones lie at one rank, in their order.
    """
    held, device = part.ownership, part.mirrors.device
    vertices = torch.cat((torch.arange(held.first, held.end, device=device), part.mirrors))
    row = vertices.index_select(0, torch.cat([expand_rows(graph.offset) for graph in part.graphs]))
    neighbor = vertices.index_select(0, torch.cat([graph.neighbors for graph in part.graphs]))
    if transposed:
        row, neighbor = neighbor, row
    requests = Requests(held, row)
    order = (requests.asked * held.num_rows + requests.told(neighbor)).argsort(stable=True)
    first = held.gather(torch.tensor(len(order), device="cpu"))[: held.rank].sum()
    number = torch.arange(len(order), device=device) + int(first)
    answers = requests.answered(torch.empty_like(order).index_copy_(0, order, number))
    return list(answers.split([graph.num_arcs for graph in part.graphs]))
