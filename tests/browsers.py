"""A real browser for tests of pages: the fixtures `browser` and `visit`, and what such tests ask of a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium of Playwright: the one that TGRAPH_BROWSER or the path names, or Playwright's own. Module by
    module, since Playwright keeps an event loop running in which no other can be started."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        found = os.environ.get("TGRAPH_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)
        program = found or driver.chromium.executable_path
        if not Path(program).exists():
            pytest.skip("no browser: install chromium, or name one by TGRAPH_BROWSER")
        chromium = driver.chromium.launch(executable_path=program)
        yield chromium
        chromium.close()


@dataclass
class Visited:
    """A page that is open, the addresses that it asked for besides its own, and what went wrong in it: exceptions,
    and errors in the console, among them what a Content-Security-Policy refused."""

    page: Any
    requests: list[str]
    errors: list[str]

    @property
    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def faint(self) -> list[str]:
        """The texts whose contrast with what is behind them is below 4.5, or 3 where they are large (WCAG 2.2, AA)."""
        return self.page.evaluate(FAINT)


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Visited]]:
    """Opens a file or an address in a window of its own: visit(path, width=375, dark=True, scripts=False)."""
    contexts = []

    def visit(
        place: str | os.PathLike[str], *, width: int = 1280, height: int = 900, dark: bool = False, scripts: bool = True
    ) -> Visited:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
        )
        contexts.append(context)
        address = place if isinstance(place, str) and "://" in place else Path(place).resolve().as_uri()
        seen = Visited(context.new_page(), [], [])
        seen.page.on("request", lambda request: request.url == address or seen.requests.append(request.url))
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("console", lambda line: line.type != "error" or seen.errors.append(line.text))
        seen.page.goto(address)
        return seen

    yield visit
    for context in contexts:
        context.close()


FAINT = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgba = (color) => {  // whatever notation it is in
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return Array.from(canvas.getImageData(0, 0, 1, 1).data, (part) => part / 255);
    };
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
    const background = (element) => {
        const layers = [];
        for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
        const dark = matchMedia("(prefers-color-scheme: dark)").matches
            && getComputedStyle(document.documentElement).colorScheme.includes("dark");
        return layers.reverse().reduce((below, layer) => over(layer, below), dark ? [0.07, 0.07, 0.07] : [1, 1, 1]);
    };
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const light = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => sum + w * linear(color[i]), 0);
    const faint = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
        if (!text || element.closest("script, style, title, desc") || !element.checkVisibility()) continue;
        const style = getComputedStyle(element), below = background(element);
        const ink = over(rgba(element.namespaceURI.endsWith("svg") ? style.fill : style.color), below);
        const [low, high] = [light(ink), light(below)].sort((a, b) => a - b);
        const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < (large ? 3 : 4.5)) faint.add(`${text.slice(0, 60)}: ${ratio.toFixed(2)}`);
    }
    return [...faint];
}"""
