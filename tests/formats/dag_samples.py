"""DAGs to test with: random ones of every kind, and the rows that they represent."""

from __future__ import annotations

import dataclasses

import torch
from hypothesis import strategies as st
from strategies import graphs

import tgraph as tg
from tgraph.kernels.dag import Dag


@dataclasses.dataclass(frozen=True)
class Sample:
    """A DAG, and the rows that it represents: for each output the list of (input, weight or None), ascending."""

    dag: Dag
    rows: list[list[tuple[int, float]]]

    def dense(self) -> torch.Tensor:
        """The adjacency matrix, parallel arcs counted, float64 [n, n]."""
        matrix = torch.zeros(self.dag.num_vertices, self.dag.num_vertices, dtype=torch.float64)
        for v, row in enumerate(self.rows):
            for u, _ in row:
                matrix[v, u] += 1
        return matrix


def pack(n, rows, order, phases, tasks, weights=None, index=torch.int32):
    """A Dag of rows given as lists."""
    offset = torch.tensor([0, *(len(row) for row in rows)]).cumsum(0)
    return Dag(
        n,
        offset,
        torch.tensor([child for row in rows for child in row], dtype=index),
        None if weights is None else torch.tensor([w for row in weights for w in row], dtype=torch.float64),
        None if order is None else torch.tensor(order, dtype=index),
        tuple(phases),
        None if tasks is None else torch.tensor(tasks, dtype=torch.int64),
    )


@st.composite
def virtual(draw, weighted=False, max_vertices=9):
    """Virtual vertices in several phases, of inputs and virtual vertices before them; outputs of both."""
    n = draw(st.integers(0, max_vertices))
    sizes = draw(st.lists(st.integers(0, 4), max_size=3)) if n else []
    total = sum(sizes)
    rows, weights, found, phases = [], [], [], [0]

    def make(reach):
        children = draw(st.lists(st.integers(0, n + reach - 1), max_size=5)) if n + reach else []
        carried = [draw(st.integers(-3, 3)) if weighted and child < n else 0 for child in children]
        expanded = []
        for child, weight in zip(children, carried, strict=True):
            expanded += [(child, weight)] if child < n else found[child - n]
        rows.append(children)
        weights.append(carried)
        return expanded

    for size in sizes:
        reach = len(found)
        new = [make(reach) for _ in range(size)]
        found.extend(new)
        phases.append(len(found))
    outputs = [make(total) for _ in range(n)]
    phases.append(total + n)
    dag = pack(
        n, rows, None, phases, None, weights if weighted else None, draw(st.sampled_from([torch.int32, torch.int64]))
    )
    return Sample(dag, [sorted(row, key=lambda arc: arc[0]) for row in outputs])


@st.composite
def branches(draw, max_vertices=12, mixed=False):
    """Outputs that differ from a parent by some inputs more and some fewer, in tasks of whole branches; where `mixed`,
    after virtual vertices that they also refer to, and with parents from earlier phases."""
    n = draw(st.integers(0, max_vertices))
    num_virtual = draw(st.integers(0, 3)) if mixed and n else 0
    virtual_rows = [draw(st.lists(st.integers(0, n - 1), max_size=4)) for _ in range(num_virtual)]
    order = draw(st.permutations(range(n)))
    cuts = sorted(draw(st.sets(st.integers(0, n))) | {0, n})
    phase_cuts = sorted(set(draw(st.lists(st.sampled_from(cuts), max_size=2))) | {0, n})
    rows, found = [[] for _ in range(n)], [[] for _ in range(n)]
    for place, v in enumerate(order):
        task = max(cut for cut in cuts if cut <= place and cut < max(n, 1))
        phase = max(cut for cut in phase_cuts if cut <= place)
        parents = [*order[:phase], *order[task:place]]
        parent = draw(st.none() | st.sampled_from(parents)) if parents else None
        children, bag = [], {}
        if parent is not None:
            children.append(n + num_virtual + parent)
            bag = dict(found[parent])
        for rule in draw(st.lists(st.integers(0, num_virtual - 1), max_size=2)) if num_virtual else []:
            children.append(n + rule)
            for u in virtual_rows[rule]:
                bag[u] = bag.get(u, 0) + 1
        for u in draw(st.lists(st.integers(0, n - 1), max_size=4)):
            children.append(u)
            bag[u] = bag.get(u, 0) + 1
        for u in draw(st.lists(st.sampled_from(sorted(bag)), max_size=3)) if bag else []:
            if bag[u]:
                children.append(~u)
                bag[u] -= 1
        rows[v], found[v] = children, list(bag.items())
    all_order = [*range(num_virtual), *(num_virtual + v for v in order)]
    phases = [0, *(num_virtual + cut for cut in phase_cuts)] if num_virtual else phase_cuts
    tasks = [*range(num_virtual), *(num_virtual + cut for cut in cuts)]
    dag = pack(
        n, virtual_rows + rows, all_order, phases, tasks, None, draw(st.sampled_from([torch.int32, torch.int64]))
    )
    return Sample(dag, [sorted((u, 0) for u, count in bag for _ in range(count)) for bag in found])


def any_dag():
    """One of every kind."""
    return virtual() | branches() | branches(mixed=True)


@st.composite
def repetitive(draw, **how):
    """A graph whose rows repeat: the arcs of a small one between copies of it, or into it from more sources."""
    graph = draw(graphs(**how))
    n, copies = graph.num_vertices, draw(st.integers(1, 9))
    src = torch.repeat_interleave(torch.arange(n), graph.offset.diff())
    src = torch.cat([src + i * n for i in range(copies)])
    dst = graph.neighbors.long().repeat(copies)
    weights = None if graph.weights is None else graph.weights.repeat(copies)
    return tg.Graph.from_edges(src, dst, weights, num_vertices=n * copies)
