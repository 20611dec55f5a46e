"""Arcs for the tests of attention."""

import torch
from hypothesis import strategies as st

from tgraph.core.csr import Csr


def arcs_of(src, dst, num_sources, num_targets, dtype=torch.int32, positions=True):
    """The arcs src[i] -> dst[i], whose edges are in this order; or in that of the rows."""
    order = torch.argsort(dst, stable=True)
    offset = torch.zeros(num_targets + 1, dtype=torch.int64)
    offset[1:] = torch.bincount(dst, minlength=num_targets).cumsum(0)
    return Csr(offset, src[order].to(dtype), order if positions else None, num_sources)


def random_arcs(num_sources=7, num_targets=6, arcs=40, seed=0, **options):
    """A third of the arcs lead to the first target and a third come from the first source; the last of both have
    none. Some arcs are there twice."""
    random = torch.Generator().manual_seed(seed)
    src = torch.randint(max(num_sources - 1, 1), (arcs,), generator=random)
    dst = torch.randint(max(num_targets - 1, 1), (arcs,), generator=random)
    dst[: arcs // 3] = 0
    src[arcs // 4 : arcs // 2] = 0
    return arcs_of(src, dst, num_sources, num_targets, **options)


@st.composite
def rectangular(draw):
    """Arcs between two sets of vertices, of either dtype."""
    sources, targets = draw(st.integers(1, 6)), draw(st.integers(0, 6))
    ends = st.tuples(st.integers(0, sources - 1), st.integers(0, max(targets - 1, 0)))
    drawn = draw(st.lists(ends, max_size=30 if targets else 0))
    src, dst = torch.tensor(drawn, dtype=torch.int64).view(-1, 2).unbind(1)
    dtype = draw(st.sampled_from([torch.int32, torch.int64]))
    return arcs_of(src, dst, sources, targets, dtype=dtype, positions=draw(st.booleans()))
