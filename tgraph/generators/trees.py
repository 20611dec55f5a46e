"""Trees."""

from __future__ import annotations

import torch

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.generators.simple import EDGES, check_count, on_cpu, simple


@on_cpu
def random_tree(n: int, seed: int = 0, *, weighted: bool = False) -> Graph:
    """A tree of `n` vertices, each of the n**(n - 2) labelled trees with the same probability.

    By Joyal's bijection (Advances in Mathematics 1981) from the maps of the vertices into themselves: vertices on
    cycles, in ascending order, become the path of their images, and every other vertex is joined to its image.
    O(n log n). Another `seed` gives another tree; `weighted` edges have int32 weights in 1..255.

    >>> tree = tg.generators.random_tree(100, seed=1)
    >>> tree.num_edges, tg.algorithms.wcc(tree).unique()
    (99, tensor([0]))
    """
    n = check_count(n, "n")
    vertex = torch.arange(n)
    image = random.below(random.key(seed, EDGES), vertex, n)
    reached = image
    for _ in range(max(n - 1, 0).bit_length()):
        reached = reached[reached]  # after n or more steps only vertices on cycles remain
    cyclic = torch.zeros(n, dtype=torch.bool)
    cyclic[reached] = True
    spine, hanging = image[cyclic], (~cyclic).nonzero()[:, 0]
    src, dst = torch.cat((spine[:-1], hanging)), torch.cat((spine[1:], image[hanging]))
    return simple(src, dst, n, seed=seed, weighted=weighted)


@on_cpu
def balanced_tree(branching: int, height: int) -> Graph:
    """The tree with `branching` children at inner vertices and leaves `height` below the root 0, numbered by levels.

    >>> tree = tg.generators.balanced_tree(2, 2)
    >>> tree.num_vertices, tree.neighbors[tree.offset[0] : tree.offset[1]].tolist()
    (7, [1, 2])
    """
    branching, height = check_count(branching, "branching", 1), check_count(height, "height")
    child = torch.arange(1, sum(branching**level for level in range(height + 1)))
    return simple((child - 1) // branching, child, len(child) + 1)
