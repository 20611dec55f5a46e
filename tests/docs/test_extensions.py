"""How docstrings become reStructuredText, and links to the repository links of the site."""

import sys
from pathlib import Path

import pytest

EXTENSIONS = str(Path(__file__).parents[2] / "docs" / "_extensions")


@pytest.fixture(scope="module")
def docstrings():
    sys.path.insert(0, EXTENSIONS)
    import docstrings

    yield docstrings
    sys.path.remove(EXTENSIONS)


@pytest.fixture(scope="module")
def repository():
    sys.path.insert(0, EXTENSIONS)
    import repository

    yield repository
    sys.path.remove(EXTENSIONS)


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


def test_links_of_included_files(repository):
    source = ["[a](ARCHITECTURE.md) [b](LICENSE) [c](docs/guide.md) [d](#here)"]
    repository.redirect_included(None, Path("../CONTRIBUTING.md"), "contributing", source)
    assert source == ["[a](docs/architecture.md) b [c](docs/guide.md) [d](#here)"]
