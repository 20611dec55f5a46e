"""safetensors files every byte of which is under a checksum (XXH3, 64 bits): of each tensor, and of the header."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from typing import Any

import torch
import xxhash
from torch import Tensor

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.io.stream import PathLike
from tgraph.io.whole import whole_file

PAGE = 4096
DTYPES = {
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "BOOL": torch.bool,
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_NO_SUM = "0" * 16  # stands for the checksum of the header while that is computed


def as_bytes(tensor: Tensor) -> memoryview:
    """The bytes of a contiguous tensor of the CPU, of one dimension or more, not copied."""
    return tensor.view(torch.uint8).numpy().data


def checksum(data: Any) -> int:
    """XXH3 of the bytes, as the int64 of the same bits."""
    return signed(xxhash.xxh3_64_intdigest(data))


def signed(value: int) -> int:
    """The int64 of the same bits as a uint64."""
    return value - 2**64 if value >= 2**63 else value


def seal(header: dict[str, Any]) -> bytes:
    """The head of a file, whole pages: its length and the header, whose metadata get its own checksum."""
    header["__metadata__"] |= {"checksum": _NO_SUM}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % PAGE)
    head = struct.pack("<Q", len(text)) + text
    return head.replace(_note(_NO_SUM), _note(xxhash.xxh3_64_hexdigest(head)), 1)


def unseal(head: bytes) -> dict[str, Any]:
    """The header in the head of a file. Raises ValueError where it is not what was sealed."""
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


def write(path: PathLike, tensors: Mapping[str, Tensor], notes: dict[str, str]) -> None:
    """Write tensors of any shape and device, and notes, whole or not at all.

    Raises ArgumentError for a dtype that such files do not hold; OSError, with the bytes needed, where the disk is
    full.
    """
    # the widest first, so that every tensor is aligned to its own element size without gaps
    ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
    plain = {name: tensor.detach().cpu().contiguous().reshape(-1) for name, tensor in ordered}
    sums = {name: checksum(as_bytes(tensor)) for name, tensor in plain.items()}
    header: dict[str, Any] = {"__metadata__": notes | {"sums": json.dumps(sums)}}
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


def read(path: PathLike, remedy: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """(tensors, notes) of a file that `write` has written. Raises FileFormatError, naming the tensor, where it is
    damaged, truncated or none of these."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(8)
        length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
        try:
            if not 0 < length <= size - 8:
                raise ValueError("its length is wrong")
            header = unseal(first + file.read(length))
        except ValueError as fault:
            raise FileFormatError(path, f"the header is damaged ({fault})", remedy) from fault
        notes = header.pop("__metadata__")
        whole = 8 + length + max((entry["data_offsets"][1] for entry in header.values()), default=0)
        if size != whole:
            raise FileFormatError(path, f"the file has {size} bytes where its header announces {whole}", remedy)
        sums, tensors = json.loads(notes["sums"]), {}
        for name, entry in header.items():
            tensor = torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]], device="cpu")
            data = as_bytes(tensor.view(-1))
            file.seek(8 + length + entry["data_offsets"][0])
            if file.readinto(data) != len(data) or checksum(data) != sums[name]:
                raise FileFormatError(path, f"the checksum of the tensor {name!r} differs", remedy)
            tensors[name] = tensor
    return tensors, notes
