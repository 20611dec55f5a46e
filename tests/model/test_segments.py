"""The best messages of each vertex, against Python's own sort; medians and greatest messages among NaNs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs, graphs

import tgraph as tg
from tgraph.kernels.reductions import REDUCTIONS

NAN = float("nan")


def best(graph: tg.Graph, x: torch.Tensor, k: int, largest: bool, senders: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The k best messages of each vertex and their senders, of a frontier, by Python's sort."""
    none = (REDUCTIONS["max" if largest else "min"].identity(x.dtype), -1)
    rows: list[list[Any]] = [[] for _ in range(graph.num_vertices)]
    for u, v, _ in arcs(graph):
        if u in senders:
            rows[v].append((x[u].item(), u))
    key = lambda pair: (pair[0] != pair[0], pair[0])  # noqa: E731
    rows = [[*sorted(row, key=key, reverse=largest), *[none] * k][:k] for row in rows]
    found = torch.tensor(rows, dtype=torch.float64).view(-1, k, 2)
    return found[..., 0].to(x.dtype), found[..., 1].long()


@given(graphs(), st.integers(1, 4), st.booleans(), st.sampled_from([torch.bool, torch.int16, torch.float16]), st.data())
def test_the_best_messages(graph: tg.Graph, k: int, largest: bool, dtype: torch.dtype, data: Any) -> None:
    n = graph.num_vertices
    values = [0, 1] if dtype == torch.bool else [-2, 0, 1, 7] + [NAN, torch.inf] * dtype.is_floating_point
    x = torch.tensor(data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)), dtype=dtype)
    top = tg.TopK(k, largest)
    for one, other in zip(tg.aggregate(graph, x, top), best(graph, x, k, largest, range(n)), strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)
    wide = tg.aggregate(graph, torch.stack((x, x.flip(0)), 1), top)
    torch.testing.assert_close(wide.values[..., 1], tg.aggregate(graph, x.flip(0), top).values, equal_nan=True)

    active = data.draw(st.lists(st.integers(0, n - 1), unique=True)) if n else []
    expected = best(graph, x, k, largest, active)[1]
    for mode in ("push", "pull"):  # vertices that no active one reaches keep what they have
        frontier = graph.select(torch.tensor(active, dtype=torch.int64))
        received = tg.aggregate(tg.Program().tensorize(graph, frontier, mode), x, top)
        found, _ = tg.update(torch.full((n, k), -1), frontier, received, lambda old, top: top[1].clone())
        assert torch.equal(found, expected)


@given(graphs(min_vertices=1), st.data())
def test_medians_and_greatest_messages_with_nans(graph: tg.Graph, data: Any) -> None:
    n = graph.num_vertices
    x = torch.tensor(data.draw(st.lists(st.sampled_from([NAN, 1.0, 2.0, 3.0]), min_size=n, max_size=n)))
    rows: list[list[int]] = [[] for _ in range(n)]
    for u, v, _ in arcs(graph):
        rows[v].append(u)
    for name, function, empty in (
        ("median", lambda row: x[row].median().item(), 0.0),
        ("argmax", lambda row: row[x[row].argmax()], -1),
        ("argmin", lambda row: row[x[row].argmin()], -1),
    ):
        expected = torch.tensor([function(row) if row else empty for row in rows])
        torch.testing.assert_close(tg.aggregate(graph, x, name), expected, equal_nan=True)


def test_gradients_of_the_best_messages() -> None:
    graph = tg.generators.rmat(4, 4, seed=1, directed=True)
    x = torch.rand(graph.num_vertices, 2, dtype=torch.float64, requires_grad=True)
    values, senders = tg.aggregate(graph, x, tg.TopK(3), edge=lambda u, v: u * v)
    taken = senders >= 0
    assert torch.autograd.gradcheck(
        lambda x: tg.aggregate(graph, x, tg.TopK(3), edge=lambda u, v: u * v)[0][taken], x, fast_mode=True
    )
    assert not values[~taken].isfinite().any()


def test_what_is_refused() -> None:
    for k in (0, 1.5, True):
        with pytest.raises(tg.errors.ArgumentError, match=r"k: .* is no number of messages"):
            tg.TopK(k)
    graph = tg.generators.path(3)
    received = tg.aggregate(tg.Program().tensorize(graph, graph.select(0), "push"), torch.ones(3), tg.TopK(1))
    with pytest.raises(tg.errors.ArgumentError, match="function: what was received are several tensors"):
        tg.update(torch.ones(3), graph.select(0), received)
