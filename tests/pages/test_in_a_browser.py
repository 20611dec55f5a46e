"""Pages in a real browser: nothing is asked for, nothing fails, and they are readable on any screen."""

import sys
from pathlib import Path

import pytest
import torch
from page_graphs import HOSTILE, hostile, multigraph
from streams import streamed

import tgraph as tg
from tgraph.algorithms import BFS, SSSP, PageRank
from tgraph.engine.tracing.records import Exchange, shares
from tgraph.markup.labels import readable

pytestmark = pytest.mark.browser

DATA = Path(__file__).parents[3] / "shared" / "data"


def spread():
    """The trace of a run on two ranks, as one of them has it."""
    trace = tg.run(PageRank(), tg.generators.rmat(6), trace=True).trace
    begins = [[0.01 * i for i in range(len(trace))]] * 2
    trace.exchanges = [
        Exchange(rank, 4000, 4000, (b + 0.001, b + 0.004), (b + 0.002, b + 0.004 + 0.002 * rank))
        for rank in (0, 1)
        for b in begins[rank]
    ]
    trace.shares = shares(begins, [0.01 * len(trace)] * 2, trace.exchanges)
    return trace


def real(name):
    """One of the real graphs beside the repository."""
    if not (DATA / "load.py").exists():
        pytest.skip("there are no real graphs at ../shared/data")
    sys.path.insert(0, str(DATA))
    import load

    held = load.load(name)
    return tg.Graph.from_edges(held["src"], held["dst"], held["weight"], directed=held["directed"], ids="compact")


PAGES = {
    "empty": lambda: tg.report(tg.Graph.from_edges([], [], num_vertices=0)),
    "hostile": lambda: tg.report(hostile(), title=HOSTILE[1]),
    "multigraph": lambda: tg.report(multigraph()),
    "dense": lambda: tg.report(tg.generators.rmat(11, directed=True), title="R-MAT"),
    "streamed": lambda: tg.report(streamed(tg.generators.rmat(9), slack=1 << 20)),
    "bfs": lambda: tg.run(BFS(0), tg.generators.rmat(12), trace=True).trace.page(),
    "deep": lambda: tg.run(SSSP(0), tg.generators.grid2d(40, 40), trace=True).trace.page(),
    "nothing": lambda: tg.run(BFS(0), tg.Graph.from_edges([1], [0]), trace=True).trace.page(),
    "blocks": lambda: tg.run(PageRank(), streamed(tg.generators.rmat(9)), trace=True).trace.page(),
    "ranks": lambda: spread().page(),
    "named": lambda: tg.run(type(HOSTILE[0] + HOSTILE[16], (BFS,), {})(0), hostile(), trace=True).trace.page(),
    "social": lambda: tg.report(real("ego-Facebook")),
}


@pytest.fixture(scope="module", params=PAGES)
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    PAGES[request.param]().save(path)
    return path


def test_a_page_asks_for_nothing_and_fails_nowhere(file, visit):
    seen = visit(file)
    assert (seen.requests, seen.errors) == ([], [])
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.evaluate("document.querySelectorAll('script').length") == 1


def test_each_hostile_label_is_text_in_a_report(visit, tmp_path):
    tg.report(hostile()).save(tmp_path / "x.html")
    seen = visit(tmp_path / "x.html")
    shown = seen.page.evaluate("[...document.querySelectorAll('bdi, svg title')].map((e) => e.textContent)")
    names = {text.partition("\u2069: degree")[0].removeprefix("\u2068") for text in shown}
    assert {readable(label) for label in HOSTILE} <= names


@pytest.mark.parametrize("title", range(len(HOSTILE)))
def test_a_drawing_shows_each_hostile_label_as_text(title, visit, tmp_path):
    graph = hostile()
    places = tg.draw(graph, tmp_path / "x.html", positions=tg.drawing.circular(graph), title=HOSTILE[title])
    seen = visit(tmp_path / "x.html")
    assert (seen.requests, seen.errors) == ([], []) and seen.page.evaluate("window.hacked") is None
    assert seen.page.evaluate("document.querySelectorAll('script').length") == 2
    caption = readable(HOSTILE[title]) if HOSTILE[title] else f"{len(HOSTILE)} vertices, {len(HOSTILE) + 1} edges"
    assert seen.page.locator("#bar b").text_content() == caption
    for vertex in range(len(HOSTILE)) if title == 0 else [title]:
        x, y = (places[vertex] * 0.45 * 900).tolist()
        seen.page.mouse.move(640 + x, 450 - y)
        assert seen.page.locator("#tip").text_content().startswith(f"{readable(HOSTILE[vertex])}: ")


