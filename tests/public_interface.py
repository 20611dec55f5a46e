"""The public interface by name: what a user can import, and call of it. Tests look at its docstrings."""

import functools
import inspect
from collections.abc import Iterator
from importlib import import_module, util
from types import FunctionType, ModuleType

import tgraph as tg
from tgraph import formats, io, primitives, stores, stream

# Classes whose docstrings hold for the methods that override theirs.
BASES = (tg.Program, tg.Graph, formats.Layout, stores.BlockStore)

MODULES = (
    *(tg, tg.algorithms, tg.generators, tg.nn, tg.errors, tg.random, tg.dynamic, tg.sampling, tg.distributed),
    *(tg.drawing, tg.progress, stream, formats, io, stores),
)


def public_names() -> Iterator[tuple[str, object]]:
    """(dotted name, object) of what a user can import or, as the options of a layout or file format, pass on. What
    builds on PyTorch Geometric is there where that is installed."""
    steps = [getattr(primitives, name) for name in primitives.__all__]
    has_pyg = util.find_spec("torch_geometric") is not None
    for module in (*MODULES, *([import_module("tgraph.pyg")] if has_pyg else []), *steps):
        own = [name for name, value in vars(module).items() if callable(value) and _is_of(module, value)]
        for name in own if module in steps else getattr(module, "__all__", own):
            if not name.startswith("_") and (has_pyg or name not in getattr(module, "_HOMES", ())):
                yield f"{module.__name__}.{name}", getattr(module, name)
    for layout in formats.LAYOUTS.values():
        yield f"{layout.__module__}.{layout.__name__}", layout
    for module in (io.format_module("", name) for name in io.FORMATS):
        yield from ((f"{module.__name__}.{name}", getattr(module, name)) for name in ("read", "write"))


def _is_of(module: ModuleType, own: object) -> bool:
    return getattr(own, "__module__", None) == module.__name__


def members(name: str, cls: type, public: set[type]) -> Iterator[tuple[str, object]]:
    """The public methods and properties of a class, with those of bases that are not `public` themselves, without those
    whose docstrings a class of BASES has."""
    bases = cls.__mro__[1:]
    inherited = [base for base in bases if base.__module__.startswith("tgraph.") and base not in public]
    found = {member: value for owner in (*reversed(inherited), cls) for member, value in vars(owner).items()}
    for member, value in found.items():
        if any(hasattr(base, member) for base in BASES if base in bases):
            continue
        inner = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if not member.startswith("_") and isinstance(inner, (FunctionType, property, functools.cached_property)):
            yield f"{name}.{member}", inner


def documented() -> dict[str, object]:
    found = dict(public_names())
    classes = {name: value for name, value in found.items() if inspect.isclass(value)}
    for name, value in classes.items():
        found |= dict(members(name, value, set(classes.values())))
    return found


def defined_in(value: object) -> str:
    """The module in which a class, function or property of the public interface is written."""
    function = getattr(value, "fget", None) or getattr(value, "func", None) or value
    return inspect.unwrap(function).__module__


PUBLIC = documented()
