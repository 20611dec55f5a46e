"""Public names that are going to be removed: they warn, and say what to use instead."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

C = TypeVar("C", bound=Callable[..., Any])


def deprecated(*, since: str, removed_in: str, instead: str) -> Callable[[C], C]:
    """A decorator for a function, method or class that warns each caller, with a DeprecationWarning at the line of the
    call, and says so in its docstring. What type checkers and tests look for, `__deprecated__`, is the message.

    since, removed_in : versions. instead : what to use, as users write it, such as "tgraph.run(program, graph)".
    """

    def decorate(old: C) -> C:
        message = f"{old.__qualname__} is deprecated since tgraph {since}; use {instead}; {removed_in} will not have it"
        called: Any = old.__init__ if inspect.isclass(old) else old

        @functools.wraps(called)
        def warning(*arguments: Any, **named: Any) -> Any:
            if not inspect.isclass(old) or type(arguments[0]) is old:  # a subclass has a name of its own
                warnings.warn(message, DeprecationWarning, stacklevel=2)
            return called(*arguments, **named)

        marked: Any = old if inspect.isclass(old) else warning
        if inspect.isclass(old):
            marked.__init__ = warning
        marked.__deprecated__ = message
        marked.__doc__ = f"{inspect.getdoc(old) or ''}\n\nDeprecated since {since}: use {instead}.".lstrip()
        return marked

    return decorate
