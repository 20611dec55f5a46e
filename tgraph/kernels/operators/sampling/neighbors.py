"""Neighbours sampled hop by hop in torch operators (Hamilton, Ying and Leskovec, "Inductive representation learning on
large graphs", NeurIPS 2017).

The vertices of a batch are numbered in the order of their first occurrence, the seeds first. A hop draws arcs for all
vertices that the hop before added, relation by relation, and the vertex at place p of the list has a stream of random
numbers of its own: that of word p of the relation's key.

uniform, with replacement: draw i takes the arc at number i of the row, alike for all.
uniform, without: Floyd's algorithm. Of d arcs, draw i takes one of the first d - k + i + 1, or the last of these where
    that one was drawn before (Bentley and Floyd, "A sample of brilliance", CACM 1987).
by weight: draw i takes the arc at number i of the mass of the row. Without replacement, arcs that were drawn before
    are passed over, at most 3 k of them; then each further one is drawn among those that are left.
by weight, from rows of more than STEP arcs: try i takes the arc at number i of the row, alike for all, and keeps it
    with the probability of its weight over a bound for the row, which what is behind the point of that number decides
    (rejection sampling: von Neumann, "Various techniques used in connection with random digits", 1951). After 4 k + 4
    tries the rest is drawn as above.
latest: the last k of those that are not too late.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.dispatch import operator

STEP = 128  # running sums of the weights are kept for every so many arcs
NO_BOUND = -128


class Relation(NamedTuple):
    """The arcs between two types of vertices: row v has those along which vertex v of the target's type receives.

    offset : int64 [n + 1]. neighbors : int32 or int64 [m], of the source's type. source, target : numbers of types.
    key : of the stream of random numbers. fanout : arcs for each vertex in each hop, negative for all.
    weights : float32 or float64 [m], not negative, by which arcs are drawn, or None. sums : float64 [m // STEP + 1],
    of the weights before every STEP-th arc. bounds : int8 [m // STEP + 1], at the number of the first STEP-th arc of a
    row with more than STEP arcs, the least e for which all its weights are below 2^e; NO_BOUND where e is not in
    -127..127, and at other places. time : int64 of the arcs [m], or of the vertices of the source's type, ascending
    within each row, or None; is_time_of_arcs : which of the two.
    """

    offset: Tensor
    neighbors: Tensor
    source: int
    target: int
    key: int
    fanout: list[int]
    weights: Tensor | None = None
    sums: Tensor | None = None
    bounds: Tensor | None = None
    time: Tensor | None = None
    is_time_of_arcs: bool = False


class Sampled(NamedTuple):
    """A sample, by type of vertices and by relation.

    vertices : of each type, int64, in the order of their first occurrence, seeds first. trees : the seed in whose tree
    each of them is, where trees are disjoint. sizes : how many the seeds and each hop added.
    rows, columns : the places of the source and of the target of each arc, int64. arcs : its number in the relation.
    counts : how many arcs each hop added; None where they belong to no hop.
    """

    vertices: list[Tensor]
    trees: list[Tensor] | None
    sizes: list[list[int]]
    rows: list[Tensor]
    columns: list[Tensor]
    arcs: list[Tensor]
    counts: list[list[int] | None]


@operator
def sample_neighbors(
    relations: list[Relation],
    seeds: dict[int, Tensor],
    num_types: int,
    hops: int,
    replace: bool,
    disjoint: bool,
    latest: bool,
    latest_time: Tensor | None,
) -> Sampled:
    """Sample the neighbours of `seeds`, int64 by type, for so many hops.

    disjoint : whether each seed has a tree of its own. latest : take the latest arcs rather than any of those that are
    not too late. latest_time : of each tree, int64, for relations with times.
    """
    device = next((relation.offset.device for relation in relations), torch.device("cpu"))
    lists = [_List(device) for _ in range(num_types)]
    trees = 0
    for kind, given in seeds.items():
        lists[kind].append(given, torch.arange(trees, trees + len(given), device=device))
        trees += len(given)
    sizes = [[len(each.vertex)] for each in lists]
    arcs: list[list[tuple[Tensor, Tensor, Tensor]]] = [[] for _ in relations]
    begin = [0] * num_types
    for hop in range(hops):
        end = [len(each.vertex) for each in lists]
        for relation, found in zip(relations, arcs, strict=True):
            places = torch.arange(begin[relation.target], end[relation.target], device=device)
            found.append(_hop(relation, relation.fanout[hop], lists, places, replace, disjoint, latest, latest_time))
        begin = end
        for each, size in zip(lists, sizes, strict=True):
            size.append(len(each.vertex) - sum(size))
    rows, columns, numbers = ([torch.cat([hop[i] for hop in found]) for found in arcs] for i in range(3))
    counts: list[list[int] | None] = [[len(hop[0]) for hop in found] for found in arcs]
    held = [each.tree for each in lists] if disjoint else None
    return Sampled([each.vertex for each in lists], held, sizes, rows, columns, numbers, counts)


class _List:
    """The vertices of one type, and the trees that they are in."""

    def __init__(self, device: torch.device):
        self.vertex = torch.empty(0, dtype=torch.int64, device=device)
        self.tree = torch.empty(0, dtype=torch.int64, device=device)

    def append(self, vertex: Tensor, tree: Tensor) -> None:
        self.vertex, self.tree = torch.cat((self.vertex, vertex)), torch.cat((self.tree, tree))

    def places(self, vertex: Tensor, tree: Tensor, disjoint: bool) -> Tensor:
        """The places of vertices, of which new ones are appended in the order of their first occurrence."""
        trees = torch.cat((self.tree, tree))
        pairs = torch.stack((torch.cat((self.vertex, vertex)), trees if disjoint else torch.zeros_like(trees)))
        different, inverse = pairs.unique(dim=1, return_inverse=True)
        first = torch.full((different.shape[1],), pairs.shape[1], device=vertex.device)
        first.scatter_reduce_(0, inverse, torch.arange(len(inverse), device=vertex.device), "amin")
        known = len(self.vertex)
        new = first[first >= known].sort().values
        place = first.clone()
        place[first >= known] = torch.searchsorted(new, first[first >= known]) + known
        self.append(vertex[new - known], tree[new - known])
        return place[inverse[known:]]


def _hop(
    relation: Relation,
    fanout: int,
    lists: list[_List],
    places: Tensor,
    replace: bool,
    disjoint: bool,
    latest: bool,
    latest_time: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The arcs that one relation adds in a hop: (rows, columns, numbers)."""
    target = lists[relation.target]
    vertex, tree = target.vertex[places], target.tree[places]
    begin, end = relation.offset[vertex], relation.offset[vertex + 1]
    if relation.time is not None:
        assert latest_time is not None
        end = _in_time(relation, begin, end, latest_time[tree])
    own = random.words(relation.key, places)
    column, arc = _drawn(relation, begin, end, own, fanout, replace, latest)
    neighbor = relation.neighbors[arc].to(torch.int64)
    row = lists[relation.source].places(neighbor, tree[column], disjoint)
    return row, places[column], arc


def _in_time(relation: Relation, begin: Tensor, end: Tensor, latest: Tensor) -> Tensor:
    """The end of the arcs that are not later than `latest`: a binary search in all rows at once."""
    assert relation.time is not None
    low, high = begin.clone(), end.clone()
    while bool((low < high).any()):
        middle = (low + high) // 2
        inside = low < high
        arc = middle.where(inside, 0)
        time = relation.time[arc if relation.is_time_of_arcs else relation.neighbors[arc].to(torch.int64)]
        early = inside & (time <= latest)
        low = torch.where(early, middle + 1, low)
        high = torch.where(inside & ~early, middle, high)
    return low


def _drawn(
    relation: Relation, begin: Tensor, end: Tensor, own: Tensor, fanout: int, replace: bool, latest: bool
) -> tuple[Tensor, Tensor]:
    """The arcs drawn for rows begin..end - 1, in the order of the rows: (the row of each, its number)."""
    degree = end - begin
    if fanout < 0:
        replace, count = False, degree
    else:
        count = degree.clamp(max=fanout)
    if relation.weights is not None:
        return _by_weight(relation, begin, end, own, fanout if replace else count, replace)
    if latest:
        return _counted(end - count, count)
    if replace:
        return _flat(begin[:, None] + _below(own, fanout, degree[:, None].expand(-1, fanout)), degree > 0)
    whole = count == degree
    row, arc = _counted(begin, count.where(whole, 0))
    part = (~whole).nonzero().squeeze(1)
    chosen = begin[part, None] + _floyd(own[part], degree[part], max(fanout, 0))
    row = torch.cat((row, part.repeat_interleave(chosen.shape[1])))
    order = row.argsort(stable=True)
    return row[order], torch.cat((arc, chosen.flatten()))[order]


def _counted(begin: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """`count` arcs of each row from `begin` on."""
    row = torch.arange(len(begin), device=begin.device).repeat_interleave(count)
    first = count.cumsum(0) - count
    return row, begin[row] + torch.arange(len(row), device=begin.device) - first[row]


def _flat(chosen: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
    """The entries of a table [rows, k], of the rows that are kept."""
    row = kept.nonzero().squeeze(1)
    return row.repeat_interleave(chosen.shape[1]), chosen[row].flatten()


def _below(own: Tensor, count: int, bound: Tensor) -> Tensor:
    """Draws 0..count - 1 of each stream, below `bound` [rows, count]."""
    return (random.uniform(own[:, None], _numbers(own, count)) * bound).to(torch.int64)


def _numbers(own: Tensor, count: int) -> Tensor:
    return torch.arange(count, device=own.device).expand(len(own), count)


def _floyd(own: Tensor, degree: Tensor, count: int) -> Tensor:
    """`count` different numbers below each degree, which is larger: int64 [rows, count]."""
    chosen = torch.full((len(own), count), -1, device=own.device)
    last = degree[:, None] - count + torch.arange(count, device=own.device)
    drawn = _below(own, count, last + 1)
    for i in range(count):
        known = (chosen[:, :i] == drawn[:, i : i + 1]).any(1)
        chosen[:, i] = torch.where(known, last[:, i], drawn[:, i])
    return chosen


def _by_weight(
    relation: Relation, begin: Tensor, end: Tensor, own: Tensor, count: Tensor | int, replace: bool
) -> tuple[Tensor, Tensor]:
    """Row by row: the reference for what is drawn."""
    assert relation.weights is not None and relation.bounds is not None
    rows, arcs = [torch.empty(0, dtype=torch.int64)], [torch.empty(0, dtype=torch.int64)]
    wanted = [count] * len(begin) if isinstance(count, int) else count.tolist()
    for row, (first, last, k) in enumerate(zip(begin.tolist(), end.tolist(), wanted, strict=True)):
        weights = relation.weights[first:last].double().cpu()
        bound = int(relation.bounds[-(-first // STEP)]) if last - first > STEP else NO_BOUND
        found = first + torch.tensor(_weighted_row(weights, bound, own[row].cpu(), k, replace))
        rows.append(torch.full((len(found),), row))
        arcs.append(found.to(torch.int64))
    return torch.cat(rows).to(begin.device), torch.cat(arcs).to(begin.device)


def _tried(weights: Tensor, bound: int, own: Tensor, tries: int, count: int, replace: bool) -> list[int]:
    """Rejection sampling of at most `count` arcs of one row."""
    place = random.uniform(own, torch.arange(tries)) * len(weights)
    arc = place.to(torch.int64)
    accepted = arc[(place - arc) * 2.0**bound < weights[arc]].tolist()
    return (accepted if replace else list(dict.fromkeys(accepted)))[:count]


def _weighted_row(weights: Tensor, bound: int, own: Tensor, count: int, replace: bool) -> list[int]:
    """`count` arcs of one row by their weights, float64 [d]; those of weight 0 never."""
    if not replace and count == len(weights):
        return weights.nonzero().squeeze(1).tolist()
    running = weights.cumsum(0)
    if count == 0 or not len(weights) or not running[-1] > 0:
        return []
    found: list[int] = []
    if bound != NO_BOUND:
        tries = 4 * count + 4
        found = _tried(weights, bound, own, tries, count, replace)
        own = own + random.advanced(0, tries)
    most = count if replace else 4 * count
    shares = random.uniform(own, torch.arange(most + count)) * running[-1]
    at = torch.searchsorted(running, shares[:most], right=True).clamp(max=int(weights.nonzero().max()))
    for arc in at.tolist():
        if len(found) < count and (replace or arc not in found):
            found.append(arc)
            most = most if len(found) < count else 0
    number = 4 * count
    left = weights.clone()
    while not replace and len(found) < count:
        left[found] = 0
        running = left.cumsum(0)
        if not running[-1] > 0:
            break
        share = random.uniform(own, torch.tensor([number])) * running[-1]
        found.append(min(int(torch.searchsorted(running, share, right=True)), int(left.nonzero().max())))
        number += 1
    return found
