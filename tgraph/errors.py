"""Every error a user can meet. Each message names the argument, the value, its position and the remedy."""

from __future__ import annotations

from typing import Any

from tgraph.terminal import harmless

LONGEST = 200  # characters of a message about a file, but for its path


class TGraphError(Exception):
    """Base class of all errors raised on purpose by tgraph, whose messages read "argument: problem; remedy".

    `argument` is the name of the argument at fault, None where it is none; `remedy` the words after the problem, which
    name arguments and methods of Python, empty without one.

    >>> try:
    ...     tg.generators.path(3).select(7)
    ... except tg.errors.TGraphError as error:
    ...     print(error)
    ...     print(error.argument, "/", error.remedy)
    vertices: 7 at position 0 is no vertex index 0..2; graph.index(id) gives the index of an original id
    vertices / graph.index(id) gives the index of an original id
    """

    @property
    def argument(self) -> str | None:
        """The name before the first colon of the message."""
        name, colon, _ = str(self).partition(":")
        return name if colon and name.isidentifier() else None

    @property
    def remedy(self) -> str:
        """The words after the last semicolon of the message, or those that begin with "so"."""
        _, semicolon, remedy = str(self).rpartition("; ")
        return remedy if semicolon else str(self).partition(", so ")[2]


class ArgumentError(TGraphError, ValueError):
    """An argument has a value, shape, dtype or device that the call cannot take.

    >>> tg.Graph.from_edges([0, 1], [1, -2])
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: dst[1]: -2 is no vertex of a graph with num_vertices=2; ids run from 0 to ...
    """


class RowError(ArgumentError, IndexError):
    """A row that a stored tensor does not have.

    >>> from tgraph import stores
    >>> store = stores.MemoryStore()
    >>> store.put("x", torch.zeros(3, 2))
    >>> store.get_rows(store.stat("x"), torch.tensor([2, 3]))
    Traceback (most recent call last):
        ...
    tgraph.errors.RowError: index: 3 at position 1 is no row of 'x', which has 3
    """


class KernelArgumentError(ArgumentError, TypeError):
    """An array that a compiled kernel does not take: of another dtype, strided, not on the CPU, or without memory.

    >>> tg.primitives.k_core.onion_layers(tg.Graph.from_edges([0], [1], directed=False))[0]
    tensor([1, 1])
    """


class LayoutError(ArgumentError, AttributeError):
    """A tensor of CSR was asked of a graph whose arcs are stored in a layout.

    >>> tg.generators.path(3).to_format("sell").neighbors
    Traceback (most recent call last):
        ...
    tgraph.errors.LayoutError: offset, neighbors, weights: the arcs are stored in the layout 'sell'; ...
    """


