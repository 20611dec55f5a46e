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
from bench.library import Row, close
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
    from graphblas import Matrix

    return Matrix.from_csr(offset, columns, np.True_ if values is None else values, ncols=len(offset) - 1)


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
        from graphblas import Matrix, Vector

        values = np.random.default_rng(0).random((description.num_vertices, *shape))
        held = (Matrix if shape else Vector).from_dense(values)
        return [{"tgraph": torch.from_numpy(values), "graphblas": held, "scipy": values}] * BLOCKS

    return arguments


def of_blas(name: str, left: str, right: str, mask: str = "") -> Callable[[Any, Any], Any]:
    """A product of two matrices of graphblas over one of its semirings."""

    def call(system: Any, _: Any) -> Any:
        from graphblas import semiring

        held = operands(system)
        product = getattr(semiring, name)(getattr(held, left) @ getattr(held, right))
        dtype = "INT64" if name.endswith("pair") else "FP64"
        return product.new(dtype=dtype, mask=getattr(held, mask).S) if mask else product.new(dtype=dtype)

    return call


def dense_of_blas(name: str) -> Callable[[Any, Any], Any]:
    """A product with a dense vector or matrix."""

    def call(system: Any, given: Any) -> Any:
        from graphblas import semiring

        return getattr(semiring, name)(operands(system).whole @ given["graphblas"]).new()

    return call


def of_ours(left: str, right: str, mask: str = "", **semiring: str) -> Callable[[Any, Any], Any]:
    def call(system: Any, _: Any) -> Any:
        held = operands(system)
        only = {"mask": getattr(held, mask)} if mask else {}
        return tg.multiply(getattr(held, left), getattr(held, right), **semiring, **only)

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


def read_dense(product: Any) -> np.ndarray:
    return product.to_dense(fill_value=np.inf)


def same_entries(ours: tuple[np.ndarray, ...], theirs: tuple[np.ndarray, ...]) -> None:
    """The same matrix but for rounding."""
    require(all(np.array_equal(a, b) for a, b in zip(ours[:2], theirs[:2], strict=True)), "other entries")
    close(ours[2], theirs[2])


def sparse(title: str, calls: dict[str, Callable[[Any, Any], Any]]) -> Row:
    read = {"tgraph": read_ours, "graphblas": read_blas, "scipy": read_scipy}
    return Row(title, calls, read=read, agree=same_entries)


def times_itself(left: str, right: str) -> Callable[[Any, Any], Any]:
    return lambda system, _: getattr(operands(system), left) @ getattr(operands(system), right)


ROWS = {
    "spmv": Row(
        "SpMV, plus_times",
        {
            "tgraph": lambda system, given: tg.multiply(operands(system).whole, given["tgraph"]),
            "graphblas": dense_of_blas("plus_times"),
            "scipy": lambda system, given: operands(system).whole @ given["scipy"],
        },
        read={"graphblas": lambda found: found.to_dense(fill_value=0)},
        agree=close,
        arguments=dense(),
    ),
    "spmv-min": Row(
        "SpMV, min_plus",
        {
            "tgraph": lambda system, given: tg.multiply(operands(system).whole, given["tgraph"], "min", "add"),
            "graphblas": dense_of_blas("min_plus"),
        },
        read={"graphblas": read_dense},
        agree=close,
        arguments=dense(),
    ),
    "spmm": Row(
        f"SpMM with {FEATURES} columns, plus_times",
        {
            "tgraph": lambda system, given: tg.multiply(operands(system).whole, given["tgraph"]),
            "graphblas": dense_of_blas("plus_times"),
            "scipy": lambda system, given: operands(system).whole @ given["scipy"],
        },
        read={"graphblas": lambda found: found.to_dense(fill_value=0)},
        agree=close,
        arguments=dense(FEATURES),
    ),
    "spgemm": sparse(
        "SpGEMM, plus_times",
        {
            "tgraph": of_ours("part", "whole"),
            "graphblas": of_blas("plus_times", "part", "whole"),
            "scipy": times_itself("part", "whole"),
        },
    ),
    "spgemm-pair": sparse(
        "SpGEMM, plus_pair",
        {
            "tgraph": of_ours("part_pattern", "pattern"),
            "graphblas": of_blas("plus_pair", "part_pattern", "pattern"),
            "scipy": times_itself("part_pattern", "pattern"),
        },
    ),
    "spgemm-min": sparse(
        "SpGEMM, min_plus",
        {
            "tgraph": of_ours("part", "whole", reduce="min", edge="add"),
            "graphblas": of_blas("min_plus", "part", "whole"),
        },
    ),
    "spgemm-masked": sparse(
        "SpGEMM where the graph has arcs, plus_times",
        {
            "tgraph": of_ours("part", "whole", "part"),
            "graphblas": of_blas("plus_times", "part", "whole", "part"),
        },
    ),
    "spgemm-triangles": sparse(
        "SpGEMM of the lower triangle where it has arcs, plus_pair",
        {
            "tgraph": of_ours("lower", "lower", "lower"),
            "graphblas": of_blas("plus_pair", "lower", "lower", "lower"),
        },
    ),
}
