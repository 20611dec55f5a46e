"""Names of a package whose modules are imported when a name is first accessed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def at_first_access(
    namespace: dict[str, Any], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package (PEP 562) that imports some of its names at first access.

    namespace : globals() of the package, in which names are stored once found. homes : {name: its module}.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        found = namespace[name] = getattr(importlib.import_module(homes[name]), name)
        return found

    return find, lambda: sorted({*namespace, *namespace["__all__"]})
