"""Vertex features in files: a matrix [n, F], read and written by ranges of rows and columns.

    .npy           of numpy: float16, float32 or float64, row-major (C order) or column-major (Fortran order)
    .safetensors   these and bfloat16; row-major as a tensor [n, F], column-major as a tensor [F, n] named "columns"

Most matrices are row-major. `tgraph.stream` writes column-major files, in which some columns of all rows, and all
columns of many rows, are both a few long contiguous ranges. Files are read and written, never mapped: mapped pages
count as memory of the process.
"""

from __future__ import annotations

import io
import json
import os
import struct
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.atomic_write import whole_file
from tgraph.files.positioned import open_to_read, write_at
from tgraph.stream.file.blocks import drop_pages
from tgraph.stream.file.container import DTYPE_NAMES, DTYPES, as_bytes, read_fully
from tgraph.stream.memory import aligned

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
BY_COLUMN, BY_ROW = "columns", "features"  # names of tensors in written files
_NPY = b"\x93NUMPY"
_OF_NUMPY = {"<f2": torch.float16, "<f4": torch.float32, "<f8": torch.float64}
_NUMPY_NAMES = {dtype: name for name, dtype in _OF_NUMPY.items()}
_ALIGNMENT = 64
_FETCH = "the file is truncated or damaged: fetch it again, or write it again"
_CONVERT = "save a matrix [n, F] of float16, float32 or float64 with numpy.save"


