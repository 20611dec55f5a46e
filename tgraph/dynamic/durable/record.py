"""A batch as a record of the log.

A record is a header of fixed length and a payload: the sorted changes of the batch, 8 bytes each, its columns of arc
data, and the ids of the vertices that came with it, each part padded to 8 bytes. Header and payload have a checksum
each (XXH3, 64 bits), and the header has that of the record before, so that no record is mistaken for that of another
log.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import xxhash
from torch import Tensor

from tgraph.dynamic.runs import Run, Schema
from tgraph.errors import ArgumentError
from tgraph.files.checksummed import as_bytes

MAGIC = b"tg-batch"
_FIELDS = struct.Struct("<8s9Q")
_SUM = struct.Struct("<Q")
HEADER = _FIELDS.size + _SUM.size

Ids = Tensor | Sequence[str]  # of vertices: integers int64 [k], or text


class Header(NamedTuple):
    """The header of a record.

    number, num_vertices : of the version that the batch made. changes, ids : their counts. text : 1 + the bytes of ids
    that are text, 0 for integers. nbytes : of the payload. synced : the newest version promised to be on the disk when
    this was written. previous : `checksum` of the record before, 0 for the first of a log. checksum : of the payload.
    """

    number: int
    num_vertices: int
    changes: int
    ids: int
    text: int
    nbytes: int
    synced: int
    previous: int
    checksum: int


class Batch(NamedTuple):
    """A batch as it comes from the log. ids : of its new vertices, in the order of their numbers."""

    number: int
    num_vertices: int
    run: Run
    ids: Ids


def encoded(batch: Batch, synced: int, previous: int) -> tuple[Header, list[Any]]:
    """The header of a record, and its bytes in parts, numbers uncopied. Raises ArgumentError for ids that are neither
    integers nor text."""
    ids, text = encoded_ids(batch.ids) if len(batch.ids) else ([], 0)
    digest, parts, nbytes = xxhash.xxh3_64(), [], 0
    for part in (as_bytes(batch.run.changes), *map(as_bytes, batch.run.data), *ids):
        rest = -len(part) % 8
        for padded in (part, bytes(rest)) if rest else (part,):
            parts.append(padded)
            digest.update(padded)
            nbytes += len(padded)
    header = Header(
        *(batch.number, batch.num_vertices, batch.run.size, len(batch.ids), text, nbytes),
        *(synced, previous, digest.intdigest()),
    )
    fields = _FIELDS.pack(MAGIC, *header)
    return header, [fields + _SUM.pack(xxhash.xxh3_64_intdigest(fields)), *parts]


def decoded_header(data: Any) -> Header | None:
    """The header at the beginning of bytes, None for a missing or damaged one."""
    if len(data) < HEADER or bytes(data[: len(MAGIC)]) != MAGIC:
        return None
    if _SUM.unpack_from(data, _FIELDS.size)[0] != xxhash.xxh3_64_intdigest(data[: _FIELDS.size]):
        return None
    return Header(*_FIELDS.unpack_from(data)[1:])


def decoded(schema: Schema, header: Header, payload: bytearray) -> Batch | None:
    """The batch of a record, whose tensors are the memory of the payload; None where that is damaged."""
    if not is_whole(header, payload):
        return None
    dtypes = (torch.int64, *schema.columns.values())
    sizes = [header.changes * dtype.itemsize for dtype in dtypes]
    begins = list(itertools.accumulate((size + -size % 8 for size in sizes), initial=0))
    changes, *data = (
        torch.frombuffer(payload, dtype=dtype, count=header.changes, offset=begin)
        if header.changes
        else torch.empty(0, dtype=dtype)
        for dtype, begin in zip(dtypes, begins, strict=False)
    )
    ids = decoded_ids(payload, begins[-1], header.ids, header.text)
    run = Run(changes, tuple(data), header.num_vertices)
    return Batch(header.number, header.num_vertices, run, ids)


def is_whole(header: Header, payload: Any) -> bool:
    """Whether these bytes are the payload of a record."""
    return len(payload) == header.nbytes and xxhash.xxh3_64_intdigest(payload) == header.checksum


def encoded_ids(ids: Ids) -> tuple[list[Any], int]:
    """The bytes of ids in parts, and `Header.text`. Raises ArgumentError for ids that are neither integers nor text."""
    if isinstance(ids, Tensor):
        return [as_bytes(ids.contiguous())], 0
    if wrong := [label for label in ids if not isinstance(label, str)]:
        said = f"ids: a file holds integers or text, not the label {wrong[0]!r}; convert the labels to text"
        raise ArgumentError(said)
    words = [label.encode("utf-8", "surrogatepass") for label in ids]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    return [lengths.view(np.uint8).data, b"".join(words)], 1 + int(lengths.sum())


def decoded_ids(data: Any, begin: int, count: int, text: int) -> Ids:
    """The ids that were encoded, from byte `begin`."""
    numbers = np.frombuffer(data, np.int64, count, begin)
    if not text:
        return torch.from_numpy(numbers.copy())
    start = begin + 8 * count
    ends = (start + np.cumsum(numbers)).tolist()
    return [
        bytes(data[first:last]).decode("utf-8", "surrogatepass")
        for first, last in zip([start, *ends], ends, strict=False)
    ]