class UnknownVertexError(TGraphError, KeyError):
    """An original id that names no vertex of the graph.

    >>> graph = tg.Graph.from_edges([0], [1], vertices=["ann", "bob"])
    >>> graph.index("eve")
    Traceback (most recent call last):
        ...
    tgraph.errors.UnknownVertexError: ids: no vertex is called 'eve'; the graph has 2 vertices, the first ...
    """

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class FileFormatError(TGraphError, ValueError):
    """A file that cannot be read as the graph it claims to be.

    `path` is the file, `line` the 1-based line at fault (None where a file has no lines).

    >>> with open("web.el", "w") as file:
    ...     print("0 1", file=file)
    ...     print("1 x", file=file)
    >>> try:
    ...     tg.read("web.el")
    ... except tg.errors.FileFormatError as error:
    ...     print(error.line)
    2
    """

    line: int | None

    def __init__(self, path: object, problem: str, remedy: str, line: int | None = None):
        self.path, self.line = path, line
        place = f"{path}" if line is None else f"{path}, line {line}"
        remedy = _shortened(remedy, LONGEST // 2)
        problem = _shortened(problem, LONGEST - len(remedy) - 4)
        super().__init__(f"{harmless(place)}: {problem}; {remedy}")


def _shortened(text: str, room: int) -> str:
    """The text in one line, of at most so many characters, or of 60 where there is less room."""
    text, room = harmless(text), max(room, 60)
    return text if len(text) <= room else f"{text[: room - 3]}..."


class ServerError(TGraphError, OSError):
    """A server of a store that does not answer, or refuses a request.

    `server` is its address, without a password, `key` the tensor that was asked for, None where the store was opened;
    `lost` tells whether the connection was lost, so that the same request may succeed later.

    >>> error = tg.errors.ServerError("redis://host:6379", "x", "the connection was lost", lost=True)
    >>> error.lost
    True
    """

    server: str
    key: str | None
    lost: bool

    def __init__(self, server: str, key: str | None, problem: str, lost: bool, tries: int = 1):
        self.server, self.key, self.lost = server, key, lost
        what = server if key is None else f"{server}, {key!r}"
        remedy = f"asked {tries} times; see whether the server runs" if lost else "see what its log says"
        super().__init__(f"{what}: {problem}; {remedy}")


class BusyError(TGraphError, RuntimeError):
    """Another process holds a database that one process at a time may change.

    >>> issubclass(tg.errors.BusyError, tg.errors.TGraphError)
    True
    """


class RankError(TGraphError, RuntimeError):
    """Another process of a torch.distributed group failed, or was lost, so that this one cannot go on.

    `rank` is its number, None where nobody knows which it was; `said` its message, None where it left none, as one that
    is killed does.

    >>> error = tg.errors.RankError(3, "values: expected 4 numbers", "failed")
    >>> error.rank
    3
    """

    rank: int | None
    said: str | None

    def __init__(self, rank: int | None, said: str | None, problem: str):
        self.rank, self.said = rank, said
        super().__init__(problem)


class MissingDependencyError(TGraphError, ImportError):
    """An optional package that the call needs is not installed.

    >>> print(tg.errors.MissingDependencyError("pymetis", "partitions by METIS", "metis"))
    partitions by METIS needs the package pymetis; install it with: pip install 'tgraph[metis]'
    """

    def __init__(self, package: str, purpose: str, extra: str | None = None):
        install = f"tgraph[{extra}]" if extra else package
        super().__init__(f"{purpose} needs the package {package}; install it with: pip install '{install}'")


class KernelError(TGraphError, RuntimeError):
    """A CUDA kernel that cannot be compiled, loaded or launched.

    `kernel` is its name in C++, with template arguments; `log` what the compiler or the driver said.

    >>> error = tg.errors.KernelError("pull<float>", "cannot be compiled", "line 3: expected a ;")
    >>> error.kernel
    'pull<float>'
    """

    kernel: str
    log: str

    def __init__(self, kernel: str, problem: str, log: str):
        self.kernel, self.log = kernel, log
        super().__init__(f"CUDA kernel {kernel}: {problem}: {log.strip()}")


class NotConvergedError(TGraphError, RuntimeError):
    """A program reached its iteration limit first. `run`, a `tgraph.Run`, holds the partial result, `residual` the last
    residual.

    >>> try:
    ...     tg.algorithms.pagerank(tg.generators.star(4), max_iterations=2)
    ... except tg.errors.NotConvergedError as error:
    ...     error.run.iterations, error.residual > 1e-6
    (2, True)
    """

    run: Any
    residual: float | None

    def __init__(self, message: str, run: Any, residual: float | None = None):
        self.run, self.residual = run, residual
        super().__init__(message)


class NegativeCycleError(ArgumentError):
    """A cycle of negative weight, which leaves shortest paths undefined. `cycle` holds its vertex indices in the order
    of its arcs, the last of which leads back to the first.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, -3.0, 1.0])
    >>> try:
    ...     tg.algorithms.bellman_ford(graph, 0)
    ... except tg.errors.NegativeCycleError as error:
    ...     sorted(error.cycle)
    [0, 1, 2]
    """

    def __init__(self, ids: list[Any], cycle: list[int]):
        self.cycle = cycle
        shown = " -> ".join(str(name) for name in (*ids[:8], *(["..."] if len(ids) > 8 else []), ids[0]))
        super().__init__(f"weights: the cycle {shown} has a negative weight; there is no shortest path past it")


class MemoryBudgetError(TGraphError, MemoryError):
    """A budget of memory that the call cannot keep to. `needed` is the least that would do, in bytes, `budget` what was
    given.

    >>> tg.write(tg.generators.rmat(8), "web.tg")
    >>> try:
    ...     tg.open("web.tg", memory=1000)
    ... except tg.errors.MemoryBudgetError as error:
    ...     error.needed > error.budget
    True
    """

    needed: int
    budget: int

    def __init__(self, what: str, needed: int, budget: int, remedy: str):
        self.needed, self.budget = needed, budget
        super().__init__(f"memory: {what} needs at least {needed:,} bytes, the budget is {budget:,}; {remedy}")
