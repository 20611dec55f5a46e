"""Imports at first need: of the names of a package, and of modules that attach something to those below them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def at_first_access(
    namespace: dict[str, Any], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package (PEP 562) that imports some of its names at first access.

    namespace : globals() of the package, in which names are stored once found. homes : {name: home} as in
    `from home import name`, where the name may be that of a module in the home.
    """
    package = namespace["__name__"]

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home == package:
            found = importlib.import_module(f"{home}.{name}")
        else:
            found = getattr(__import__(home, fromlist=[name]), name)
        return namespace.setdefault(name, found)

    return find, lambda: sorted({*namespace, *namespace["__all__"]})


_attaching: dict[str, str] = {}


def attached_by(modules: Mapping[str, Sequence[str]]) -> None:
    """Name the modules that attach something to lower ones, which cannot name them.

    modules : {a module: what it attaches when it is imported}.
    """
    _attaching.update((what, module) for module, attached in modules.items() for what in attached)


def attach(what: str) -> None:
    """Import the module that attaches something to a lower one."""
    importlib.import_module(_attaching[what])


class Attached:
    """The place of a method that another module defines, which puts it here when it is imported: at first access."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._what = name, f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> Any:
        attach(self._what)
        return getattr(owner if instance is None else instance, self._name)
