"""Products of sparse matrices over semirings.

Squares of skewed graphs have more entries than memory holds, so that products of two sparse matrices take every k-th
row of the left one, with k such that there are at most `MOST_TERMS` terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

import tgraph as tg
from bench.arrays import Arrays, Description
from bench.kernels import BLOCKS
from bench.library import Row, close, graphblas
from bench.verify import require

MOST_TERMS, FEATURES = 1 << 26, 16


class Operands:
    """The matrices of a graph for one system: `make(offset, columns, values or None)` builds them.

    whole : its weights as float64. pattern : without. part, part_pattern : some of their rows. lower : the arcs to
    smaller vertices, without weights.
    """

    def __init__(self, arrays: Arrays, make: Callable[[np.ndarray, np.ndarray, np.ndarray | None], Any]):
        offset, columns, values = arrays.offset, arrays.neighbors, arrays.weights.astype(np.float64)
        rows, degree = arrays.rows, arrays.degree
        stride = -(-int(degree[columns].sum()) // MOST_TERMS)
        self.whole, self.pattern = make(offset, columns, values), make(offset, columns, None)
        self.part, self.part_pattern = self.whole, self.pattern
        if stride > 1:
            chosen = rows % stride == 0
            some = kept(degree, rows, chosen)
            self.part = make(some, columns[chosen], values[chosen])
            self.part_pattern = make(some, columns[chosen], None)
        below = columns < rows
        self.lower = make(kept(degree, rows, below), columns[below], None)


def kept(degree: np.ndarray, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The offsets of the chosen entries."""
    counts = np.bincount(rows[chosen], minlength=len(degree))
    return np.concatenate(([0], np.cumsum(counts)))


def of_tgraph(offset: np.ndarray, columns: np.ndarray, values: np.ndarray | None) -> tg.Graph:
    weights = None if values is None else torch.from_numpy(values)
    return tg.Graph(torch.from_numpy(offset), torch.from_numpy(columns), weights, directed=True)


def of_graphblas(offset: np.ndarray, columns: np.ndarray, values: np.ndarray | None) -> Any:
    return graphblas.Matrix.from_csr(offset, columns, np.True_ if values is None else values, ncols=len(offset) - 1)


def of_scipy(offset: np.ndarray, columns: np.ndarray, values: np.ndarray | None) -> Any:
    stored = np.ones(len(columns)) if values is None else values
    return csr_array((stored, columns, offset.astype(np.int32)), shape=(len(offset) - 1,) * 2)


MAKE = {"tgraph": of_tgraph, "graphblas": of_graphblas, "scipy": of_scipy}


def operands(system: Any) -> Operands:
    """The matrices of a system, made at the first call."""
    if not hasattr(system, "operands"):
        arrays = Arrays.of(system.weighted) if system.name == "tgraph" else system.arrays
        system.operands = Operands(arrays, MAKE[system.name])
    return system.operands


def dense(*shape: int) -> Callable[[Description], list[Any]]:
    """Arguments [n, *shape] of random numbers, in the forms of all systems."""

    def arguments(description: Description) -> list[Any]:
        values = np.random.default_rng(0).random((description.num_vertices, *shape))
        found = {"tgraph": torch.from_numpy(values), "scipy": values}
        if graphblas:
            found["graphblas"] = (graphblas.Matrix if shape else graphblas.Vector).from_dense(values)
        return [found] * BLOCKS

    return arguments


def of_blas(name: str, left: str, right: str = "", mask: str = "") -> Callable[[Any, Any], Any]:
    """A product of graphblas over one of its semirings, of two matrices or with the dense argument."""

    def call(system: Any, given: Any) -> Any:
        held = operands(system)
        other = getattr(held, right) if right else given["graphblas"]
        product = getattr(graphblas.semiring, name)(getattr(held, left) @ other)
        dtype = "INT64" if name.endswith("pair") else "FP64"
        return product.new(dtype=dtype, mask=getattr(held, mask).S) if mask else product.new(dtype=dtype)

    return call


def of_ours(left: str, right: str = "", mask: str = "", **semiring: str) -> Callable[[Any, Any], Any]:
    def call(system: Any, given: Any) -> Any:
        held = operands(system)
        only = {"mask": getattr(held, mask)} if mask else {}
        return tg.multiply(getattr(held, left), getattr(held, right) if right else given["tgraph"], **semiring, **only)

    return call


def in_scipy(left: str, right: str = "") -> Callable[[Any, Any], Any]:
    def call(system: Any, given: Any) -> Any:
        held = operands(system)
        return getattr(held, left) @ (getattr(held, right) if right else given["scipy"])

    return call


def read_ours(product: tg.Graph) -> tuple[np.ndarray, ...]:
    weights = product.weights
    assert weights is not None
    return product.offset.numpy(), product.neighbors.numpy(), weights.numpy()


def read_blas(product: Any) -> tuple[np.ndarray, ...]:
    return product.to_csr(dtype=None, sort=True)


def read_scipy(product: Any) -> tuple[np.ndarray, ...]:
    product.sort_indices()
    return product.indptr, product.indices, product.data


def same_entries(ours: tuple[np.ndarray, ...], theirs: tuple[np.ndarray, ...]) -> None:
    """The same matrix but for rounding."""
    require(all(np.array_equal(a, b) for a, b in zip(ours[:2], theirs[:2], strict=True)), "other entries")
    close(ours[2], theirs[2])


def sparse(title: str, name: str, left: str, right: str, mask: str = "", scipy: bool = False, **semiring: str) -> Row:
    """SpGEMM over a semiring of graphblas, by its name there, and by scipy where it has it."""
    calls = {"tgraph": of_ours(left, right, mask, **semiring), "graphblas": of_blas(name, left, right, mask)}
    calls |= {"scipy": in_scipy(left, right)} if scipy else {}
    read = {"tgraph": read_ours, "graphblas": read_blas, "scipy": read_scipy}
    return Row(f"SpGEMM{title}", calls, read=read, agree=same_entries)


def with_dense(title: str, name: str, *shape: int, missing: float = 0, scipy: bool = True, **semiring: str) -> Row:
    """A product with a dense vector or matrix, `missing` where a row has no entries."""
    calls = {"tgraph": of_ours("whole", **semiring), "graphblas": of_blas(name, "whole")}
    calls |= {"scipy": in_scipy("whole")} if scipy else {}
    read = {"graphblas": lambda found: found.to_dense(fill_value=missing)}
    return Row(title, calls, read=read, agree=close, arguments=dense(*shape))


MIN_PLUS = {"reduce": "min", "edge": "add"}
ROWS = {
    "spmv": with_dense("SpMV, plus_times", "plus_times"),
    "spmv-min": with_dense("SpMV, min_plus", "min_plus", missing=np.inf, scipy=False, **MIN_PLUS),
    "spmm": with_dense(f"SpMM with {FEATURES} columns, plus_times", "plus_times", FEATURES),
    "spgemm": sparse(", plus_times", "plus_times", "part", "whole", scipy=True),
    "spgemm-pair": sparse(", plus_pair", "plus_pair", "part_pattern", "pattern", scipy=True),
    "spgemm-min": sparse(", min_plus", "min_plus", "part", "whole", **MIN_PLUS),
    "spgemm-masked": sparse(" where the graph has arcs, plus_times", "plus_times", "part", "whole", "part"),
    "spgemm-triangles": sparse(
        " of the lower triangle where it has arcs, plus_pair", "plus_pair", "lower", "lower", "lower"
    ),
}
