"""Keys of stored tensors, from PyTorch Geometric's names of groups, attributes and types of edges."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from tgraph.errors import ArgumentError

_NONE = "~"


def to_key(*names: Any) -> str:
    """The key of names: each text, None or a type of edges. Raises ArgumentError for others."""
    return "/".join(map(_part, names))


def from_key(key: str) -> list[Any]:
    """The names of a key."""
    return [_name(part) for part in key.split("/")]


def _part(name: Any) -> str:
    if name is None:
        return _NONE
    if isinstance(name, tuple) and len(name) == 3 and all(isinstance(part, str) for part in name):
        return ",".join(map(_text, name))
    if isinstance(name, str) and name:
        return _text(name)
    raise ArgumentError(f"expected a name, None or a type of edges (source, relation, destination), got {name!r}")


def _text(name: str) -> str:
    try:
        return quote(name, safe="").replace(".", "%2E").replace("~", "%7E")
    except UnicodeEncodeError:
        raise ArgumentError(f"expected a name in Unicode, got {name!r}, with half of a character") from None


def _name(part: str) -> Any:
    if part == _NONE:
        return None
    return tuple(map(unquote, part.split(","))) if "," in part else unquote(part)
