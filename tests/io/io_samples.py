"""What the tests of the readers share: random graphs, the folder of real ones, and ways to compare."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import strategies as st

import tgraph
from tgraph.core.graph import Graph
from tgraph.errors import FileFormatError

DATA = Path(__file__).parents[2].parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the folder of real graphs {DATA} is not there")

_WEIGHTS = {
    "none": st.none(),
    "integer": st.integers(-(2**53), 2**53),
    "real": st.floats(allow_nan=False, allow_infinity=False),
}
_LABELS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=6)
_DTYPES = {"integer": torch.int64, "real": torch.float64}


@st.composite
def graphs(draw, directed=None, weights=("none", "integer", "real"), vertices=("none", "integers", "labels")):
    """Graphs of 0 to 8 vertices with isolated vertices, self-loops and parallel edges."""
    n = draw(st.integers(0, 8))
    vertex = st.integers(0, max(n - 1, 0))
    ends = draw(st.lists(st.tuples(vertex, vertex), max_size=20 if n else 0))
    kind = draw(st.sampled_from(weights))
    values = None
    if kind != "none":
        drawn = draw(st.lists(_WEIGHTS[kind], min_size=len(ends), max_size=len(ends)))
        values = torch.tensor(drawn, dtype=_DTYPES[kind])
    names = {
        "none": st.none(),
        "integers": st.lists(st.integers(0, 2**62), min_size=n, max_size=n, unique=True).map(sorted).map(torch.tensor),
        "labels": st.lists(_LABELS.map(lambda name: f"v{name}"), min_size=n, max_size=n, unique=True),
    }[draw(st.sampled_from(vertices)) if n else "none"]
    return Graph.from_edges(
        torch.tensor([u for u, _ in ends], dtype=torch.int64),
        torch.tensor([v for _, v in ends], dtype=torch.int64),
        values,
        num_vertices=n,
        directed=draw(st.booleans()) if directed is None else directed,
        vertices=draw(names),
    )


def round_trip(graph: Graph, path: Path, **options) -> Graph:
    """Write and read again, without the warnings about what the format cannot hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tgraph.write(graph, path)
    return tgraph.read(path, **options)


def arcs(graph: Graph) -> list[tuple]:
    """All arcs under their original ids, with weights, in an order that does not depend on the numbering."""
    src = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.offset.diff())
    ends = [graph.ids(side) for side in (src, graph.neighbors)] if graph.num_arcs else [[], []]
    columns = [side.tolist() if isinstance(side, torch.Tensor) else list(side) for side in ends]
    weights = [None] * graph.num_arcs if graph.weights is None else graph.weights.tolist()
    return sorted(zip(*columns, weights, strict=True), key=repr)


def assert_same(found: Graph, expected: Graph, ids: bool = True) -> None:
    """Equal tensors, dtypes included; with `ids` equal original ids too."""
    assert torch.equal(found.offset, expected.offset) and torch.equal(found.neighbors, expected.neighbors)
    assert found.directed == expected.directed
    assert (found.weights is None) == (expected.weights is None)
    if expected.weights is not None:
        assert found.weights.dtype == expected.weights.dtype and torch.equal(found.weights, expected.weights)
    if ids:
        assert (found.vertices is None) == (expected.vertices is None)
        if expected.vertices is not None:
            assert found.vertices.tolist() == expected.vertices.tolist()


def assert_fault(path: Path, line: int | None, *words: str, **options) -> None:
    """Reading fails with a message that has the file, the line and the given words, the remedy among them."""
    with pytest.raises(FileFormatError) as caught:
        tgraph.read(path, **options)
    message = str(caught.value)
    for word in (str(path), *words):
        assert word in message, message
    assert caught.value.line == line, message
    assert line is None or f"line {line}:" in message
    assert len(message.split(";")) > 1, "no remedy"


def loader():
    """The reference loader of the real graphs."""
    sys.path.insert(0, str(DATA))
    try:
        import load
    finally:
        sys.path.remove(str(DATA))
    return load
