"""Writes the pages of the reference, each from what a module makes public."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tgraph as tg
from tgraph import formats, io

# What each page has: its heading, and the modules whose `__all__` it lists.
TOPICS = [
    topic
    for topic in vars(tg.algorithms).values()
    if isinstance(topic, types.ModuleType) and topic.__name__.startswith("tgraph.algorithms.")
]
STEPS = [getattr(tg.primitives, name) for name in tg.primitives.__all__]
MODULES = {
    "generators": "Generators",
    "nn": "Layers",
    "sampling": "Samplers",
    "pyg": "Loaders of PyTorch Geometric",
    "stores": "Stores",
    "stream": "Larger than memory",
    "dynamic": "Graphs that change",
    "distributed": "Several machines",
    "formats": "Layouts",
    "drawing": "Pictures",
    "progress": "Progress bars",
    "networkx": "networkx",
    "errors": "Errors",
}


def write(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    pages = {"tgraph": page("Graphs and programs", [tg], tg.__doc__)}
    for topic in sorted(TOPICS, key=lambda topic: topic.__name__):
        short = topic.__name__.rpartition(".")[2]
        pages[f"algorithms-{short}"] = page(f"Algorithms: {short}", [topic], topic.__doc__, "tgraph.algorithms")
    for name, heading in MODULES.items():
        module = importlib.import_module(f"tgraph.{name}")
        extra = list(formats.LAYOUTS.values()) if module is formats else []
        pages[name] = page(heading, [module], module.__doc__, extra=extra)
    pages["files"] = files()
    pages["primitives"] = page("Steps of algorithms", STEPS, tg.primitives.__doc__)
    for name, text in pages.items():
        update(folder / f"{name}.rst", text)
    update(folder / "index.md", index(list(pages)))


def update(path: Path, text: str) -> None:
    """A page that has not changed is not written, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def page(
    heading: str, modules: list[types.ModuleType], text: str | None, prefix: str | None = None, extra: Any = ()
) -> str:
    """A page of all public functions and classes of some modules, under the names that users import them by."""
    lines = [heading, "=" * len(heading), "", *introduction(text), ""]
    for module in modules:
        if len(modules) > 1:
            title = module.__name__.removeprefix("tgraph.primitives.")
            lines += [title, "-" * len(title), "", *introduction(module.__doc__), ""]
        for name, value in public(module):
            lines += directive(f"{prefix or module.__name__}.{name}", value)
    for value in extra:
        lines += directive(f"{value.__module__}.{value.__name__}", value)
    return "\n".join(lines) + "\n"


def introduction(text: str | None) -> list[str]:
    from docstrings import restructured

    return restructured(inspect.cleandoc(text or "").splitlines())


def public(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    for name in getattr(module, "__all__", own):
        value = getattr(module, name)
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)):
            yield name, value


def directive(name: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        quiet = ["   :no-index:"] if name == "tgraph.networkx.Graph" else []  # "Graph" in signatures is another
        hidden = ", ".join(member for member in vars(value) if any(member in vars(base) for base in value.__mro__[1:]))
        return [f".. {kind}:: {name}", "   :members:", f"   :exclude-members: {hidden}", *quiet, ""]
    return [f".. autofunction:: {name}", ""]


def files() -> str:
    """Reading and writing, and the options of each format."""
    lines = ["Files", "=====", "", *introduction(io.__doc__), ""]
    for module in dict.fromkeys(io.format_module("", name) for name in io.FORMATS):
        title = module.__name__.removeprefix("tgraph.io.")
        lines += [title, "-" * len(title), "", *introduction(module.__doc__), ""]
        for name in ("read", "write"):
            lines += directive(f"{module.__name__}.{name}", getattr(module, name))
    return "\n".join(lines) + "\n"


def index(names: list[str]) -> str:
    return "\n".join(
        [
            "# Reference",
            "",
            "Every public name. Vertices are indices 0..n-1, m is the number of arcs; shapes are in brackets.",
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            *names,
            "```",
            "",
        ]
    )


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "reference"))
    return {"parallel_read_safe": True}
