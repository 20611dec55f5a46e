"""What is public is documented: every name, every parameter, every error; and the code of README and docs runs."""

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
import typer

import tgraph as tg
from tgraph.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


# Parameters whose names say all there is to say.
PLAIN = {"self", "cls", "graph", "path"}


def public_names() -> Iterator[tuple[str, object]]:
    """(dotted name, object) for what a user can import."""
    for module in (tg, tg.algorithms, tg.generators, tg.nn, tg.errors):
        own = [name for name, value in vars(module).items() if _defined_in(module, value)]
        for name in getattr(module, "__all__", own):
            if not name.startswith("_"):
                yield f"{module.__name__}.{name}", getattr(module, name)


def _defined_in(module: ModuleType, own: object) -> bool:
    return callable(own) and getattr(own, "__module__", None) == module.__name__


def members(name: str, cls: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that a class of ours defines itself, and does not take over from Program."""
    for member, value in vars(cls).items():
        if cls is not tg.Program and member in vars(tg.Program) and issubclass(cls, tg.Program):
            continue
        inner = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if not member.startswith("_") and isinstance(inner, (FunctionType, property, functools.cached_property)):
            yield f"{name}.{member}", inner


def documented() -> dict[str, object]:
    found = {}
    for name, value in public_names():
        found[name] = value
        if inspect.isclass(value):
            found |= dict(members(name, value))
    return found


PUBLIC = documented()
FUNCTIONS = {name: value for name, value in PUBLIC.items() if isinstance(value, FunctionType)}


def docstring(name: str) -> str:
    """The docstring, with that of its class; one that only says "See `x`" is that of x."""
    text = inspect.getdoc(PUBLIC[name]) or ""
    if referred := re.fullmatch(r"See `(.+)`\.", text):
        text = inspect.getdoc(_resolve(referred[1])) or ""
    owner = PUBLIC.get(name.rpartition(".")[0])
    return text if not inspect.isclass(owner) else f"{text}\n{inspect.getdoc(owner)}"


def _resolve(dotted: str) -> Callable:
    module, _, name = dotted.rpartition(".")
    return getattr(__import__(module, fromlist=[name]), name)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring(name):
    assert inspect.getdoc(PUBLIC[name]), f"{name} has no docstring"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_mention_the_parameters(name):
    text = docstring(name)
    if shared := re.search(r"The parameters are those of `(\w+)`", text):
        text += inspect.getdoc(getattr(tg.algorithms, shared[1])) or ""
    parameters = [parameter for parameter in inspect.signature(FUNCTIONS[name]).parameters if parameter not in PLAIN]
    missing = [parameter for parameter in parameters if not re.search(rf"\b{parameter}\b", text, re.IGNORECASE)]
    assert not missing, f"{name} does not mention {', '.join(missing)}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_mention_the_errors_raised(name):
    tree = ast.parse(textwrap.dedent(inspect.getsource(FUNCTIONS[name])))
    raised = {
        node.exc.func.attr if isinstance(node.exc.func, ast.Attribute) else node.exc.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    } - {"NotImplementedError"}
    missing = [error for error in raised if error not in docstring(name)]
    assert not missing, f"{name} raises {', '.join(missing)} and does not say so"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    """All Python blocks of a page in one session, in order, as a reader would type them, in an empty folder."""
    if "import torch_geometric" in page.read_text(encoding="utf-8"):
        pytest.importorskip("torch_geometric")
    monkeypatch.chdir(tmp_path)
    session: dict = {}
    for block in code_blocks(page):
        exec(compile(block, str(page), "exec"), session)


def code_blocks(page: Path) -> list[str]:
    """The Python blocks of a page, each below as many empty lines as stand above it, so that errors tell its place."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"(?ms)^```python\n(.*?)^```", text)
    return ["\n" * text.count("\n", 0, block.start(1)) + block[1] for block in found]


@pytest.mark.parametrize("page", ["README", "guide", "layouts", "layers", "streaming"])
def test_pages_have_code(page):
    assert any(code_blocks(path) for path in PAGES if path.stem == page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
        path = page.parent / target if target else page
        assert path.exists(), f"{target} does not exist"
        assert not anchor or anchor in anchors(path), f"{target}#{anchor}: no such heading"


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_command_is_documented():
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    for command in typer.main.get_command(app).commands:
        assert re.search(rf"(?m)^    tgraph {command}\b", page), f"tgraph {command} is not on the page"
