"""Searches that go on one vertex at a time, in Python: they are sequential by nature."""

from __future__ import annotations

import heapq
from collections import deque

import torch
from torch import Tensor

from tgraph.core.dispatch import operator


@operator
def breadth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.search.breadth_first`."""
    start, others = offset.tolist(), neighbors.tolist()
    n = len(start) - 1
    parent, depth = [-1] * n, [-1] * n
    order = list(dict.fromkeys(sources.tolist()))
    for source in order:
        depth[source] = 0
    for v in order:  # which grows
        if depth[v] == max_depth:
            break
        for w in others[start[v] : start[v + 1]]:
            if depth[w] < 0:
                depth[w], parent[w] = depth[v] + 1, v
                order.append(w)
    return _tensors(order, [parent[v] for v in order], [depth[v] for v in order])


@operator
def breadth_first_each(
    offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int
) -> tuple[Tensor, Tensor, Tensor]:
    """(order, depth, ends): those of a `breadth_first` from each source by itself, one behind the other, and where they
    end, int64 [s]."""
    found = [breadth_first.portable(offset, neighbors, source, max_depth) for source in sources.split(1)]
    order, depth = (torch.cat([sources[:0], *(each[column] for each in found)]) for column in (0, 2))
    return order, depth, torch.tensor([len(each[0]) for each in found], dtype=torch.int64).cumsum(0)


@operator
def dijkstra(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, cutoff: float | None, target: int
) -> tuple[Tensor, Tensor, Tensor, Tensor] | None:
    """See `tgraph.primitives.search.dijkstra`."""
    start, others, lengths = offset.tolist(), neighbors.tolist(), weights.tolist()
    n = len(start) - 1
    parent = [-1] * n
    distance: list[float | None] = [None] * n
    settled, order, entries = [False] * n, [], 0
    heap: list[tuple[float, int, int]] = []
    met = list(dict.fromkeys(sources.tolist()))
    for source in sources.tolist():
        distance[source] = 0
        heapq.heappush(heap, (0, entries, source))
        entries += 1
    while heap:
        near, _, v = heapq.heappop(heap)
        if settled[v]:
            continue
        settled[v] = True
        order.append(v)
        if v == target:
            break
        for i in range(start[v], start[v + 1]):
            w, far = others[i], near + lengths[i]
            known = distance[w]
            if cutoff is not None and far > cutoff:
                continue
            if settled[w]:
                if known is not None and far < known:
                    return None
            elif known is None or far < known:
                if known is None:
                    met.append(w)
                distance[w], parent[w] = far, v
                heapq.heappush(heap, (far, entries, w))
                entries += 1
    found, first, above = _tensors(order, met[: len(order)], parent)
    return found, first, above, torch.tensor([-1 if d is None else d for d in distance], dtype=weights.dtype)


@operator
def meet(
    offset: Tensor, neighbors: Tensor, in_offset: Tensor, in_neighbors: Tensor, source: int, target: int
) -> list[int]:
    """See `tgraph.primitives.search.meet`."""
    if source == target:
        return [source]
    sides = [(offset.tolist(), neighbors.tolist()), (in_offset.tolist(), in_neighbors.tolist())]
    found = [{source: -1}, {target: -1}]
    levels = [[source], [target]]
    while levels[0] and levels[1]:
        side = 0 if len(levels[0]) <= len(levels[1]) else 1
        (start, others), seen, other = sides[side], found[side], found[1 - side]
        level, levels[side] = levels[side], []
        for v in level:
            for w in others[start[v] : start[v + 1]]:
                if w not in seen:
                    seen[w] = v
                    levels[side].append(w)
                if w in other:
                    return [*reversed(_chain(found[0], w)), *_chain(found[1], w)[1:]]
    return []


@operator
def bellman_ford_in_order(
    offset: Tensor, neighbors: Tensor, weights: Tensor, sources: Tensor, early: bool
) -> tuple[list[int], list[list[int]], Tensor] | None:
    """See `tgraph.primitives.search.bellman_ford`."""
    start, others, lengths = offset.tolist(), neighbors.tolist(), weights.tolist()
    n = len(start) - 1
    distance: dict[int, float] = dict.fromkeys(sources.tolist(), 0)  # in the order met
    before: dict[int, list[int]] = {source: [] for source in distance}
    update, updated_by = dict.fromkeys(distance, (-1, -1)), dict.fromkeys(distance, -1)
    queue, queued = deque(distance), set(distance)
    times = [0] * n
    while queue:
        u = queue.popleft()
        queued.remove(u)
        if not queued.isdisjoint(before[u]):
            continue
        for i in range(start[u], start[u + 1]):
            v, far = others[i], distance[u] + lengths[i]
            if v in distance and not far < distance[v]:
                if far == distance[v]:
                    before[v].append(u)
                continue
            if early:
                if v in update[u]:
                    return None
                update[v] = update[u] if updated_by.get(v) == u else (u, v)
            if v not in queued:
                queue.append(v)
                queued.add(v)
                times[v] += 1
                if times[v] == n:
                    return None
            distance[v], before[v], updated_by[v] = far, [u], u
    found = torch.zeros(n, dtype=weights.dtype)
    found[list(distance)] = torch.tensor(list(distance.values()), dtype=weights.dtype)
    return list(distance), [before[v] for v in distance], found


@operator
def meet_weighted(
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor,
    in_offset: Tensor,
    in_neighbors: Tensor,
    in_weights: Tensor,
    source: int,
    target: int,
) -> tuple[list[int], float] | None:
    """See `tgraph.primitives.search.meet_weighted`."""
    sides = [
        (offset.tolist(), neighbors.tolist(), weights.tolist()),
        (in_offset.tolist(), in_neighbors.tolist(), in_weights.tolist()),
    ]
    heaps = [[(0, 0, source)], [(0, 1, target)]]
    settled: list[dict[int, float]] = [{}, {}]
    seen: list[dict[int, float]] = [{source: 0}, {target: 0}]
    parent = [{source: -1}, {target: -1}]
    entries, side, met, least = 2, 0, -1, 0.0
    while heaps[0] and heaps[1]:
        near, _, v = heapq.heappop(heaps[side])
        here, there, (start, others, lengths) = side, 1 - side, sides[side]
        side = there
        if v in settled[here]:
            continue
        settled[here][v] = near
        if v in settled[there]:
            return [*reversed(_chain(parent[0], met)), *_chain(parent[1], met)[1:]], least
        for i in range(start[v], start[v + 1]):
            w, far = others[i], near + lengths[i]
            if w in settled[here]:
                if far < settled[here][w]:
                    return None
            elif w not in seen[here] or far < seen[here][w]:
                seen[here][w], parent[here][w] = far, v
                heapq.heappush(heaps[here], (far, entries, w))
                entries += 1
                if w in seen[there] and (met < 0 or least > far + seen[there][w]):
                    least, met = far + seen[there][w], w
    return [], 0


@operator
def depth_first(offset: Tensor, neighbors: Tensor, sources: Tensor, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.primitives.search.depth_first`."""
    start, others = offset.tolist(), neighbors.tolist()
    n = len(start) - 1
    found, parent = [False] * n, [-1] * n
    preorder: list[int] = []
    postorder: list[int] = []
    for source in sources.tolist():
        if found[source]:
            continue
        found[source] = True
        preorder.append(source)
        stack = [(source, iter(others[start[source] : start[source + 1]]))]
        while stack:
            v, left = stack[-1]
            for w in left:
                if found[w]:
                    continue
                found[w], parent[w] = True, v
                preorder.append(w)
                if len(stack) < max_depth:
                    stack.append((w, iter(others[start[w] : start[w + 1]])))
                    break
            else:
                postorder.append(v)
                stack.pop()
    return _tensors(preorder, postorder, parent)


@operator
def strong_components(offset: Tensor, neighbors: Tensor) -> Tensor:
    """See `tgraph.primitives.search.strong_components`."""
    start, others = offset.tolist(), neighbors.tolist()
    n = len(start) - 1
    number, low, component = [0] * n, [0] * n, [-1] * n
    numbered = completed = 0
    open_: list[int] = []
    for source in range(n):
        if number[source]:
            continue
        stack = [(source, -1)]
        while stack:
            v, arc = stack.pop()
            if arc < 0:
                numbered += 1
                number[v] = low[v] = numbered
                open_.append(v)
                arc = start[v]
            else:
                low[v] = min(low[v], low[others[arc - 1]]) if component[others[arc - 1]] < 0 else low[v]
            while arc < start[v + 1]:
                w = others[arc]
                arc += 1
                if not number[w]:
                    stack += [(v, arc), (w, -1)]
                    break
                if component[w] < 0:
                    low[v] = min(low[v], number[w])
            else:
                if low[v] == number[v]:
                    w = -1
                    while w != v:
                        w = open_.pop()
                        component[w] = completed
                    completed += 1
    return torch.tensor(component, dtype=torch.int64)


@operator
def generations(offset: Tensor, neighbors: Tensor, in_degree: Tensor) -> tuple[Tensor, Tensor]:
    """See `tgraph.primitives.search.generations`."""
    start, others, missing = offset.tolist(), neighbors.tolist(), in_degree.tolist()
    generation = [-1 if degree else 0 for degree in missing]
    order = [v for v, degree in enumerate(missing) if not degree]
    for v in order:  # which grows
        for w in others[start[v] : start[v + 1]]:
            missing[w] -= 1
            if not missing[w]:
                generation[w] = generation[v] + 1
                order.append(w)
    return torch.tensor(order, dtype=torch.int64), torch.tensor(generation, dtype=torch.int64)


def _chain(found_by: dict[int, int], v: int) -> list[int]:
    chain = []
    while v >= 0:
        chain.append(v)
        v = found_by[v]
    return chain


def _tensors(*lists: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    a, b, c = (torch.tensor(values, dtype=torch.int64) for values in lists)
    return a, b, c
