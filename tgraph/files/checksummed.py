"""safetensors files with checksums (XXH3, 64 bits) over every byte: the header, and each tensor in pieces.

The metadata have the bytes per piece and the checksums of the pieces of every tensor, 16 hexadecimal digits each. Parts
of a tensor can be verified alone, and damage is located to within a piece.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import xxhash
from torch import Tensor

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.atomic_write import whole_file

PAGE = 4096
PIECE = 1 << 20  # bytes; a multiple of every element size
DTYPES = {
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "BOOL": torch.bool,
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_NO_SUM = "0" * 16  # placeholder while the checksum of the header is computed


def as_bytes(tensor: Tensor) -> memoryview:
    """The bytes of a contiguous CPU tensor of at least one dimension, not copied."""
    return tensor.view(torch.uint8).numpy().data


def checksum(data: Any) -> int:
    """XXH3 of the bytes, reinterpreted as int64."""
    return signed(xxhash.xxh3_64_intdigest(data))


def signed(value: int) -> int:
    """A uint64 reinterpreted as int64."""
    return value - 2**64 if value >= 2**63 else value


def seal(header: dict[str, Any], size: int = 0) -> bytes:
    """The encoded header, padded to whole pages and to `size`: its length, and JSON with its own checksum."""
    header["__metadata__"] |= {"checksum": _NO_SUM}
    text = json.dumps(header).encode()
    text += b" " * max(-(8 + len(text)) % PAGE, size - 8 - len(text))
    head = struct.pack("<Q", len(text)) + text
    return head.replace(_note(_NO_SUM), _note(xxhash.xxh3_64_hexdigest(head)), 1)


def unseal(head: bytes) -> dict[str, Any]:
    """The decoded header. Raises ValueError where its checksum differs."""
    try:
        header = json.loads(head[8:])
        found = header["__metadata__"]["checksum"]
        if xxhash.xxh3_64_hexdigest(head.replace(_note(found), _note(_NO_SUM), 1)) != found:
            raise ValueError("its checksum differs")
    except (LookupError, TypeError, AttributeError) as fault:
        raise ValueError(str(fault)) from fault
    return header


def _note(sum_of_header: str) -> bytes:
    return b'"checksum": "' + sum_of_header.encode() + b'"'


def write(path: PathLike, tensors: Mapping[str, Tensor], notes: dict[str, str], piece: int | None = None) -> None:
    """Write tensors of any shape and device, and text metadata `notes`, atomically, with a checksum for each `piece`
    bytes, a multiple of the element size; by default PIECE.

    Raises ArgumentError for a dtype that safetensors cannot represent; OSError, with the bytes needed, for a full disk.
    """
    piece = PIECE if piece is None else piece
    # by descending element size, so that every tensor is aligned without gaps
    ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
    plain = {name: tensor.detach().cpu().contiguous().reshape(-1) for name, tensor in ordered}
    sums = {name: "".join(_digests(as_bytes(tensor), piece)) for name, tensor in plain.items()}
    header: dict[str, Any] = {"__metadata__": notes | {"piece": str(piece), "sums": json.dumps(sums)}}
    end = 0
    for name, tensor in ordered:
        if tensor.dtype not in DTYPE_NAMES:
            raise ArgumentError(f"{name}: no such file holds {tensor.dtype}; convert it to torch.float64")
        begin, end = end, end + tensor.nbytes
        shape = list(tensor.shape)
        header[name] = {"dtype": DTYPE_NAMES[tensor.dtype], "shape": shape, "data_offsets": [begin, end]}
    head = seal(header)
    with whole_file(path, len(head) + end) as file:
        file.write(head)
        for tensor in plain.values():
            file.write(as_bytes(tensor))


def _digests(data: memoryview, piece: int) -> list[str]:
    return [xxhash.xxh3_64_hexdigest(data[begin : begin + piece]) for begin in range(0, len(data), piece)]


@dataclass(frozen=True)
class Contents:
    """The header of a safetensors file.

    notes : its metadata. entries : dtype and shape of each tensor, as in safetensors. begin : the file position of the
    data. piece : bytes per checksum. sums : the checksums of each tensor, None without. remedy : for errors.
    """

    path: PathLike
    notes: dict[str, str]
    entries: dict[str, dict[str, Any]]
    begin: int
    piece: int
    sums: dict[str, str] | None
    remedy: str

    def dtype(self, name: str) -> torch.dtype:
        """The dtype of a tensor."""
        return DTYPES[self.entries[name]["dtype"]]

    def position(self, name: str) -> int:
        """The file position of a tensor."""
        return self.begin + self.entries[name]["data_offsets"][0]

    def check(self, name: str, data: memoryview, first: int = 0) -> None:
        """Verify bytes of a tensor, from byte `first`, the start of a piece, to the end of a piece.

        Raises FileFormatError with the file, the tensor and the position of the first damaged piece.
        """
        if self.sums is None:
            return
        at = first // self.piece
        for number, digest in enumerate(_digests(data, self.piece), start=at):
            if self.sums[name][16 * number : 16 * number + 16] != digest:
                raise self._damaged(name, number)

    def _damaged(self, name: str, number: int) -> FileFormatError:
        first, size = number * self.piece, self.dtype(name).itemsize
        end = min(first + self.piece, self.entries[name]["data_offsets"][1] - self.entries[name]["data_offsets"][0])
        place = self.position(name)
        return FileFormatError(
            self.path,
            f"the checksum of the tensor {name!r} differs between its elements {first // size} and {end // size - 1} "
            f"(bytes {place + first} to {place + end - 1} of the file)",
            self.remedy,
        )

    def digests(self, name: str) -> str:
        """The checksums of a tensor, computed from its data for a file without checksums."""
        return self.sums[name] if self.sums is not None else "".join(_digests(as_bytes(self.load(name)), self.piece))

    def load(self, name: str) -> Tensor:
        """A tensor, read into memory and verified. Raises FileFormatError where it is damaged."""
        tensor = torch.empty(self.entries[name]["shape"], dtype=self.dtype(name), device="cpu")
        data = as_bytes(tensor.view(-1))
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.position(name))
            done = 0
            while taken := file.readinto(data[done:]):
                done += taken
        if done < len(data):
            raise FileFormatError(self.path, f"the file ends within the tensor {name!r}", self.remedy)
        self.check(name, data)
        return tensor


def contents(path: PathLike, remedy: str) -> Contents:
    """The header of a safetensors file, verified if possible. Raises FileFormatError for invalid files."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(8)
        length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
        try:
            if not 0 < length <= size - 8:
                raise ValueError("its length is wrong")
            head = first + file.read(length)
            header = json.loads(head[8:])
            notes = header.pop("__metadata__", {})
            # either key marks a header with a checksum, so that one damaged bit cannot hide it
            is_sealed = "checksum" in notes or "sums" in notes
            if is_sealed:
                unseal(head)
            for name, entry in header.items():
                _check_entry(name, entry)
            whole = 8 + length + max((entry["data_offsets"][1] for entry in header.values()), default=0)
            piece, sums = _sums_of(header, notes) if "piece" in notes and is_sealed else (PIECE, None)
        except (ValueError, LookupError, TypeError, AttributeError) as fault:
            raise FileFormatError(path, f"the header is damaged ({fault})", remedy) from fault
    if size != whole:
        raise FileFormatError(path, f"the file has {size} bytes where its header announces {whole}", remedy)
    if is_sealed and "piece" not in notes:
        raise FileFormatError(path, "its checksums are of an earlier version", remedy)
    return Contents(path, notes, header, 8 + length, piece, sums, remedy)