class FeatureFile:
    """Features in a file that is open for reading.

    path : a .npy or .safetensors file, recognised by its first bytes. tensor : the name of the tensor in a safetensors
        file, by default the only one.

    `shape` is (n, F), `dtype` that of torch; `by_column` is True for a column-major file. Close it, use it in `with`,
    or leave that to the garbage collector.
    Raises FileFormatError for a file that is damaged, truncated or of another format, ArgumentError for a `tensor` that
    does not exist or is not a floating-point matrix.

    >>> import numpy
    >>> numpy.save("x.npy", numpy.arange(6, dtype="float32").reshape(3, 2))
    >>> with tg.stream.FeatureFile("x.npy") as features:
    ...     features.shape, features.dtype, features.read(slice(1, 3))
    ((3, 2), torch.float32, tensor([[2., 3.],
            [4., 5.]]))
    """

    shape: tuple[int, int]
    dtype: torch.dtype
    by_column: bool

    def __init__(self, path: PathLike, tensor: str | None = None):
        self.path: str = os.fspath(path)
        self._file = open_to_read(self.path)
        self._finalizer = weakref.finalize(self, os.close, self._file)
        try:
            with open(self.path, "rb") as file:
                magic = file.read(len(_NPY))
                file.seek(0)
                self._read_npy(file) if magic == _NPY else self._read_safetensors(file, tensor)
            announced = self._begin + self.nbytes
            if (size := os.fstat(self._file).st_size) < announced:
                raise FileFormatError(path, f"the file has {size} bytes, its header announces {announced}", _FETCH)
        except BaseException:
            self.close()
            raise

    def _read_npy(self, file: Any) -> None:
        try:
            version = np.lib.format.read_magic(file)
            reader = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
            shape, self.by_column, dtype = reader(file)
        except ValueError as fault:
            raise FileFormatError(self.path, f"the header is damaged ({fault})", _FETCH) from fault
        self.dtype = self._checked(shape, _OF_NUMPY.get(dtype.str), dtype.str)
        self.shape, self._begin = (shape[0], shape[1]), file.tell()

    def _read_safetensors(self, file: Any, name: str | None) -> None:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > os.fstat(file.fileno()).st_size:
                raise ValueError("its length is wrong")
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            found = {each: (DTYPES.get(of["dtype"]), list(of["shape"])) for each, of in header.items()}
            begins = {each: 8 + length + int(of["data_offsets"][0]) for each, of in header.items()}
        except (ValueError, LookupError, TypeError, AttributeError, struct.error) as fault:
            what = f"neither a .npy nor a whole .safetensors file ({fault})"
            raise FileFormatError(self.path, what, _CONVERT) from fault
        if name is None and len(found) == 1:
            name = next(iter(found))
        if name not in found:
            has = ", ".join(map(repr, sorted(found)))
            raise ArgumentError(f"tensor: {name!r} is none of {self.path}, which has {has}; name one of these")
        dtype, shape = found[name]
        self.dtype, self._begin = self._checked(shape, dtype, header[name]["dtype"]), begins[name]
        self.by_column = name == BY_COLUMN
        self.shape = (shape[1], shape[0]) if self.by_column else (shape[0], shape[1])

    def _checked(self, shape: Any, dtype: torch.dtype | None, named: str) -> torch.dtype:
        if dtype not in FLOATS:
            raise ArgumentError(f"source: {self.path} holds {named}, not floating numbers; {_CONVERT}")
        if len(shape) != 2:
            raise ArgumentError(f"source: {self.path} has shape {list(shape)}, expected [n, F]; {_CONVERT}")
        return dtype

    def __enter__(self) -> FeatureFile:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file.

        >>> import numpy
        >>> numpy.save("x.npy", numpy.ones((3, 2), dtype="float32"))
        >>> features = tg.stream.FeatureFile("x.npy")
        >>> features.close()
        """
        self._finalizer()

    def __repr__(self) -> str:
        return f"FeatureFile({self.path!r}, {list(self.shape)}, {self.dtype})"

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix.

        >>> import numpy
        >>> numpy.save("x.npy", numpy.ones((3, 2), dtype="float32"))
        >>> tg.stream.FeatureFile("x.npy").nbytes
        24
        """
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def row_bytes(self, columns: int) -> int:
        """Bytes that `read` allocates for each row of so many `columns`.

        >>> import numpy
        >>> numpy.save("x.npy", numpy.ones((3, 2), dtype="float32"))
        >>> tg.stream.FeatureFile("x.npy").row_bytes(1)
        8
        """
        return (columns if self.by_column else self.shape[1]) * self.dtype.itemsize

    def read(self, rows: slice, columns: slice | None = None) -> Tensor:
        """Read `rows` of some `columns`, or of all: [r, c], a view of a new buffer. Slices have a start and a stop.

        Raises FileFormatError where the file has become shorter, OSError where the disk fails.

        >>> import numpy
        >>> numpy.save("x.npy", numpy.arange(6, dtype="float32").reshape(3, 2))
        >>> tg.stream.FeatureFile("x.npy").read(slice(1, 3), slice(0, 1))
        tensor([[2.],
                [4.]])
        """
        wanted = slice(0, self.shape[1]) if columns is None else columns
        count, size = rows.stop - rows.start, self.dtype.itemsize
        if self.by_column:
            buffer = torch.empty((wanted.stop - wanted.start, count), dtype=self.dtype, device="cpu")
            for column, place in zip(range(wanted.start, wanted.stop), buffer, strict=True):
                self._fill(place, self._begin + (column * self.shape[0] + rows.start) * size)
            return buffer.t()
        buffer = torch.empty((count, self.shape[1]), dtype=self.dtype, device="cpu")
        self._fill(buffer.view(-1), self._begin + rows.start * self.shape[1] * size)
        return buffer[:, wanted]

    def _fill(self, target: Tensor, position: int) -> None:
        data = as_bytes(target)
        try:
            filled = read_fully(self._file, data, position)
        except OSError as fault:
            raise OSError(fault.errno, fault.strerror, self.path) from fault
        if filled < len(data):
            raise FileFormatError(self.path, f"the file ends at byte {position + filled}", _FETCH)
        drop_pages(self._file, position, len(data))


class TensorFeatures:
    """Features in memory with the interface of a `FeatureFile`. values : [n, ...] of any dtype."""

    by_column = False

    def __init__(self, values: Tensor):
        self.values: Tensor = values.detach()
        self.shape: tuple[int, ...] = tuple(values.shape)
        self.dtype: torch.dtype = values.dtype

    def row_bytes(self, columns: int) -> int:
        """0: no buffer is allocated."""
        return 0

    def read(self, rows: slice, columns: slice | None = None) -> Tensor:
        """Some rows, of some columns or all; a view."""
        return self.values[rows] if columns is None else self.values[rows, columns]


Source = PathLike | FeatureFile | Tensor


def open_features(source: Source, name: str = "source") -> FeatureFile | TensorFeatures:
    """A reader of the features of a source. `name` is the argument that error messages name."""
    if isinstance(source, FeatureFile):
        return source
    if isinstance(source, Tensor):
        return TensorFeatures(source)
    if isinstance(source, (str, os.PathLike)):
        return FeatureFile(source)
    raise ArgumentError(f"{name}: expected a path, a FeatureFile or a tensor, got {type(source).__name__}")


