"""Where things are on a picture, in points of 1/72 inch: nothing leaves the page or covers a label."""

import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from strategies import refused

import tgraph as tg
from tgraph.drawing import arranged, links, picture
from tgraph.drawing.draw import scene

MULTIGRAPH = ([0, 0, 0, 0, 1, 2, 3, 3, 4, 1], [0, 0, 1, 1, 2, 0, 4, 3, 3, 0])  # loops, parallel and opposite edges
LONG = "Marriages of families in the fifteenth century, as collected from the historical record " * 2


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def called(graph, length):
    """The graph, its vertices with names of a length."""
    src, dst = graph.to_edge_index()
    names = [f"{v} {'name ' * length}".strip() for v in range(graph.num_vertices)]
    return tg.Graph.from_edges(src, dst, vertices=names, directed=graph.directed)


def laid(graph, inches=10.0, **options):
    drawn, _ = scene(graph, **options)
    return drawn, picture.sheet(drawn, inches)


@pytest.mark.parametrize("inches", [3, 10])
@pytest.mark.parametrize("length", [0, 1, 12])
@pytest.mark.parametrize("model", [lambda: tg.generators.famous("karate_club"), lambda: tg.generators.star(30)])
def test_texts_are_on_the_page_and_apart(model, length, inches):
    """By what matplotlib measures of the texts that it drew: labels, the title and the legend."""
    graph = called(model(), length)
    values = torch.arange(graph.num_vertices) * 1e3
    drawn, sheet = laid(graph, inches, color=list(map(str, values.tolist())), size=values, title=LONG)
    page = picture.figure(drawn, sheet)
    page.set_dpi(720)
    renderer = FigureCanvasAgg(page).get_renderer()
    texts = [text for text in page.axes[0].texts if not text.get_path_effects()]
    boxes = [text.get_window_extent(renderer).extents / 10 for text in texts]
    assert len(boxes) > len(sheet.title) + 5
    for box in boxes:
        assert (box[:2] > -1).all() and (box[2:] < np.array((sheet.width, sheet.height)) + 1).all()
    for one, other in itertools.combinations(boxes, 2):
        assert (np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])).min() < 0.5
    assert "".join(sheet.title).replace(" ", "") == LONG.replace(" ", "") or sheet.title[-1].endswith("…")


def test_labels_of_large_vertices_have_room_first():
    graph = called(tg.generators.complete(40), 4)
    size = torch.arange(40).roll(7)
    _, sheet = laid(graph, 3, size=size, labels=True)
    shown = np.isfinite(sheet.boxes).all(1)
    assert 0 < shown.sum() < 40 and shown[int(size.argmax())]
    assert all(text.endswith("…") for text in sheet.texts)


@pytest.mark.parametrize("directed", [False, True])
def test_edges_end_at_rims_and_arrows_point_at_targets(directed):
    for graph in (tg.Graph.from_edges(*MULTIGRAPH, directed=directed), tg.generators.rmat(5, directed=directed)):
        drawn, sheet = laid(graph, size=graph.out_degree)
        assert len(sheet.links.lines) == graph.num_edges
        far = [np.hypot(*(line[0] - sheet.at[u])) for line, u in zip(sheet.links.lines, drawn.src, strict=True)]
        np.testing.assert_allclose(far, sheet.radius[drawn.src])
        ends, to = np.array([line[-1] for line in sheet.links.lines]), drawn.dst
        if directed:
            tip, *base = sheet.links.heads.transpose(1, 0, 2)
            np.testing.assert_allclose(sum(base) / 2, ends)
            assert (np.hypot(*(ends - sheet.at[to]).T) > sheet.radius[to]).all()
            ends = tip
        np.testing.assert_allclose(np.hypot(*(ends - sheet.at[to]).T), sheet.radius[to])


