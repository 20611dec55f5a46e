"""Sequences of batches for stores, for the tests of followers."""

import pytest
import torch
from hypothesis import strategies as st

import tgraph as tg
from tgraph.core.dispatch import is_available

# Without compiled kernels values are computed from nothing: what is tested of how they are followed needs them.
compiled = pytest.mark.skipif(not is_available("native"), reason="there are no compiled kernels")

VERTICES = st.integers(0, 8)
OPERATIONS = ("insert", "insert", "upsert", "delete", "vertices", "compact", "read")
STEPS = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.lists(st.tuples(VERTICES, VERTICES, st.integers(0, 7)), max_size=8)),
    min_size=2,
    max_size=8,
)
MULTI = ("last", "sum", "keep")


def store_of(directed, multi, dtype, num_vertices=3):
    return tg.dynamic.Store(dtype, directed=directed, multi=multi, num_vertices=num_vertices)


def apply(store, step, arcs, dtype):
    """One step, with weights that are exact in sums; "read" does nothing. Deletions name vertices that there are."""
    if step == "compact":
        store.compact()
    if step in ("delete", "vertices"):
        arcs = [arc for arc in arcs if max(arc[:2]) < store.num_vertices]
    src, dst = [arc[0] for arc in arcs], [arc[1] for arc in arcs]
    if step in ("insert", "upsert"):
        weights = None if dtype is None else torch.tensor([arc[2] for arc in arcs], dtype=torch.int64)
        if dtype is not None:
            weights = (weights / 8).to(dtype) if dtype.is_floating_point else weights.to(dtype)
        getattr(store, step)(src, dst, weights)
    elif step == "delete":
        store.delete(src, dst)
    elif step == "vertices":
        store.delete_vertices(sorted(set(src[:2])))


def followed(store, steps, dtype, followers, compare):
    """Take the steps and compare what follows with a computation from nothing, after each step or several."""
    for number, (step, arcs) in enumerate(steps):
        apply(store, step, arcs, dtype)
        if step == "read" or number == len(steps) - 1:
            graph = store.snapshot()
            for follower, expected in followers:
                compare(follower.values, expected, graph)
                assert follower.version == store.version
