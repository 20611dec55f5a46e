"""Derived data: computed at first use and cached with the object that it derives from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch.compiler import is_compiling

from tgraph.errors import ArgumentError

__all__ = [
    "AtFirstUse",
    "Cache",
    "computed_once",
    "derived",
    "derived_tensor",
    "detached_cache_scope",
    "is_computing",
    "is_kept",
]

T = TypeVar("T")

_lock = threading.RLock()  # threads that search the same graph at once compute its derived data once


def detached_cache_scope() -> AbstractContextManager[Any]:
    """A scope for making tensors that are cached: they are no inference tensors, and belong to no transform of
    torch.func. One thread at a time is in such a scope."""
    if torch.is_inference_mode_enabled() or torch._C._are_functorch_transforms_active():
        return _outside_of_transforms()
    return _lock


def is_computing() -> bool:
    """Whether this thread computes what others, which derive from the same or another object, may have to wait for."""
    return _lock._is_owned()  # type: ignore[attr-defined]


@contextmanager
def _outside_of_transforms() -> Iterator[None]:
    with _lock, torch.inference_mode(False), torch._C._DisableFuncTorch():
        yield


class Cache:
    """Derived data by key. `values` holds what is cached now."""

    def __init__(self) -> None:
        self.values: dict[Hashable, Any] = {}
        self.versions: dict[Hashable, int] = {}  # of tensors, when they were first given to somebody

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value cached under `key`, the result of `compute` at first use."""
        if key not in self.values:
            with detached_cache_scope():
                if key not in self.values:
                    self.values[key] = compute()
        return self.values[key]

    def given(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The tensor cached under this key, for somebody who may write into it: computed anew where that was done."""
        with _lock:
            kept = self.get(key, compute)
            if self.versions.setdefault(key, kept._version) != kept._version:
                self.drop(key)
                kept = self.get(key, compute)
                self.versions[key] = kept._version
        return kept

    def sizes(self) -> dict[Any, int]:
        """{key: bytes}, 0 for values without `nbytes`."""
        return {key: getattr(value, "nbytes", 0) for key, value in self.values.items()}

    def drop(self, *keys: Hashable) -> None:
        """Remove these `keys`, or all. Raises ArgumentError for one that is not cached."""
        for key in keys or tuple(self.values):
            if key not in self.values:
                cached = ", ".join(map(str, self.values)) or "nothing"
                raise ArgumentError(f"names: {key!r} is not cached; cached now: {cached}")
            del self.values[key]
            self.versions.pop(key, None)


def is_kept(owner: Any, value: Any) -> bool:
    """Whether the `_cache` of an object holds this very value."""
    return any(value is each for each in owner._cache.values.values())


if TYPE_CHECKING:  # to type checkers they are properties with the types of their functions
    from builtins import property as computed_once
    from builtins import property as derived
    from builtins import property as derived_tensor
else:

    def derived(function: Callable[[Any], T]) -> property:
        """A property of an object with a `_cache`, computed once for each object; its name is the key."""
        name = function.__name__

        def get(owner: Any) -> T:
            values = owner._cache.values
            return values[name] if name in values else owner._cache.get(name, lambda: function(owner))

        get.__doc__ = function.__doc__
        return property(get)

    def derived_tensor(function: Callable[[Any], T]) -> property:
        """The same for a tensor that users get: where one writes into it, as autograd counts, the next one is given
        another."""
        name = function.__name__

        def get(owner: Any) -> T:
            cache = owner._cache
            kept = cache.values.get(name)
            if is_compiling():
                return cache.get(name, lambda: function(owner)) if kept is None else kept
            if kept is None or kept._version != cache.versions.get(name):
                return cache.given(name, lambda: function(owner))
            return kept

        get.__doc__ = function.__doc__
        return property(get)

    def computed_once(function: Callable[[Any], T]) -> property:
        """A property computed at first use and kept as an attribute, where nothing lists or drops it.
        `functools.cached_property` takes a lock in Python 3.11, which torch.compile cannot trace."""
        name = f"_{function.__name__}_kept"

        def get(owner: Any) -> T:
            if name not in owner.__dict__:
                owner.__dict__[name] = function(owner)
            return owner.__dict__[name]

        get.__doc__ = function.__doc__
        return property(get)


class AtFirstUse:
    """A descriptor of an attribute that its holder computes at first use, by `_at_first_use(name)`; from then on an
    ordinary attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, holder: Any, owner: type) -> Any:
        if holder is None:
            return self
        value = holder.__dict__[self._name] = holder._at_first_use(self._name)
        return value
