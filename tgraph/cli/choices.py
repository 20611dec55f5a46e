"""Names that the library knows, for help and completion, which do not import it: a test holds them equal to its own."""

from collections.abc import Callable, Sequence

import typer

from tgraph.errors import ArgumentError

FORMATS: tuple[str, ...] = (
    "edgelist",
    "csv",
    "parquet",
    "matrixmarket",
    "metis",
    "dimacs",
    "graphalytics",
    "graphml",
    "gml",
    "pajek",
)
FORMATS += ("gexf", "json", "adjlist", "graph6", "lgl", "dot", "dl", "feather", "gapbs", "npz", "tg")
LAYOUTS = ("coo", "csr", "csc", "dcsr", "dcsc", "ell", "sell", "wsb", "elias_fano", "virtual", "cbm")
ORDERS = ("degree", "rcm", "metis", "community")
METHODS = ("ebp", "wcp", "metis")  # to partition by
MULTI = ("keep", "first", "sum", "min", "max", "error")
IDS = ("auto", "keep", "compact", "text")
SELF_LOOPS = ("keep", "drop")
BACKENDS = ("auto", "layout", "native", "cuda", "scatter", "sparse", "portable")
MEASURES = ("jaccard", "overlap", "sorensen", "cosine", "common", "adamic_adar", "resource_allocation")
DEVICES = ("cpu", "cuda", "mps", "xpu")


def one_of(names: Sequence[str]) -> Callable[[str], list[str]]:
    """The `autocompletion` of an option that takes one of these names."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def among(names: Sequence[str]) -> Callable[[typer.CallbackParam, str | None], str | None]:
    """The `callback` of an option that takes one of these names, or none."""

    def check(option: typer.CallbackParam, value: str | None) -> str | None:
        if value is not None and value not in names:
            raise ArgumentError(f"{option.opts[0]}: {value!r} is not one of {', '.join(names)}")
        return value

    return check
