"""Which backend computes an operator.

An operator is declared once, by its portable implementation in torch:

    @operator
    def peel(graph: Graph) -> Tensor: ...

It is called like a function, or with a backend chosen by name: `peel.with_backend("native")(graph)`. Other backends
offer implementations of it: a function, and `refuses`, which takes the same arguments and returns None where the
function supports them, or a sentence why it does not. A call goes to the first backend of `BACKENDS`, best first, that
offers the operator and does not refuse. Rows and graphs among the arguments are checked before (`guard_of`).

The operators that layouts, gradients and measured choices concern, such as aggregate, are declared by `chosen_operator`
and asked for with a `tgraph.kernels.call.Call` by `tgraph.kernels.choose`.

`watched` records the choices of both. This module stands below the backends, which register their implementations when
`tgraph.kernels` is imported, at the latest by the first call.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import torch

from tgraph import deferred
from tgraph.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class Implementation(NamedTuple):
    """An implementation of an operator: run(*arguments), and refuses(*arguments), None or why it does not support
    these."""

    run: Callable[..., Any]
    refuses: Callable[..., str | None]


@dataclass(eq=False)
class Backend:
    """A backend and the operators that it offers, by name.

    unavailable : why it can serve no call in this process at present, None where it can.
    yields : for a call on a graph, why "auto" passes the backend over although it supports the call, None where not.
    is_ordered : False for a call whose sums change from run to run.
    """

    name: str
    operators: dict[str, Implementation] = field(default_factory=dict)
    unavailable: Callable[[], str | None] = lambda: None
    yields: Callable[[Any], str | None] | None = None
    is_ordered: Callable[[Any], bool] = lambda call: True

    def offer(self, operator: str, run: Callable[..., Any], refuses: Callable[..., str | None]) -> None:
        """Offer an operator by its name."""
        self.operators[operator] = Implementation(run, refuses)

    @overload
    def implements(self, operator: type, refuses: Callable[..., str | None]) -> Callable[[F], F]: ...

    @overload
    def implements(
        self, operator: Callable[P, R], refuses: Callable[..., str | None]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def implements(self, operator: Any, refuses: Callable[..., str | None]) -> Callable[[Any], Any]:
        """A decorator that offers a function as the implementation of an `operator`, or a class as that of a class."""

        def attach(run: Any) -> Any:
            if isinstance(operator, Operator):  # it checks its arguments itself
                self.offer(operator.name, run, refuses)
            else:
                name = name_of(operator)
                self.offer(name, guarded(name, run) if operator in _CHOSEN else run, refuses)
            return run

        return attach


LAYOUT = "layout"  # the name of the backend of graphs in a layout

BACKENDS = {name: Backend(name) for name in (LAYOUT, "native", "cuda", "scatter", "sparse", "portable")}
PORTABLE = BACKENDS["portable"]

_are_registered = False


def _register_backends() -> None:
    global _are_registered
    deferred.attach("BACKENDS")
    _are_registered = True


def is_available(backend: str) -> bool:
    """Whether a backend can serve calls in this process at present."""
    if not _are_registered:
        _register_backends()
    return BACKENDS[backend].unavailable() is None


def check_backend(name: str) -> None:
    """Raise ArgumentError for the name of no backend."""
    if name != "auto" and name not in BACKENDS:
        raise ArgumentError(f"backend: {name!r} is not one of 'auto', {', '.join(map(repr, BACKENDS))}")


def refusal(backend: str, operator: str, *arguments: Any, **named: Any) -> str | None:
    """Why a backend does not support an operator for these arguments, None where it does."""
    if not _are_registered:
        _register_backends()
    offered = BACKENDS[backend].operators.get(operator)
    return f"it has no {operator}" if offered is None else offered.refuses(*arguments, **named)


@dataclass(slots=True, eq=False)
class Choice:
    """The backend that serves a call of an operator, None where none does, and why those before it do not:
    {name: reason}.

    call : the `Call` that the backend is given, None for an operator on tensors. tuned : True where `tgraph.tune` chose
    the backend.
    """

    operator: str
    backend: Backend | None
    call: Any = None
    refused: dict[str, str] = field(default_factory=dict)
    tuned: bool = False

    @property
    def run(self) -> Any:
        """The function of the backend."""
        assert self.backend is not None
        return self.backend.operators[self.operator].run

    def is_by(self, name: str) -> bool:
        """True where the backend of that name serves the call."""
        return self.backend is not None and self.backend.name == name

    def __str__(self) -> str:
        name = "no backend" if self.backend is None else self.backend.name
        because = "; ".join(f"{other} does not: {reason}" for other, reason in self.refused.items())
        because = "tgraph.tune chose it" if self.tuned else because
        return f"{self.operator}: {name} serves it" + (f" ({because})" if because else "")


def ensure_rows(offset: torch.Tensor, neighbors: torch.Tensor, num_columns: int) -> object:
    """Raise ArgumentError for rows that cannot be followed; `tgraph.core.building.soundness` puts its own here."""
    raise NotImplementedError


# Of these the first two arguments are no rows of vertices: they are checked by their callers, are rows of a block whose
# reader has checked them, or go to data of another size; `is_sound` is the check itself, and `sort_rows` checks them.
_UNGUARDED = {"is_sound", "symmetry_hash", "mean_weights", "reduce_rows", "send_rows", "pull_bits", "push_bits"}
_UNGUARDED |= {"arc_lookup", "arcs_from", "least_arcs", "locate_changes", "push_residuals", "select_arcs", "tiles_of"}
_UNGUARDED |= {"sort_rows"}


def guard_of(name: str, function: Callable[..., Any]) -> Callable[..., None] | None:
    """The check of the rows among the arguments of an operator before a backend is given them, None where it has none.
    What a caller forgot to check cannot be followed out of bounds.

    Graphs, and what else has `ensure_valid`, are told by the types of the parameters of the `function`, rows by the
    names offset and neighbors; these are below `num_columns` or `size` where there is such a parameter, else square.
    """
    parameters = list(inspect.signature(function).parameters.values())
    names, held = [each.name for each in parameters], [str(each.annotation) in _CHECKED for each in parameters]
    structures = tuple(place for place, is_held in enumerate(held) if is_held)
    if structures == (0,):
        return check_first
    if structures:
        return _named(function, lambda *given: [given[place].ensure_valid() for place in structures])
    if name in _UNGUARDED or names[:2] != ["offset", "neighbors"]:
        return None
    limit = next((place for place, each in enumerate(names) if each in ("num_columns", "size")), None)
    if limit is not None:
        return _named(function, lambda *given: ensure_rows(given[0], given[1], given[limit]))
    if "in_offset" in names:
        back = names.index("in_offset")

        def both(*given: Any) -> None:
            _square(*given[:2])
            _square(*given[back : back + 2])

        return _named(function, both)
    return _square


_CHECKED = {"Graph", "Subgraph", "Quotient"}


def check_first(structure: Any, *others: Any, **named: Any) -> None:
    """The check of an operator whose first argument alone has arcs."""
    structure.ensure_valid()


def _square(offset: torch.Tensor, neighbors: torch.Tensor, *others: Any, **named: Any) -> None:
    ensure_rows(offset, neighbors, offset.shape[0] - 1)


def _named(function: Callable[..., Any], check: Callable[..., object]) -> Callable[..., None]:
    """The check of all arguments by position."""
    signature = inspect.signature(function)

    def guard(*given: Any, **named: Any) -> None:
        if named:
            given = signature.bind(*given, **named).args
        check(*given)

    return guard


class Operator(Generic[P, R]):
    """A function computed by the first backend that supports the arguments, and under torch.compile by the portable
    one. Rows that it is given have been checked by `guard_of`."""

    guard: Callable[..., None] | None
    is_noted: bool
    name: str

    __slots__ = ("guard", "is_noted", "name")

    def __init__(self, name: str, portable: Callable[P, R], is_noted: bool = True):
        """portable : the implementation in torch, which supports all arguments. is_noted : whether `watched` records
        its choices."""
        self.name, self.is_noted, self.guard = name, is_noted, guard_of(name, portable)
        PORTABLE.offer(name, portable, supports_all)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        if (self.is_noted and is_watched()) or torch.compiler.is_compiling():
            return self.serving(*arguments, **named)(*arguments, **named)
        if not _are_registered:
            _register_backends()
        if self.guard is not None:
            self.guard(*arguments, **named)
        for backend in BACKENDS.values():  # as `serving`, in less time: mini-batches call several operators each
            offered = backend.operators.get(self.name)
            if offered is not None and offered.refuses(*arguments, **named) is None:
                return offered.run(*arguments, **named)
        raise AssertionError(f"{self.name}: no backend serves it")

    def serving(self, *arguments: P.args, **named: P.kwargs) -> Callable[P, R]:
        """The function that computes it."""
        name = self.name
        if torch.compiler.is_compiling():
            return self.portable
        if not _are_registered:
            _register_backends()
        if self.guard is not None:
            self.guard(*arguments, **named)
        refused: dict[str, str] = {}
        for backend in BACKENDS.values():
            if (offered := backend.operators.get(name)) is not None:
                if (reason := offered.refuses(*arguments, **named)) is None:
                    if self.is_noted and is_watched():
                        noted(Choice(name, backend, refused=refused))
                    return offered.run
                refused[backend.name] = reason
        raise AssertionError(f"{name}: no backend serves it")

    @property
    def portable(self) -> Callable[P, R]:
        """The portable implementation."""
        return PORTABLE.operators[self.name].run

    def with_backend(self, name: str) -> Callable[P, R]:
        """The operator as the backend of that name computes it, or for "auto" the best.

        Raises ArgumentError for the name of no backend, and when called, where the backend does not support the
        arguments, with its reason.
        """
        if name == "auto":
            return self
        check_backend(name)
        return functools.partial(self._computed_by, name)

    def _computed_by(self, name: str, *arguments: P.args, **named: P.kwargs) -> R:
        if not _are_registered:
            _register_backends()
        if self.guard is not None:
            self.guard(*arguments, **named)
        reason = refusal(name, self.name, *arguments, **named)
        if reason is not None:
            raise ArgumentError(f"backend: {name!r} does not serve {self.name}: {reason}; use backend='auto'")
        if self.is_noted:
            noted(Choice(self.name, BACKENDS[name]))
        return BACKENDS[name].operators[self.name].run(*arguments, **named)


def operator(portable: Callable[P, R]) -> Operator[P, R]:
    """The operator of the name and with the portable implementation of a function, which it replaces."""
    return Operator(portable.__name__.lstrip("_"), portable)


def setup_operator(portable: Callable[P, R]) -> Operator[P, R]:
    """As `operator`, for what is done once for a graph, such as sorting or transposing its arcs: `watched`, which shows
    what the steps of a computation do, does not record it."""
    return Operator(portable.__name__.lstrip("_"), portable, is_noted=False)


def chosen_operator(portable: F) -> F:
    """The function or class itself, whose name is that of an operator from now on: one that `tgraph.kernels.choose`
    finds the backend of. Called directly it is the portable implementation."""
    name = name_of(portable)
    PORTABLE.offer(name, guarded(name, portable), supports_all)
    _CHOSEN.add(portable)
    return portable


def optional_operator(declared: F) -> F:
    """As `chosen_operator`, for what no backend needs to implement: a declaration without a body."""
    _CHOSEN.add(declared)
    return declared


def name_of(declared: Any) -> str:
    """The name of the operator that a function or class declares."""
    return declared.__name__.lower()


_CHOSEN: set[Any] = set()


def guarded(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the check of the graphs that it is given; what is no function does so itself."""
    guard = None if isinstance(run, type) else guard_of(name, run)
    if guard is None:
        return run

    @functools.wraps(run)
    def checked(*arguments: Any, **named: Any) -> Any:
        guard(*arguments, **named)
        return run(*arguments, **named)

    @functools.wraps(run)
    def checked_first(first: Any, *others: Any, **named: Any) -> Any:
        first.ensure_valid()
        return run(first, *others, **named)

    return checked_first if guard is check_first else checked


def supports_all(*arguments: Any, **named: Any) -> None:
    """The `refuses` of an implementation that supports all arguments."""


_watchers: ContextVar[tuple[list[Choice], ...]] = ContextVar("watchers", default=())
watchers = _watchers.get  # the lists that `watched` fills; for hot paths, without a Python frame


@contextmanager
def watched() -> Iterator[list[Choice]]:
    """The choices made in a `with` block by this thread, in order."""
    seen: list[Choice] = []
    before = _watchers.set((*_watchers.get(), seen))
    try:
        yield seen
    finally:
        _watchers.reset(before)


def is_watched() -> bool:
    """True within `watched`; not under torch.compile, which does not trace a ContextVar."""
    return not torch.compiler.is_compiling() and bool(_watchers.get())


def noted(choice: Choice) -> Choice:
    """The choice, added to those of every enclosing `watched`."""
    if not torch.compiler.is_compiling():
        for seen in _watchers.get():
            seen.append(choice)
    return choice
