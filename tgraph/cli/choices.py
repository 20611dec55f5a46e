"""Names that the library knows, for help and completion, which do not import it: a test holds them equal to its own."""

from collections.abc import Callable, Sequence

FORMATS = (
    *(
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
        "gexf",
    ),
    *("json", "adjlist", "graph6", "lgl", "dot", "dl", "feather", "gapbs", "npz", "tg"),
)
LAYOUTS = ("coo", "csr", "csc", "dcsr", "dcsc", "ell", "sell", "wsb", "elias_fano", "virtual", "cbm")
ORDERS = ("degree", "rcm", "metis", "community")
METHODS = ("ebp", "wcp", "metis")  # to partition by
MULTI = ("keep", "first", "sum", "min", "max", "error")
BACKENDS = ("auto", "layout", "native", "cuda", "scatter", "sparse", "portable")
DEVICES = ("cpu", "cuda", "mps", "xpu")


def one_of(names: Sequence[str]) -> Callable[[str], list[str]]:
    """The `autocompletion` of an option that takes one of these names."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]
