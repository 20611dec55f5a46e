"""Deprecated names warn at the line that calls them and work as before."""

import inspect
import warnings
from pathlib import Path

import pytest

from tgraph.core.system.deprecation import deprecated

mark = deprecated(since="0.2", removed_in="0.4", instead="new(x)")


@mark
def function(x, *, scale=2):
    """Twice x."""
    return x * scale


class Methods:
    @mark
    def method(self, x):
        return x + 1

    @staticmethod
    @mark
    def static(x):
        return x + 2


@mark
class Old:
    """Something."""

    def __init__(self, x):
        self.x = x


class Derived(Old):
    pass


@pytest.mark.parametrize(
    ("call", "value", "name"),
    [
        (lambda: function(3, scale=4), 12, "function"),
        (lambda: Methods().method(3), 4, "Methods.method"),
        (lambda: Methods.static(3), 5, "Methods.static"),
        (lambda: Old(3).x, 3, "Old"),
    ],
)
def test_a_call_warns_where_it_stands(call, value, name):
    with pytest.warns(DeprecationWarning) as warned:
        assert call() == value
    (one,) = warned
    assert str(one.message) == f"{name} is deprecated since tgraph 0.2; use new(x); 0.4 will not have it"
    assert Path(one.filename) == Path(__file__) and one.lineno == call.__code__.co_firstlineno


def test_a_class_that_derives_from_it_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Derived(3).x == 3 and issubclass(Derived, Old)


def test_what_is_known_of_it_stays():
    assert function.__deprecated__ == Old.__deprecated__.replace("Old", "function")
    assert list(inspect.signature(function).parameters) == ["x", "scale"]
    assert list(inspect.signature(Old).parameters) == ["x"]
    assert function.__doc__ == "Twice x.\n\nDeprecated since 0.2: use new(x)." and "Something." in Old.__doc__
    assert Methods.method.__doc__ == "Deprecated since 0.2: use new(x)."
