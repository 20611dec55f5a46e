"""What is public is documented: every name, every parameter, every error; and the README's code runs."""

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import tgraph as tg

README = Path(__file__).parents[1] / "README.md"


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


def test_readme_code_runs(tmp_path, monkeypatch):
    """All Python blocks in one session, as a reader would type them, in a folder with the file they read."""
    monkeypatch.chdir(tmp_path)
    tg.write(tg.generators.grid2d(16, 16, weighted=True), "web.wel")
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", README.read_text())
    assert blocks
    session: dict = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), session)
