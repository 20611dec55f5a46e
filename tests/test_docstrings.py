"""The public interface is documented: names, parameters and errors. The code in README and docs runs."""

import ast
import functools
import inspect
import logging
import re
import runpy
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import networkx
import pytest
import typer
from public_interface import PUBLIC

import tgraph as tg
from tgraph.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("gallery", "reference", "pictures")  # by `make docs`
WRITTEN = [path for path in sorted(DOCS.rglob("*.md")) if path.relative_to(DOCS).parts[0] not in MADE]
PAGES = [ROOT / "README.md", *WRITTEN]
by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix())

# Parameters that need no description.
PLAIN = {"self", "cls", "graph", "path"}

FUNCTIONS = {name: value for name, value in PUBLIC.items() if isinstance(value, FunctionType)}


REFERENCE = re.compile(
    r"See `(.+)`\.$|(?:[Pp]arameters|[Aa]rguments|[Oo]ptions) are\s+(?:those\s+of|explained\s+in)\s+`([\w.]+)`"
)


def docstring(name: str) -> str:
    """The text, with that of its class or module of primitives, and of the object that it refers to."""
    text = text_of(PUBLIC[name])
    if reference := REFERENCE.search(text):
        text += "\n" + text_of(_resolve(PUBLIC[name], reference[1] or reference[2]))
    owner = name.rpartition(".")[0]
    around = PUBLIC.get(owner) if not owner.startswith("tgraph.primitives.") else inspect.getmodule(PUBLIC[name])
    return f"{text}\n{text_of(around)}" if around else text


def text_of(value: object) -> str:
    """The docstring up to the example."""
    return (inspect.getdoc(value) or "").partition(">>>")[0].rstrip()


def _resolve(referring: Callable, dotted: str) -> object:
    """The object of that name where `referring` is defined, or in the package."""
    scope = {**vars(tg), "tgraph": tg, **vars(inspect.getmodule(referring))}
    first, *rest = dotted.split(".")
    return functools.reduce(getattr, rest, scope[first])


def test_every_public_name_has_a_docstring():
    assert not [name for name, value in PUBLIC.items() if not inspect.getdoc(value)]


def describes(text: str, parameter: str) -> bool:
    """Whether a docstring has the parameter in backticks, or in an entry such as "parameter : text"."""
    entry = rf"(?m)(?:^|[.;:,]\s+)\s*(?:\w+, )*{parameter}(?:, \w+)*\s?:\s"
    spans = re.findall(r"`([^`]+)`", text)
    return bool(re.search(entry, text)) or any(re.search(rf"\b{parameter}\b", span) for span in spans)


def gives_cause(text: str, error: str) -> bool:
    """Whether a docstring has the cause of an error: "ArgumentError for an unknown name"."""
    return bool(re.search(rf"\b{error}\b[^.]{{0,60}}?\b(for|where|if|when|unless|that|which|with|as)\b", text))


def test_a_mere_mention_is_no_description():
    assert describes("rows : their number.", "rows") and describes("rows, columns : numbers.", "columns")
    assert describes("Adds `rows` up.", "rows") and not describes("Adds rows up.", "rows")
    assert not describes("Adds `one` to rows of `another`.", "rows")
    assert gives_cause("Raises ArgumentError for no rows.", "ArgumentError")
    assert not gives_cause("See ArgumentError. For rows only.", "ArgumentError")


def undescribed(name: str) -> list[str]:
    text = docstring(name)
    parameters = [parameter for parameter in inspect.signature(FUNCTIONS[name]).parameters if parameter not in PLAIN]
    return [parameter for parameter in parameters if not describes(text, parameter)]


def test_docstrings_describe_the_parameters():
    missing = [f"{name} does not describe {parameter}" for name in FUNCTIONS for parameter in undescribed(name)]
    assert not missing


def unexplained(name: str) -> list[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(FUNCTIONS[name])))
    raised = {
        node.exc.func.attr if isinstance(node.exc.func, ast.Attribute) else node.exc.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    }
    return [error for error in raised & set(vars(tg.errors)) if not gives_cause(docstring(name), error)]


def test_docstrings_give_the_cause_of_errors():
    missing = [f"{name} raises {error} and does not say when" for name in FUNCTIONS for error in unexplained(name)]
    assert not missing


@pytest.fixture
def settings_of_networkx():
    """Which backends are asked, and what is logged, is afterwards as it was."""
    loggers = [logging.getLogger(name) for name in ("networkx", "tgraph.networkx")]
    levels = [logger.level for logger in loggers]
    configs = [networkx.config, networkx.config.backend_priority]
    values = [dict(config) for config in configs]
    yield
    for config, before in zip(configs, values, strict=True):
        for key, value in before.items():
            setattr(config, key, value)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@by_page
def test_code_of_a_page_runs(page, tmp_path, monkeypatch, settings_of_networkx, untuned):
    """All Python blocks of a page in one session, in order, as a reader would type them, in an empty folder, where
    they draw the pictures that the page shows."""
    if "import torch_geometric" in page.read_text(encoding="utf-8"):
        pytest.importorskip("torch_geometric")
    monkeypatch.chdir(tmp_path)
    session: dict = {}
    for block in code_blocks(page):
        exec(compile(block, str(page), "exec"), session)
    drawn = re.findall(r"(?:\]\(|src=\")(?:\.\./)*pictures/([\w.-]+)", page.read_text(encoding="utf-8"))
    assert not [name for name in drawn if not (tmp_path / name).exists()]


def code_blocks(page: Path) -> list[str]:
    """The Python blocks of a page, each below as many empty lines as are above it, so that line numbers of errors
    fit."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"(?ms)^```python\n(.*?)^```", text)
    return ["\n" * text.count("\n", 0, block.start(1)) + block[1] for block in found]


@pytest.mark.parametrize("page", ["README", "guide", "layouts", "layers", "streaming"])
def test_pages_have_code(page):
    assert any(code_blocks(path) for path in PAGES if path.stem == page)


@by_page
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
        path = page.parent / target if target else page
        if path.resolve().relative_to(ROOT).parts[1:2] == ("pictures",):
            continue
        assert path.exists(), f"{target} does not exist"
        assert not anchor or anchor in anchors(path), f"{target}#{anchor}: no such heading"


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_that_follow_from_the_code_are_up_to_date():
    pages = runpy.run_path(str(ROOT / "docs" / "pages.py"))["pages"]()
    old = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert not old, f"{', '.join(old)}: run make pages"


def test_every_command_is_documented():
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    for command in typer.main.get_command(app).commands:
        assert re.search(rf"(?m)^    tgraph {command}\b", page), f"tgraph {command} is not on the page"
