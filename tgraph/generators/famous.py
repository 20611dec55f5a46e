"""Small graphs with names."""

from __future__ import annotations

import torch

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators.simple import on_cpu, simple

# Cubic graphs in LCF notation (Lederberg; Coxeter and Frucht): a cycle, and the steps of the chord at each vertex, with
# their number of repetitions.
LCF: dict[str, tuple[tuple[int, ...], int]] = {
    "desargues": ((5, -5, 9, -9), 5),
    "dodecahedral": ((10, 7, 4, -4, -7, 10, -4, 7, -7, 4), 2),
    "heawood": ((5, -5), 7),
    "moebius_kantor": ((5, -5), 8),
    "pappus": ((5, 7, -7, 7, -7, -5), 3),
    "tetrahedral": ((2,), 4),
}

# Each vertex and its larger neighbours.
EDGES: dict[str, dict[int, tuple[int, ...]]] = {
    "bull": {0: (1, 2), 1: (2, 3), 2: (4,)},
    "cubical": {0: (1, 3, 4), 1: (2, 7), 2: (3, 6), 3: (5,), 4: (5, 7), 5: (6,), 6: (7,)},
    "diamond": {0: (1, 2), 1: (2, 3), 2: (3,)},
    "house": {0: (1, 2), 1: (3,), 2: (3, 4), 3: (4,)},
    "petersen": {0: (1, 4, 5), 1: (2, 6), 2: (3, 7), 3: (4, 8), 4: (9,), 5: (7, 8), 6: (8, 9), 7: (9,)},
    "octahedral": {0: (1, 2, 3, 4), 1: (2, 3, 5), 2: (4, 5), 3: (4, 5), 4: (5,)},
    "truncated_tetrahedron": {
        0: (1, 2, 9), 1: (2, 6), 2: (3,), 3: (4, 11), 4: (5, 11), 5: (6, 7), 6: (7,), 7: (8,), 8: (9, 10), 9: (10,),
        10: (11,),
    },
    "krackhardt_kite": {
        0: (1, 2, 3, 5), 1: (3, 4, 6), 2: (3, 5), 3: (4, 5, 6), 4: (6,), 5: (6, 7), 6: (7,), 7: (8,), 8: (9,),
    },
    # Zachary, "An information flow model for conflict and fission in small groups", 1977.
    "karate_club": {
        0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31), 1: (2, 3, 7, 13, 17, 19, 21, 30),
        2: (3, 7, 8, 9, 13, 27, 28, 32), 3: (7, 12, 13), 4: (6, 10), 5: (6, 10, 16), 6: (16,), 8: (30, 32, 33),
        9: (33,), 13: (33,), 14: (32, 33), 15: (32, 33), 18: (32, 33), 19: (33,), 20: (32, 33), 22: (32, 33),
        23: (25, 27, 29, 32, 33), 24: (25, 27, 31), 25: (31,), 26: (29, 33), 27: (33,), 28: (31, 33), 29: (32, 33),
        30: (32, 33), 31: (32, 33), 32: (33,),
    },
}  # fmt: skip


@on_cpu
def famous(name: str) -> Graph:
    """A small undirected graph by its `name`, with the numbering of networkx: one of NAMES.

    Raises ArgumentError for another name.

    >>> graph = tg.generators.famous("karate_club")
    >>> graph.num_vertices, graph.num_edges
    (34, 78)
    """
    if name in LCF:
        steps, repeats = LCF[name]
        vertex = torch.arange(len(steps) * repeats)
        chord = (vertex + torch.tensor(steps).repeat(repeats)) % len(vertex)
        return simple(torch.cat((vertex, vertex)), torch.cat((vertex.roll(-1), chord)), len(vertex))
    if name not in EDGES:
        raise ArgumentError(f"name: {name!r} is not one of {', '.join(NAMES)}")
    pairs = torch.tensor([(u, v) for u, larger in EDGES[name].items() for v in larger])
    return simple(pairs[:, 0], pairs[:, 1], int(pairs.max()) + 1)


NAMES = tuple(sorted((*LCF, *EDGES)))
