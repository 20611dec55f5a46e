"""The site that `make docs` has built, in a browser: links, pictures, search, narrow windows and dark ones."""

import functools
import http.server
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.browser

SITE = Path(__file__).parents[2] / "build" / "docs"
# One of each kind: text and tables, a page with pictures, code and outputs, signatures, wide tables, an included page.
KINDS = [
    "index.html",
    "start/first.html",
    "model.html",
    "guide.html",
    "asked.html",
    "figures.html",
    "gallery/index.html",
    "gallery/read_and_plot.html",
    "reference/tgraph.html",
    "reference/algorithms-paths.html",
    "architecture.html",
    "_modules/tgraph/engine/run.html",
]


@pytest.fixture(scope="module")
def address():
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built: make docs")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *parts):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Page(HTMLParser):
    """What a page links to or shows, and the anchors that it has."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def test_links_lead_somewhere(address):
    pages = {path: Page(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) > 100
    broken = []
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not found.is_file() or (anchor and found in pages and anchor not in pages[found].anchors):
                broken.append(f"{path.relative_to(SITE)}: {target}")
    assert not broken


@pytest.mark.parametrize("kind", KINDS)
def test_pages_load_whole_and_alone(kind, address, visit):
    """Every picture is there, no script fails, and nothing is asked of another place."""
    seen = visit(f"{address}/{kind}")
    assert not [request for request in seen.requests if not request.startswith((address, "data:"))]
    assert not seen.errors
    missing = "[...document.images].filter(image => !image.complete || !image.naturalWidth).map(image => image.src)"
    assert not seen.page.evaluate(missing)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_fit_a_telephone(kind, address, visit):
    assert visit(f"{address}/{kind}", width=375).overflow == 0


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_can_be_read(kind, dark, address, visit):
    assert not visit(f"{address}/{kind}", dark=dark).faint()


def test_search_finds_pagerank(address, visit):
    page = visit(f"{address}/search.html?q=pagerank").page
    page.wait_for_selector("#search-results li a")
    found = page.eval_on_selector_all("#search-results li a", "links => links.map(link => link.getAttribute('href'))")
    assert any("reference/algorithms-centrality.html#tgraph.algorithms.pagerank" in target for target in found)
    page.click("#search-results li a")
    assert page.url.startswith(address) and "pagerank" in page.inner_text("article").lower()


def test_every_example_is_in_the_gallery(address, visit):
    examples = Path(__file__).parents[2] / "examples"
    page = visit(f"{address}/gallery/index.html").page
    count = len([*examples.glob("*.py"), *examples.glob("networkx/*.py")])
    assert page.locator(".sd-card").count() == count
    assert page.locator(".sd-card-img-top").count() == count - 2  # which have nothing to show: see test_examples.py


@pytest.mark.parametrize("width", [375, 1280])
def test_the_first_page_shows_a_drawing_a_trace_and_a_report(width, address, visit):
    page = visit(f"{address}/index.html", width=width).page
    shown = page.eval_on_selector_all("article img", "images => images.map(image => image.src.split('/').pop())")
    assert {"communities.png", "search.png"} <= set(shown)
    page.locator("iframe.page").scroll_into_view_if_needed()
    report = page.frame_locator("iframe.page")
    assert report.locator("h1").inner_text() == "A network"
    assert report.locator("html").evaluate("html => html.scrollWidth - html.clientWidth") == 0
