"""Batches and questions that a store refuses, among those that it takes: a twin gets the latter alone."""

import contextlib
import functools
import random
import tempfile

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tgraph as tg
from tgraph.errors import ArgumentError, TGraphError

GOOD = {
    "integers": lambda draw: draw.randrange(-5, 8) * 10**9,
    "text": lambda draw: draw.choice("abcdefgh") * draw.randrange(1, 3),
    "tuples": lambda draw: (draw.randrange(4), draw.choice("xyz")),
    "index": lambda draw: draw.randrange(8),
}
HOSTILE = [
    ["x"], {"a": 1}, {1}, np.arange(2), torch.arange(2), 2**70, -(2**63) - 1, 2**63, 1.5, float("nan"), None, b"x", "",
    0, 0.0, False, (), "a", 7, -1, object(),
]  # fmt: skip


def shown(store):
    """All that a reader sees, as text, in which one NaN is as another."""
    graph = store.snapshot()
    data = {name: column.tolist() for name, column in store.arc_data(graph).items()}
    names = None if graph.vertices is None else list(graph.vertices)
    return repr((store.version, store.num_vertices, names, graph.offset.tolist(), graph.neighbors.tolist(), data))


def batch(draw, kind, hostile):
    """Arguments of `insert`, of which some are such as no store takes if `hostile`."""
    size = draw.choice([0, 1, 1, 2, 3, 6])
    src, dst = ([GOOD[kind](draw) for _ in range(size)] for _ in range(2))
    weights, times = [float(draw.randrange(9)) for _ in range(size)], [draw.randrange(100) for _ in range(size)]
    for _ in range(draw.randrange(1, 3) if hostile else 0):
        spoiled = draw.choice([src, dst, weights, times])
        if draw.random() < 0.2:
            spoiled.append(draw.choice(HOSTILE))
        elif spoiled:
            spoiled[draw.randrange(len(spoiled))] = draw.choice(HOSTILE)
    return src, dst, weights, times


def asked(store, draw, kind):
    """A question, which is refused or not, and changes nothing."""
    wanted = [GOOD[draw.choice([kind, *GOOD])](draw) for _ in range(draw.randrange(3))]
    wanted += [draw.choice(HOSTILE)] * (draw.random() < 0.5)
    with contextlib.suppress(TGraphError):
        store.neighbors(wanted)


def play(make, seed, steps):
    """Steps on a store and on its twin; how many were refused."""
    draw, refused = random.Random(seed), 0
    kind = draw.choice(list(GOOD))
    options = {"times": torch.int16, "multi": draw.choice(["last", "sum", "keep"]), "directed": draw.random() < 0.5}
    options |= {"weights": torch.float32, "ids": "index" if kind == "index" else "any"}
    store, twin = make(**options), tg.dynamic.Store(**options)
    for _ in range(steps):
        step = draw.choice(["insert", "insert", "upsert", "delete", "vertices", "ask", "compact"])
        src, dst, weights, times = batch(draw, kind, draw.random() < 0.5)
        before = shown(store)
        try:
            if step in ("insert", "upsert"):
                getattr(store, step)(src, dst, weights, times)
                getattr(twin, step)(src, dst, weights, times)
            elif step == "delete":
                store.delete(src, dst)
                twin.delete(src, dst)
            elif step == "vertices":
                store.delete_vertices(src)
                twin.delete_vertices(src)
            elif step == "ask":
                asked(store, draw, kind)
            else:
                store.compact()
        except TGraphError:
            refused += 1
            assert shown(store) == before
        assert shown(store) == shown(twin), (seed, step, src, dst, weights, times)
    store.close()
    return refused, shown(store), options


@given(seed=st.integers(0, 2**32))
@settings(max_examples=max(settings().max_examples, 5), deadline=None)
def test_a_refused_batch_changes_nothing(seed):
    play(tg.dynamic.Store, seed, 12)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=max(settings().max_examples // 5, 3), deadline=None)
def test_nor_does_it_leave_anything_in_a_folder(seed):
    with tempfile.TemporaryDirectory() as folder:
        _, last, options = play(functools.partial(tg.dynamic.open, folder, sync="never"), seed, 8)
        with tg.dynamic.open(folder, **options) as again:
            assert shown(again) == last


def test_neither_a_question_nor_a_refused_batch_decides_the_kind_of_ids():
    store = tg.dynamic.Store(ids="any")
    for attempt in (
        lambda: store.neighbors([1]),
        lambda: store.delete([1], [2]),
        lambda: store.delete_vertices([1]),
        lambda: store.insert([1], ["a"]),
        lambda: store.insert([2**70], [1]),
        lambda: store.insert(["a", ["b"]], ["c", "d"]),
    ):
        with pytest.raises(TGraphError):
            attempt()
    store.insert([], [])
    assert store.insert(["a"], ["b"]) == 2
    assert list(store.snapshot().vertices) == ["a", "b"]


def test_labels_in_the_place_of_numbers_and_numbers_of_an_empty_store_are_named():
    store = tg.dynamic.Store(ids="any")
    store.insert(["a"], ["b"])
    for source in ("a", ["a"], np.array(["a"])):
        with pytest.raises(ArgumentError, match=r"source: 'a' is text and no vertex index; graph.index\('a'\)"):
            tg.dynamic.follow(tg.algorithms.BFS(source), store).values  # noqa: B018 - computed at first use
    empty = tg.dynamic.Store()
    with pytest.raises(ArgumentError, match=r"0 at position 0 is no vertex index \(there is none\)"):
        empty.neighbors([0])
    with pytest.raises(ArgumentError, match=r"0 at position 0 is no arc \(there is none\) of graph"):
        empty.delete_arcs([0], empty.snapshot())