def open_matrix(source: Source) -> FeatureFile | TensorFeatures:
    """As `open_features`, for a floating-point matrix [n, F]. Raises ArgumentError for anything else."""
    features = open_features(source)
    if len(features.shape) != 2 or features.dtype not in FLOATS:
        got = f"{features.dtype} {list(features.shape)}"
        raise ArgumentError(f"source: expected floating numbers [n, F], got {got}; reshape or convert them")
    return features


class FeatureWriter:
    """Writes a matrix of a given shape and dtype into an open file, rows and columns in any order."""

    def __init__(self, file: int, begin: int, shape: tuple[int, int], dtype: torch.dtype, by_column: bool, piece: int):
        self._file, self._begin, self._piece = file, begin, piece
        self.shape: tuple[int, int] = shape
        self.dtype: torch.dtype = dtype
        self.by_column: bool = by_column

    def write(self, values: Tensor, row: int, column: int = 0) -> None:
        """Write values [r, c] of any dtype from a row and a column on; into a row-major file whole rows only. Temporary
        copies take at most `piece` bytes, or those of one row."""
        step = max(1, self._piece // max(1, values.shape[1] * self.dtype.itemsize))
        for begin in range(0, len(values), step):
            part = values[begin : begin + step].to("cpu")
            self._write(part, row + begin, column)

    def _write(self, values: Tensor, row: int, column: int) -> None:
        (n, width), size = self.shape, self.dtype.itemsize
        if not self.by_column:
            stored = values.to(self.dtype).contiguous()
            self._put(stored.view(-1), self._begin + row * width * size)
            return
        transposed = torch.empty((values.shape[1], len(values)), dtype=self.dtype, device="cpu").copy_(values.t())
        for number, each in enumerate(transposed, column):
            self._put(each, self._begin + (number * n + row) * size)

    def _put(self, values: Tensor, position: int) -> None:
        data, done = as_bytes(values), 0
        while done < len(data):
            done += write_at(self._file, data[done:], position + done)


@contextmanager
def create_features(
    path: PathLike, shape: tuple[int, int], dtype: torch.dtype, *, by_column: bool = True, piece: int = 1 << 23
) -> Iterator[FeatureWriter]:
    """Create a file of features, which replaces `path` once it is complete and on disk, or is removed on an error.

    Raises ArgumentError for a path that ends with neither .npy nor .safetensors, or cannot hold the dtype; OSError,
    with the bytes needed, where the disk is full.
    """
    header = _header(path, shape, dtype, by_column)
    with whole_file(path, len(header) + shape[0] * shape[1] * dtype.itemsize) as file:
        file.write(header)
        file.flush()
        yield FeatureWriter(file.fileno(), len(header), shape, dtype, by_column, piece)


def check_target(path: PathLike, dtype: torch.dtype) -> None:
    """Raise ArgumentError unless a file of this name can hold the dtype."""
    _header(path, (0, 0), dtype, True)


def _header(path: PathLike, shape: tuple[int, int], dtype: torch.dtype, by_column: bool) -> bytes:
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path: expected that of a file to write, got {type(path).__name__}")
    suffix = Path(path).suffix.lower()
    if suffix == ".npy" and dtype in _NUMPY_NAMES:
        written = io.BytesIO()
        notes = {"descr": _NUMPY_NAMES[dtype], "fortran_order": by_column, "shape": shape}
        np.lib.format.write_array_header_1_0(written, notes)
        return written.getvalue()
    if suffix == ".safetensors" and dtype in FLOATS:
        name, stored = (BY_COLUMN, shape[::-1]) if by_column else (BY_ROW, shape)
        nbytes = shape[0] * shape[1] * dtype.itemsize
        entry = {"dtype": DTYPE_NAMES[dtype], "shape": list(stored), "data_offsets": [0, nbytes]}
        text = json.dumps({name: entry}).encode()
        length = aligned(8 + len(text), _ALIGNMENT) - 8
        return struct.pack("<Q", length) + text.ljust(length)
    what = f"{path} cannot hold {dtype}" if suffix in (".npy", ".safetensors") else f"{path} is of no known format"
    raise ArgumentError(f"path: {what}; end the name with .safetensors, or .npy for float16, float32 and float64")
