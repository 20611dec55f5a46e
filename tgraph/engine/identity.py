"""The identity of a run: its program with the parameters, and a digest of the graph."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import torch
import xxhash
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.files import checksummed, pytree
from tgraph.model.program import Program, Relaxation

_CONSTANTS = (torch.dtype, torch.device, range, type)  # attributes that are parameters
_CHUNK = 1 << 24  # elements hashed at a time


def parameters(program: Program, given: list[Any], hashed: Callable[[Tensor], str]) -> Iterator[tuple[str, str]]:
    """(name, description) of a program's class and of its attributes, except the limit of iterations and tensors made
    by `init`. `given` : the attributes from before `init`; `hashed` : the digest of a tensor.
    """
    kind = type(program)
    yield "the program", f"{kind.__module__}.{kind.__qualname__}"
    for name, value in sorted(vars(program).items()):
        made = isinstance(value, Tensor) and not any(value is other for other in given)
        if name != "max_iterations" and not made and (pytree.is_plain(value) or isinstance(value, _CONSTANTS)):
            yield f"its {name}", _described(value, hashed)
    if isinstance(program, Relaxation):
        yield "its semiring", f"{program.reduce}, {program.edge}"


def _described(value: Any, hashed: Callable[[Tensor], str]) -> str:
    """The text of a value, abridged with a digest if long."""
    tensors: dict[str, Tensor] = {}
    if not isinstance(value, _CONSTANTS):
        form = pytree.encode(value.detach() if isinstance(value, Tensor) else value, tensors)
    hashes = [f"{tensor.dtype} {list(tensor.shape)} {hashed(tensor)}" for tensor in tensors.values()]
    text = ", ".join([json.dumps(form), *hashes]) if tensors else repr(value)
    return text if len(text) < 200 else f"{text[:100]}... {xxhash.xxh3_64_hexdigest(text.encode())}"


def digest(graph: Graph) -> Iterator[tuple[str, str]]:
    """(name, description) of a graph's sizes, of a hash of its arcs or of the checksums of its file, and of hashes of
    the columns that programs take by name."""
    yield "the number of vertices", str(graph.num_vertices)
    yield "the number of arcs", str(graph.num_arcs)
    yield "directed", str(graph.directed)
    yield "the digest of the graph", "".join(map(hash_of, graph.storage.identity()))
    for name, column in graph.arc_columns.items():
        if isinstance(column, Tensor):
            yield f"its column {name!r}", hash_of(column)


def hash_of(tensor: Tensor) -> str:
    """XXH3 of the bytes, 16 digits."""
    hashed, flat = xxhash.xxh3_64(), tensor.detach().contiguous().view(-1)
    for piece in flat.split(_CHUNK):
        hashed.update(checksummed.as_bytes(piece.cpu()))
    return hashed.hexdigest()