def test_parallel_edges_and_loops_are_seen_apart():
    graph = tg.Graph.from_edges(*MULTIGRAPH)
    drawn, sheet = laid(graph)
    middle = np.array([line[len(line) // 2] for line in sheet.links.lines])
    apart = np.hypot(*(middle[:, None] - middle).transpose(2, 0, 1)) + 99 * np.eye(len(middle))
    assert apart.min() > 3
    for edge in np.flatnonzero(drawn.src == drawn.dst):
        line = sheet.links.lines[edge]
        assert np.ptp(line, axis=0).min() > 5
        assert ((line > sheet.low) & (line < sheet.high)).all()


def test_many_edges_share_a_line_with_those_back(monkeypatch):
    monkeypatch.setattr(links, "SINGLE", 3)
    _, sheet = laid(tg.Graph.from_edges([0, 1, 1, 2, 2], [1, 0, 2, 1, 1]))
    assert [len(line) > 2 for line in sheet.links.lines] == [False, False, True, False, True]


def test_edges_between_vertices_that_touch_are_no_error():
    _, sheet = laid(tg.Graph.from_edges([0, 0, 1, 2], [1, 1, 0, 2]), positions=torch.zeros(3, 2))
    assert all(np.isfinite(line).all() for line in sheet.links.lines) and np.isfinite(sheet.links.heads).all()


@pytest.mark.parametrize("seed", range(3))
def test_components_lie_beside_each_other(seed):
    graph = tg.generators.erdos_renyi(120, 0.009, seed=seed)
    place = arranged.arranged(graph, iterations=20, seed=seed).numpy()
    boxes = []
    for component in nx.connected_components(nx.Graph(graph.to_edge_index().T.tolist())):
        part = place[list(component)]
        boxes.append((part.min(0), part.max(0)))
    boxes += [(place[v], place[v]) for v in (graph.out_degree == 0).nonzero()[:, 0].tolist()]
    assert len(boxes) > 10
    for (low, high), (lower, higher) in itertools.combinations(boxes, 2):
        assert (np.maximum(low, lower) - np.minimum(high, higher)).max() > 0.1


def test_large_components_are_placed_by_forces(monkeypatch):
    graph = tg.generators.grid2d(8, 8)
    monkeypatch.setattr(arranged, "STRESS", 63)
    src, dst = graph.to_edge_index()
    for each in (graph, tg.Graph.from_edges(src, dst)):
        place = arranged.arranged(each, iterations=50)
        assert float((place[src] - place[dst]).norm(dim=1).median()) == pytest.approx(1)


def test_stress_keeps_distances():
    """Of a path and a cycle, whose distances fit a line and nearly a circle."""
    place = arranged.arranged(tg.generators.path(30), iterations=0)
    assert float((place[0] - place[29]).norm()) == pytest.approx(29, rel=0.01)
    length = place.diff(dim=0).norm(dim=1)
    assert float(length.min()) > 0.9 and float(length.max()) < 1.1


def test_a_map_has_its_aspect():
    square = tg.generators.cycle(4)
    longitude, latitude = torch.tensor([10.0, 12, 12, 10]), torch.tensor([59.0, 59, 61, 61])
    at = tg.draw(square, "map.svg", positions={"lon": longitude, "lat": latitude})
    assert float((at[1] - at[0])[0]) == pytest.approx(2 * np.cos(np.radians(60)))
    assert tg.draw(square, "map.svg", positions={"y": latitude, "x": longitude})[2].tolist() == [12, 61]
    wrong = {"longitude": longitude, "latitude": torch.tensor([0.0, 1, 2, 100])}
    refused("latitude 100.0 at position 3", tg.draw, square, "map.svg", positions=wrong)
    refused("x and y, or longitude and latitude", tg.draw, square, "map.svg", positions={"x": longitude})


def legend_of(**options):
    drawn, sheet = laid(tg.generators.path(10), **options)
    page = picture.figure(drawn, sheet)
    texts = [text.get_text() for text in page.axes[0].texts if not text.get_path_effects()]
    return texts[int(np.isfinite(sheet.boxes).all(1).sum()) :]


def test_the_legend_says_what_colours_and_sizes_mean():
    names = {"color": "distance [km]", "size": "inhabitants"}
    distance = torch.tensor([float("inf"), *range(1, 10)])
    found = legend_of(color=distance, size=torch.arange(10) * 1000, legend=names)
    assert found == ["distance [km]", "1", "9", "not finite", "inhabitants", "5k"]
    assert legend_of(color=["a", "b"] * 5) == ["color", "a", "b"]
    assert legend_of(color=torch.arange(10))[-1] == "3 others"
    assert legend_of(color=torch.arange(10), legend=False) == []
    refused("'colour' is neither", tg.draw, tg.generators.path(2), "x.svg", legend={"colour": "x"})


@pytest.mark.filterwarnings("error")
def test_characters_that_no_font_has_are_escaped():
    """A private character is in no font, mathematical letters only in those beside the usual one."""
    names = ["\U0001d49c \u65e5", "\U000f1234"]
    drawn, sheet = laid(tg.Graph.from_edges([0], [1], vertices=names))
    page = picture.figure(drawn, sheet)
    FigureCanvasAgg(page).draw()
    shown = page.axes[0].texts[0]
    assert "\U0001d49c" in shown.get_text() and len(shown.get_fontfamily()) > 1


def test_columns_by_name():
    at = {"lon": torch.tensor([10.0, 12, 12, 10]), "lat": torch.tensor([59.0, 59, 61, 61])}
    data = {"kind": ["road", "rail", "road", "road"], "height": torch.tensor([1, 2, 3, 4]), "both": torch.ones(4, 2)}
    graph = tg.generators.cycle(4).with_columns(vertices=at | data)
    drawn, _ = scene(graph, color="kind", size="height", positions=("lon", "lat"))
    same, _ = scene(graph, color=data["kind"], size=data["height"], positions=at)
    assert np.array_equal(drawn.paint.rgb, same.paint.rgb) and np.array_equal(drawn.area, same.area)
    assert np.array_equal(drawn.points, same.points)
    assert drawn.meanings == ("kind", "height") and {"lon", "lat"} == drawn.columns.keys() - {"color", "size"}
    assert scene(graph, positions=("height", "lon"))[0].points[:, 0].tolist() == [1, 2, 3, 4]
    refused("color: no column of vertices is called 'age'; there are 'lon'", tg.draw, graph, "a.svg", color="age")
    refused("size: expected 4 numbers", tg.draw, graph, "a.svg", size="kind")
