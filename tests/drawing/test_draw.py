"""Pictures are what they are to be: files of their kind, with what was asked for in them."""

import base64
import json
import re
import sys
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pytest
import torch
from page_graphs import HOSTILE, hostile

import tgraph as tg
from tgraph.drawing.density import edge_density
from tgraph.drawing.paint import GROUP_COLORS
from tgraph.errors import ArgumentError

GRAPH = tg.generators.famous("karate_club")


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_kinds_of_files(suffix, tmp_path):
    file = tmp_path / f"karate{suffix}"
    positions = tg.draw(GRAPH, file, color=torch.arange(34) % 3, size=GRAPH.out_degree, title="A club", inches=4)
    assert positions.shape == (34, 2)
    assert file.read_bytes().startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])


def test_a_picture_shows_vertices_where_they_are_in_their_colours(tmp_path):
    corners = torch.tensor([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    square = tg.generators.cycle(4)
    color = torch.tensor([0, 0, 0, 1])
    tg.draw(square, tmp_path / "x.png", positions=corners, color=color, labels=False, legend=False, inches=3)
    pixels = matplotlib.image.imread(tmp_path / "x.png")[:, :, :3]
    groups = [np.array([int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)]) for name in GROUP_COLORS[:2]]
    places = [np.argwhere(np.abs(pixels - color).max(2) < 0.02) for color in groups]
    assert len(places[0]) > 2.5 * len(places[1]) > 0
    assert (places[1] < np.array(pixels.shape[:2]) / 2).all()  # row 0 is the top: the upper left corner


def test_labels_are_original_ids(tmp_path):
    graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=["ann", "bob", "cy"])
    tg.draw(graph, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert all(f"<!-- {name} -->" in text for name in ("ann", "bob", "cy"))
    tg.draw(graph, tmp_path / "y.svg", labels=False)
    assert "<!-- ann -->" not in (tmp_path / "y.svg").read_text()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html"])
def test_labels_and_titles_are_text(suffix, tmp_path):
    graph, file = hostile(), tmp_path / f"x{suffix}"
    tg.draw(graph, file, positions=tg.drawing.circular(graph), title=" ".join(HOSTILE[:-1]))
    if suffix == ".svg":
        shown = {" $a_$ and $100 to $200 ", " javascript:window.hacked=1 ", r" \x07\x7f\x9b31m\ufffe\u2028 "}
        assert shown <= set(comments(file))


@pytest.mark.parametrize("title", HOSTILE)
def test_a_picture_is_valid_with_any_title(title, tmp_path):
    tg.draw(tg.generators.path(1), tmp_path / "x.svg", title=title, labels=False, inches=1)
    assert bool(comments(tmp_path / "x.svg")) == bool(title)


def comments(file):
    """The texts that matplotlib names in comments of an SVG, which has to be well-formed."""
    builder = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    return [each.text for each in ElementTree.parse(file, builder).iter(ElementTree.Comment)]


def test_lines_of_a_label_stay_lines(tmp_path):
    tg.draw(tg.Graph.from_edges([0], [1], vertices=["one\ntwo", "b"]), tmp_path / "x.svg", title="up\ndown")
    text = (tmp_path / "x.svg").read_text()
    assert all(f"<!-- {line} -->" in text for line in ("one", "two", "up", "down"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [[float("nan")] * 3, [float("inf"), 1, 2], [1e300, -1e300, 0], [5, 5, 5.0]])
def test_colours_of_any_numbers(values, tmp_path):
    tg.draw(tg.generators.path(3), tmp_path / "x.png", color=torch.tensor(values, dtype=torch.float64), inches=1)
    assert matplotlib.image.imread(tmp_path / "x.png").shape[1] == 150


def test_many_edges_become_densities(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["tgraph.drawing.picture"], "SEPARATE_EDGES", 50)
    graph = tg.generators.grid2d(20, 20)
    tg.draw(graph, tmp_path / "x.svg", size=graph.out_degree)
    assert "<image" in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_tiny_graphs(n, suffix, tmp_path):
    tg.draw(tg.generators.path(n), tmp_path / f"x{suffix}", inches=2, color=torch.zeros(n), size=torch.zeros(n))
    assert (tmp_path / f"x{suffix}").stat().st_size > 500


def test_density_counts_edges():
    points = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 5.0]])
    density = edge_density(points, np.array([0]), np.array([1]), np.array([0.0, -1]), np.array([10.0, 9]), 100)
    assert density.shape == (100, 100)
    assert (density[10] > 0).all() and not density[np.arange(100) != 10].any()
    assert not edge_density(points, np.array([], int), np.array([], int), np.zeros(2), np.ones(2), 10).any()


def test_a_page_holds_the_graph(tmp_path):
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], vertices=["</script>", "b", "c"], directed=False)
    tg.draw(graph, tmp_path / "x.html", title="<b>")
    text = (tmp_path / "x.html").read_text()
    assert "&lt;b&gt;" in text and text.count("</script>") == 2 and "http:" not in text and "https:" not in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    assert data["names"] == ["</script>", "b", "c"] and data["count"] == 3
    edges = np.frombuffer(base64.b64decode(data["edges"]), "<u4").reshape(-1, 2)
    assert {tuple(edge) for edge in edges.tolist()} == {(0, 1), (1, 2), (0, 2)}
    assert len(base64.b64decode(data["points"])) == 24 and len(base64.b64decode(data["colors"])) == 9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "x.gif"}, "path: x.gif has none of the extensions"),
        ({"color": torch.zeros(3)}, "color: expected 34 numbers"),
        ({"size": ["a"] * 34}, "size: expected 34 numbers"),
        ({"positions": torch.zeros(3, 2)}, r"positions: expected \[34, 2\]"),
        ({"positions": torch.tensor([[0.0, 1]] * 33 + [[0, float("nan")]])}, r"positions: row 33 is \[0.0, nan\]"),
    ],
)
def test_wrong_arguments(options, message, tmp_path):
    file = tmp_path / options.pop("path", "x.png")
    with pytest.raises(ArgumentError, match=message):
        tg.draw(GRAPH, file, **options)
