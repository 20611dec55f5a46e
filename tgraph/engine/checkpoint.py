"""Checkpoints: the state of a run, written to disk at intervals, to resume a killed run.

A checkpoint holds the vertex data, the frontier, the number of iterations done, and the state of the program
(`Program.state`); to identify the run, the program with its parameters and a digest of the graph. It is a
safetensors file, written atomically, with a checksum of every byte.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.engine import identity
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike, checksummed, pytree
from tgraph.files.atomic_write import remove_leftovers
from tgraph.model.program import Program

_FORMAT, _VERSION = "tgraph checkpoint", "1"
REMEDY = "delete the file to begin the run again, or name another path"


@dataclass(frozen=True)
class Checkpoint:
    """The file and interval of the checkpoints of a run, for `tgraph.run`.

    path : a file of this run alone. Where it exists, the run resumes from it.
    seconds : how long to compute between two writes; 0 writes after every iteration.

    The file is deleted once the run is finished. After NotConvergedError it stays, so that a run with more iterations
    resumes from it. A failed write is a warning: the run continues, and the last written state stays.

    >>> keep = tg.Checkpoint("ranks.ckpt", seconds=60)
    >>> graph = tg.generators.star(4)
    >>> tg.run(tg.algorithms.PageRank(), graph, checkpoint=keep).converged
    True
    """

    path: PathLike
    seconds: float = 30.0


def keeper_of(checkpoint: Checkpoint | PathLike, program: Program, graph: Graph) -> Keeper:
    """The keeper of the checkpoint of a run."""
    if graph.layout is None or not graph.layout.is_distributed:
        return Keeper(checkpoint, program, graph)
    assert spread_keeper is not None, "tgraph.distributed sets it"
    return spread_keeper(checkpoint, program, graph)


class Keeper:
    """The checkpoint of one run: made before the program's `init`, `begin` after it."""

    path: Path

    def __init__(self, checkpoint: Checkpoint | PathLike, program: Program, graph: Graph):
        if not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(_as_path(checkpoint))
        self.path, self._seconds = Path(_as_path(checkpoint.path)), checkpoint.seconds
        if isinstance(self._seconds, bool) or not isinstance(self._seconds, (int, float)) or not self._seconds >= 0:
            raise ArgumentError(f"checkpoint: seconds must be a number from 0 on, got {self._seconds!r}")
        if self.path.is_dir() or not self.path.absolute().parent.is_dir():
            why = "a folder" if self.path.is_dir() else f"no folder {self.path.parent}"
            raise ArgumentError(f"checkpoint: {self.path} cannot be written: {why}; name a file in a folder")
        self._program, self._graph = program, graph
        self._given = list(getattr(program, "__dict__", {}).values())
        self._versions = {id(value): value._version for value in self._given if _counts_writes(value)}
        self._owner: dict[str, str] = {}
        self._latest: Callable[[], dict[str, Any]] | None = None
        self._due = 0.0

    def begin(self, values: Any) -> dict[str, Any] | None:
        """The state saved by an earlier run, or None. `values`: the initial vertex data.

        Raises FileFormatError for a file that is damaged or no checkpoint; ArgumentError for a checkpoint of another
        run, with the difference, and for dtypes without a file format.
        """
        tensors: dict[str, Tensor] = {}
        pytree.encode([values, self._changing(self._program.state())], tensors)
        for tensor in tensors.values():
            if tensor.dtype not in checksummed.DTYPE_NAMES:
                raise ArgumentError(f"checkpoint: files hold no tensors of {tensor.dtype}; use torch.float64")
        owner = identity.parameters(self._program, self._given, self._hashed)
        self._owner = dict(identity.digest(self._graph)) | dict(owner) | {"its vertex data": _shapes(values)}
        self._due = time.monotonic() + self._seconds
        return self._load() if self._exists() else None

    def _exists(self) -> bool:
        return self.path.exists()

    def _hashed(self, tensor: Tensor) -> str:
        """The digest of a parameter."""
        return identity.hash_of(tensor)

    def _load(self) -> dict[str, Any]:
        tensors, notes = checksummed.read(self.path, REMEDY)
        if notes.get("format") != _FORMAT:
            raise FileFormatError(self.path, "the file is no checkpoint", REMEDY)
        if notes["version"] != _VERSION:
            problem = f"format version {notes['version']} where this tgraph has {_VERSION}"
            raise FileFormatError(self.path, problem, REMEDY)
        owner = json.loads(notes["owner"])
        for name in [*self._owner, *owner]:
            then, now = owner.get(name, "missing"), self._owner.get(name, "missing")
            if then != now:
                raise ArgumentError(
                    f"checkpoint: {self.path} is of another run: {name} was {then} there and is {now} here; {REMEDY}"
                )
        return pytree.decode(json.loads(notes["state"]), self._completed(tensors, notes), self._graph.device)

    def _completed(self, tensors: dict[str, Tensor], notes: dict[str, str]) -> dict[str, Tensor]:
        """The tensors of a checkpoint, from the tensors of its file and its metadata."""
        return tensors

    def offer(self, latest: Callable[[], dict[str, Any]]) -> None:
        """Register the present state, and write it once the interval is over; called between iterations."""
        self._latest = latest
        if self._is_due():
            self.save()

    def _is_due(self) -> bool:
        return time.monotonic() >= self._due

    def save(self) -> None:
        """Write the state of the last `offer`. A failed write is a warning."""
        if self._latest is None:
            return
        latest, tensors = self._latest(), dict[str, Tensor]()
        latest["program"] = self._changing(latest["program"])
        form = json.dumps(pytree.encode(latest, tensors))
        notes = {"format": _FORMAT, "version": _VERSION, "owner": json.dumps(self._owner), "state": form}
        try:
            self._write(tensors, notes)
        except OSError as fault:
            kept = "the last one stays" if self.path.exists() else "there is none yet"
            warnings.warn(f"checkpoint not written, {kept}, and the run goes on: {fault}", stacklevel=2)
        self._due = time.monotonic() + self._seconds

    def _write(self, tensors: dict[str, Tensor], notes: dict[str, str]) -> None:
        """Write the file. Raises OSError."""
        checksummed.write(self.path, tensors, notes)

    def _changing(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state of the program without unchanged parameter tensors, which the resuming program has."""
        return {
            name: value
            for name, value in state.items()
            if not (_counts_writes(value) and self._versions.get(id(value)) == value._version)
        }

    def finish(self) -> None:
        """Delete the checkpoint of a run that is finished."""
        self.path.unlink(missing_ok=True)
        remove_leftovers(self.path, "part")


def _as_path(path: Any) -> PathLike:
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"checkpoint: expected a path or a tgraph.Checkpoint, got {path!r}")
    return path


def _counts_writes(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_inference()


def _shapes(values: Any) -> str:
    tensors = list(values.values()) if isinstance(values, dict) else [values]
    shapes = [f"{tensor.dtype} {list(tensor.shape)}" for tensor in tensors]
    return ", ".join([*map(str, values), *shapes] if isinstance(values, dict) else shapes)


# The keeper of runs on graphs spread over processes; set by `tgraph.distributed`, a higher layer.
spread_keeper: type[Keeper] | None = None