def _check_entry(name: str, entry: dict[str, Any]) -> None:
    """Raise ValueError unless the shape and dtype of a tensor match its bytes."""
    (begin, end), shape = entry["data_offsets"], entry["shape"]
    if not all(type(number) is int and number >= 0 for number in (begin, end, *shape)):
        raise ValueError(f"{name}: its shape and offsets are not numbers from 0 on")
    if end - begin != math.prod(shape) * DTYPES[entry["dtype"]].itemsize:
        raise ValueError(f"{name}: {end - begin} bytes do not match {shape} of {entry['dtype']}")


def _sums_of(header: dict[str, dict[str, Any]], notes: dict[str, str]) -> tuple[int, dict[str, str]]:
    """(bytes per checksum, the checksums of each tensor). Raises ValueError where they do not cover all bytes."""
    piece, sums = int(notes["piece"]), json.loads(notes["sums"])
    if piece < 1:
        raise ValueError(f"{piece} bytes per checksum")
    for name, entry in header.items():
        size = entry["data_offsets"][1] - entry["data_offsets"][0]
        if not isinstance(sums[name], str) or len(sums[name]) != 16 * -(-size // piece):
            raise ValueError(f"{name}: its checksums are not one for each {piece} bytes")
    return piece, sums


def read(path: PathLike, remedy: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """(tensors, notes) of a file by `write`. Raises FileFormatError, naming the tensor, for invalid files."""
    held = contents(path, remedy)
    if held.sums is None:
        raise FileFormatError(path, "the file has no checksums", remedy)
    return {name: held.load(name) for name in held.entries}, held.notes
