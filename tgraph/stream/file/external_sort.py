"""Temporary files of an external sort: runs of edges in input order, then buckets of edges by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.stream.file.container import as_bytes

Edges = tuple[Tensor, Tensor, "Tensor | None"]


@dataclass
class _Run:
    position: int
    edges: int
    dtype: torch.dtype  # of the ends
    weight_dtype: torch.dtype | None


class Runs:
    """Edges (source, target, weight) in a file, in runs of about `batch` edges, in the order in which they were added.
    Used in `with`."""

    def __init__(self, path: Path, batch: int):
        self._file: Any = open(path, "w+b", buffering=0)  # noqa: SIM115  closed by __exit__
        self._batch, self._end = batch, 0
        self._buffered: list[tuple[np.ndarray, ...]] = []
        self._runs: list[_Run] = []

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *fault: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def weight_dtypes(self) -> set[torch.dtype]:
        """Dtypes of the weights of runs."""
        return {run.weight_dtype for run in self._runs if run.weight_dtype is not None}

    @property
    def end(self) -> tuple[int, int]:
        """The present end of the runs, for `back_to`."""
        return len(self._runs), self._end

    def back_to(self, end: tuple[int, int]) -> None:
        """Drop the edges added after an `end`."""
        self._buffered = []
        self._runs, self._end = self._runs[: end[0]], end[1]

    def add(self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None) -> None:
        """Add edges whose ends are int64 [k]."""
        if len(src):
            self._buffered.append((src, dst) if weights is None else (src, dst, weights))
        if sum(len(piece[0]) for piece in self._buffered) >= self._batch:
            self.flush()

    def flush(self) -> None:
        """Write the buffered edges as a run."""
        if self._buffered:
            columns = [torch.from_numpy(np.concatenate(column)) for column in zip(*self._buffered, strict=True)]
            self._buffered = []
            run = _Run(self._end, len(columns[0]), torch.int64, columns[2].dtype if len(columns) == 3 else None)
            self._runs.append(run)
            self._end += self._write(run, columns)

    def _write(self, run: _Run, columns: list[Tensor]) -> int:
        self._file.seek(run.position)
        return sum(_write_all(self._file, as_bytes(column.contiguous())) for column in columns)

    def __iter__(self) -> Iterator[Edges]:
        for run in self._runs:
            self._file.seek(run.position)
            src, dst = (_read(self._file, run.edges, run.dtype) for _ in range(2))
            yield src, dst, None if run.weight_dtype is None else _read(self._file, run.edges, run.weight_dtype)

    def rewrite(self, change: Callable[[Tensor, Tensor, Tensor | None], Edges]) -> None:
        """Replace each run by `change(run)`, which has no more edges and no wider dtypes."""
        for run, edges in zip(self._runs, self, strict=True):
            columns = [column for column in change(*edges) if column is not None]
            run.edges, run.dtype = len(columns[0]), columns[0].dtype
            run.weight_dtype = columns[2].dtype if len(columns) == 3 else None
            self._write(run, columns)


class Buckets:
    """Edges in a file by bucket, each of a size known in advance; within a bucket in input order.

    `sizes` int64 [buckets]. `filled`: they are there to be read, as another process has left them. Used in `with`.
    """

    def __init__(
        self, path: Path, sizes: Tensor, dtype: torch.dtype, weight_dtype: torch.dtype | None, filled: bool = False
    ):
        self._file: Any = open(path, "rb" if filled else "w+b", buffering=0)  # noqa: SIM115  closed by __exit__
        self._dtypes = [dtype, dtype] + ([] if weight_dtype is None else [weight_dtype])
        self._width = sum(column.itemsize for column in self._dtypes)
        self._sizes = sizes.tolist()
        self._begin = (sizes.cumsum(0) - sizes).tolist()
        self._filled = list(self._sizes) if filled else [0] * len(self._sizes)

    def __enter__(self) -> Buckets:
        return self

    def __exit__(self, *fault: object) -> None:
        self._file.close()

    def scatter(self, bucket: Tensor, edges: Edges) -> None:
        """Append the edges [k] to their buckets [k], integers of any dtype."""
        narrow = np.uint16 if len(self._sizes) <= 2**16 else np.int64  # numpy sorts 16 bits by radix
        order = torch.from_numpy(np.argsort(bucket.numpy().astype(narrow), kind="stable"))
        columns = [column.index_select(0, order) for column in edges if column is not None]
        numbers, counts = torch.unique_consecutive(bucket.index_select(0, order), return_counts=True)
        end = 0
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            begin, end = end, end + count
            for place, column in zip(self._places(number), columns, strict=True):
                self._file.seek(place + self._filled[number] * column.element_size())
                _write_all(self._file, as_bytes(column[begin:end]))
            self._filled[number] += count

    def read(self, number: int) -> Edges:
        """The edges of a bucket."""
        columns = []
        for place, dtype in zip(self._places(number), self._dtypes, strict=True):
            self._file.seek(place)
            columns.append(_read(self._file, self._filled[number], dtype))
        return columns[0], columns[1], columns[2] if len(columns) == 3 else None

    def _places(self, number: int) -> list[int]:
        """The position of each column of a bucket, in bytes."""
        place = self._begin[number] * self._width
        places = []
        for dtype in self._dtypes:
            places.append(place)
            place += self._sizes[number] * dtype.itemsize
        return places


def _write_all(file: Any, data: memoryview) -> int:
    """Write all data to an unbuffered file, which may take it in parts. Returns the bytes written."""
    done = 0
    while done < len(data):
        done += file.write(data[done:])
    return done


def _read(file: Any, count: int, dtype: torch.dtype) -> Tensor:
    tensor = torch.empty(count, dtype=dtype, device="cpu")
    data, done = as_bytes(tensor), 0
    while done < len(data):
        taken = file.readinto(data[done:])
        if not taken:
            raise EOFError("a temporary file lost its end: does something else write to that folder?")
        done += taken
    return tensor