def test_a_drawing_tells_and_finds_its_vertices(visit, tmp_path):
    names = [f"place {v:03}" for v in range(400)]
    more = torch.tensor([[0, 0, 0], [0, 1, 1]])  # a loop, and parallel edges
    ends = torch.cat((tg.generators.grid2d(20, 20).to_edge_index(), more), 1)
    graph = tg.Graph.from_edges(*ends, vertices=names)
    meaning = {"color": "height [m]", "size": "people"}
    tg.draw(graph, tmp_path / "x.html", color=torch.arange(400) / 8, size=torch.arange(400), legend=meaning)
    seen = visit(tmp_path / "x.html")
    page = seen.page
    assert page.locator("#legend").inner_text().split() == ["height", "[m]", "0", "49.9"]
    few = page.evaluate("written.length")
    assert 0 < few < 60
    page.mouse.move(640, 450)
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"written.length > {few}")
    page.locator("#find").fill("PLACE 39")
    page.locator("#find").press("Enter")
    page.wait_for_function("written.length > 0 && name(written[0]) === 'place 390'")
    assert page.locator("#found").inner_text() == "place 390"
    page.mouse.move(640, 451)
    assert page.locator("#tip").text_content().split("\n")[1:] == ["height [m]: 48.75", "people: 390"]
    page.locator("#find").fill("nowhere")
    page.locator("#find").press("Enter")
    assert page.locator("#found").inner_text() == "none"
    assert seen.errors == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_is_readable(file, visit, dark):
    assert visit(file, dark=dark).faint() == []


def test_a_page_fits_a_telephone(file, visit):
    seen = visit(file, width=375)
    assert seen.overflow == 0 and visit(file, width=320).overflow == 0
    small = "Math.min(...[...document.querySelectorAll('p, td, th, li, dd, dt, figcaption')].map(\
        (element) => parseFloat(getComputedStyle(element).fontSize)), 99)"
    assert seen.page.evaluate(small) >= 12


def test_without_scripts_everything_is_there(file, visit):
    seen, plain = visit(file), visit(file, scripts=False)
    text = "[...document.querySelectorAll('main td, main dd, main h2, main li')].map((element) => element.textContent)"
    assert plain.page.evaluate(text) == seen.page.evaluate(text)
    assert not plain.page.locator("th button").count()


def test_pictures_and_tables_say_what_they_are(file, visit):
    page = visit(file).page
    unnamed = "[...document.querySelectorAll('svg:not([aria-hidden]), img')].filter(\
        (element) => !(element.getAttribute('aria-label') || element.getAttribute('alt'))).length"
    assert page.evaluate(unnamed) == 0
    unnamed = "[...document.querySelectorAll('table')].filter((table) => !table.caption || !table.tHead).length"
    assert page.evaluate(unnamed) == 0
    assert page.evaluate("document.querySelectorAll('h1').length") == 1
    links = "[...document.querySelectorAll('nav a')].every((a) => document.querySelector(a.getAttribute('href')))"
    assert page.evaluate(links)


@pytest.fixture
def dense(tmp_path):
    tg.report(tg.generators.rmat(9, directed=True)).save(tmp_path / "dense.html")
    return tmp_path / "dense.html"


def test_tables_are_sorted_by_a_click(dense, visit):
    page = visit(dense).page
    table = page.locator("#layouts table")
    column = "(table) => [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[1].dataset.value))"
    button = table.locator("th button").nth(1)
    button.click()
    values = table.evaluate(column)
    assert values == sorted(values, reverse=True)
    assert table.locator("th").nth(1).get_attribute("aria-sort") == "descending"
    button.press("Enter")
    assert table.evaluate(column) == sorted(values)
    table.locator("th button").first.click()
    names = table.evaluate("(table) => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent)")
    assert names == sorted(names)


def test_the_scale_is_switched_without_scripts(dense, visit):
    page = visit(dense, scripts=False).page
    views = page.locator("#degrees .view")
    assert [view.is_visible() for view in views.all()] == [True, False]
    page.get_by_text("linear", exact=True).click()
    assert [view.is_visible() for view in views.all()] == [False, True]


def test_marks_say_what_they_are(dense, visit):
    page = visit(dense).page
    mark = page.locator("#distances svg rect").first
    mark.hover()
    assert "hops: " in page.locator("#tip").inner_text()
    page.mouse.move(1, 1)
    assert page.locator("#tip").is_hidden() and "hops: " in mark.locator("title").text_content()


def test_a_page_can_be_printed(dense, visit):
    page = visit(dense).page
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible() and page.locator("#degrees svg").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.pdf()[:5] == b"%PDF-"


def test_in_a_notebook_a_page_stays_in_its_frame(tmp_path, visit):
    graph = hostile()
    cells = [
        tg.report(graph)._repr_html_(),
        graph._repr_html_(),
        tg.run(BFS(0), graph, trace=True)._repr_html_(),
        tg.run(BFS(0), graph, trace=True).trace._repr_html_(),
        tg.advise(graph, layouts=("coo",), timer=lambda call: 1.0)._repr_html_(),
    ]
    file = tmp_path / "notebook.html"
    file.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><title>x</title><body>{''.join(cells)}</body>", encoding="utf-8"
    )
    seen = visit(file)
    frame = seen.page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "A graph"
    assert frame.locator("th button").count() > 0  # its script runs
    assert [address for address in seen.requests if not address.startswith("about:")] == []
    assert seen.errors == [] and seen.page.evaluate("window.hacked") is None
    assert seen.page.locator("table, pre").count() == 4
