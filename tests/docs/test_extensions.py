"""How docstrings become reStructuredText, links to the repository links of the site, and code pictures."""

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXTENSIONS = str(DOCS / "_extensions")


def extension(name):
    """A fixture: one of the extensions."""

    @pytest.fixture(scope="module", name=name)
    def imported():
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(EXTENSIONS)
            yield importlib.import_module(name)

    return imported


docstrings, gallery, pictures, repository = map(extension, ("docstrings", "gallery", "pictures", "repository"))


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("of `x`, or `a.b`", "of :py:obj:`x`, or :py:obj:`a.b`"),
        ("`edge`(data[u])", r":py:obj:`edge`\ (data[u])"),
        ("`a b`s", r"``a b``\ s"),
        ("x_ * |y| of W_l", r"x\_ \* \|y\| of W_l"),
        ("(`f(x)`)", "(``f(x)``)"),
    ],
)
def test_inline(docstrings, text, marked):
    assert docstrings.inline(text) == marked


def test_entries_become_a_list_of_definitions(docstrings):
    lines = ["What it does.", "", "rows, columns : numbers of", "    both. deep : how far.", "", "Returns a tensor."]
    found = [line for line in docstrings.restructured(lines) if line]
    assert found == [
        "What it does.",
        "``rows``, ``columns``",
        "    numbers of both.",
        "``deep``",
        "    how far.",
        "Returns a tensor.",
    ]


def test_what_goes_on_below_an_entry_belongs_to_it(docstrings):
    lines = ["tol : stop there; None goes on to", "the end. wide : how far.", "", "Paths: short ones."]
    found = [line for line in docstrings.restructured(lines) if line]
    assert found == [
        "``tol``",
        "    stop there; None goes on to the end.",
        "``wide``",
        "    how far.",
        "Paths: short ones.",
    ]


def test_examples_and_code_stay_as_they_are(docstrings):
    lines = ["Text:", "", "    x = a * b", "", ">>> f(a_)", "2 * 3"]
    found = [line for line in docstrings.restructured(lines) if line]
    assert found == ["Text:", "::", "        x = a * b", ">>> f(a_)", "2 * 3"]


def test_links_to_the_repository(repository):
    source = ["[a](../examples/widest_path.py) [b](../../algorithms/) [c](../CHANGELOG.md#new) [d](guide.md)"]
    repository.redirect(None, "guide", source)
    expected = "[a](gallery/widest_path.md) [b](reference/index.md) [c](changelog.md#new) [d](guide.md)"
    assert source == [expected]


def test_every_page_is_in_a_table_of_contents_and_links_to_what_the_site_has(repository):
    pages = {path: path.read_text() for path in DOCS.rglob("*.md") if path.parent.name not in ("gallery", "reference")}
    listed = {
        (path.parent / line).with_suffix(".md").resolve()
        for path, text in pages.items()
        for table in re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL)
        for line in table.split()
        if not line.startswith(":")
    }
    assert pages.keys() - listed <= {DOCS / "index.md"}
    for path, text in pages.items():
        depth = len(path.relative_to(DOCS).parts) - 1
        for link in repository.LINK.finditer(text):
            inside = (path.parent / link[0][2:-1].partition("#")[0]).resolve()
            assert DOCS in inside.parents or repository.target(link[1], depth), (path.name, link[0])


def test_links_of_included_files(repository):
    source = ["[a](ARCHITECTURE.md) [b](LICENSE) [c](docs/guide.md) [d](#here)"]
    repository.redirect_included(None, Path("../CONTRIBUTING.md"), "contributing", source)
    assert source == ["[a](docs/architecture.md) b [c](docs/guide.md) [d](#here)"]


def test_pictures_and_pages_in_frames_are_drawn_by_the_code_of_the_page(pictures, tmp_path):
    code = "from pathlib import Path\nfor name in ('a.png', 'b.html', 'c.png'):\n    Path(name).write_text(name)\n"
    shown = '![a](pictures/a.png)\n<iframe src="pictures/b.html"></iframe>\n'
    (tmp_path / "page.md").write_text(f"{shown}```python\n{code}```\n")
    pictures.draw(tmp_path)
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"a.png", "b.html"}


def test_a_picture_that_is_not_drawn_is_an_error(pictures, tmp_path):
    (tmp_path / "page.md").write_text("![a](pictures/a.png)\n```python\npass\n```\n")
    with pytest.raises(FileNotFoundError):
        pictures.draw(tmp_path)


def test_cards_of_the_gallery_show_the_picture_of_the_example(gallery, tmp_path, monkeypatch):
    script = tmp_path / "many_bfs.py"
    script.write_text('"""Searches: many at once. And more."""\nprint()\n')
    outcome = gallery.Outcome("found", [tmp_path / "many_bfs-many_bfs.png"], 1.0)
    monkeypatch.setattr(gallery, "ROOT", tmp_path)
    (tmp_path / "many_bfs.md").write_text(gallery.page(script, outcome))
    assert ":img-top: many_bfs-many_bfs.png" in gallery.card(script, tmp_path)


def test_examples_are_run_on_real_graphs_where_there_are_some(gallery, tmp_path, monkeypatch):
    script = tmp_path / "many_bfs.py"
    script.write_text('"""Searches."""\n')
    monkeypatch.setattr(gallery, "ROOT", tmp_path)
    monkeypatch.setattr(gallery, "DATA", tmp_path / "data")
    assert gallery.given(script) == []
    file = tmp_path / "data" / gallery.REAL["many_bfs"]
    file.parent.mkdir(parents=True)
    file.write_text("")
    assert gallery.given(script) == [file]
    shown = gallery.page(script, gallery.Outcome("found", [], 1.0))
    assert f"$ python many_bfs.py {file.name}\nfound" in shown
