"""Weakly connected components over the parts of all ranks.

Each rank joins along its own arcs by union-find. What is left are the trees of the ranks that share a vertex: the owner
has it in one, whoever mirrors it in another. These exchange the smallest vertex they know of until none changes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.subgraph import whole
from tgraph.distributed.part import Part
from tgraph.primitives import union_find


def join(part: Part, label: Tensor) -> bool:
    """Write the smallest vertex of each component to `label` [k] of the own vertices; False, with nothing done, where
    these are not their own indices to begin with, so that they may be trees already."""
    held, own = part.ownership, part.num_own
    vertex = torch.arange(held.first, held.end, dtype=label.dtype, device=label.device)
    fresh = torch.tensor(torch.equal(label, vertex))
    if not bool(held.gather(fresh).all()):
        return False
    tree = torch.arange(part.num_local, dtype=torch.int32 if part.num_local < 2**31 else torch.int64)
    inside = tree[:own].clone()
    tree[:own] = union_find.join(whole(part.inside, part.inside.everything(), "push"), inside)
    tree = union_find.join(whole(part.outside, part.outside.everything(), "push"), tree).to(torch.int64)
    smallest = torch.cat((vertex, part.mirrors.to(label.dtype)))
    smallest.scatter_reduce_(0, tree, smallest.clone(), "amin")  # at the root of each tree
    mirrored, owned = tree[own:], tree.index_select(0, part.copied)
    while True:
        before = smallest.clone()
        back = part.give_back(smallest.index_select(0, mirrored))
        out = part.fetch(smallest.index_select(0, tree[:own]))
        smallest.scatter_reduce_(0, owned, back.wait(), "amin")
        smallest.scatter_reduce_(0, mirrored, out.wait(), "amin")
        changed = torch.tensor(not torch.equal(before, smallest))
        if not bool(held.gather(changed).any()):
            break
    label.copy_(smallest.index_select(0, tree[:own]))
    return True
