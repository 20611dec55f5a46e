"""Samples of both backends, and a small graph of several types, for the tests of samplers."""

import pytest
import torch
from strategies import on_threads

from tgraph.core import dispatch
from tgraph.core.csr import Csr


def same(found, expected):
    """The same sample."""
    for name in ("node", "row", "col", "edge", "batch", "weight"):
        one, other = getattr(found, name), getattr(expected, name)
        assert type(one) is type(other)
        if isinstance(one, dict):
            assert one.keys() == other.keys()
            for key in one:
                assert (one[key] is other[key] is None) or torch.equal(one[key], other[key]), name
        elif one is not None:
            assert torch.equal(one, other), name
    assert found.num_sampled_nodes == expected.num_sampled_nodes
    assert found.num_sampled_edges == expected.num_sampled_edges


def drawn_alike(sampler, seeds):
    """A draw is the same on any number of threads, and another at each call."""
    alone, *others = on_threads(lambda: sampler.sample(seeds, draw=1))
    for other in others:
        same(alone, other)
    first, second = (sampler.sample(seeds) for _ in range(2))
    assert not torch.equal(first.edge, second.edge)


def with_both(sampler, *arguments, **named):
    """The sample of the compiled kernels, which is compared with that of the portable ones."""
    found = []
    for backend in ("native", "portable"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TGRAPH_NATIVE", "1" if backend == "native" else "0")
            with dispatch.watched() as choices:
                found.append(sampler.sample(*arguments, draw=4, **named))
        assert {choice.backend.name for choice in choices} == {backend}
    same(*found)
    return found[0]


def citation_graph():
    """Papers that cite papers, authors that write them: rows are destinations."""
    generator = torch.Generator().manual_seed(4)
    found = {}
    for source, target, kind in (
        (40, 40, ("paper", "cites", "paper")),
        (15, 40, ("author", "writes", "paper")),
        (40, 15, ("paper", "by", "author")),
    ):
        count = torch.randint(0, 9, (target,), generator=generator)
        offset = torch.nn.functional.pad(count.cumsum(0), (1, 0))
        m = int(offset[-1])
        neighbors = torch.randint(source, (m,), generator=generator)
        found[kind] = Csr(
            offset, neighbors, torch.randperm(m, generator=generator), source, torch.rand(m, generator=generator)
        )
    return found
