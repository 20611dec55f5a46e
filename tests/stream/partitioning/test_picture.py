"""The picture of a partition is drawn for any number of parts, with and without arcs."""

import matplotlib.figure
import pytest
import torch
from strategies import random_graph

from tgraph.stream.partitioning.cuts import edge_balanced
from tgraph.stream.partitioning.picture import draw


@pytest.mark.covering(1)
@pytest.mark.parametrize(("n", "m"), [(0, 0), (5, 0), (30, 100)])
@pytest.mark.parametrize("count", [1, 2, 70])
def test_a_picture_of_any_partition(n, m, count, tmp_path):
    graph = random_graph(n, m)
    path = tmp_path / "parts.svg"
    draw(edge_balanced(graph, count).arcs_between(graph), path, title="a title")
    assert path.stat().st_size > 1000


def test_what_is_drawn_is_the_partition(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", lambda figure, path, **options: drawn.append(figure))
    draw(torch.tensor([[5, 1], [0, 7]]), tmp_path / "parts.png")
    bars, matrix = drawn[0].axes[:2]
    total, inside = (patch.get_data().values.tolist() for patch in bars.patches)
    assert total == [6, 7] and inside == [5, 7]
    shown = matrix.images[0].get_array()
    assert shown.filled(0).tolist() == [[5, 1], [0, 7]]
    assert (matrix.get_xlabel(), matrix.get_ylabel()) == ("to part", "from part")
