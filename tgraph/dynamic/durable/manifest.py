"""The manifest of a store: the files of its newest checkpoint, and its schema."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
import xxhash

from tgraph.errors import FileFormatError
from tgraph.files.atomic_write import whole_file
from tgraph.files.checksummed import DTYPE_NAMES, DTYPES
from tgraph.files.folders import MANIFEST

FORMAT = 1
NAME = MANIFEST
REMEDY = "take the folder from a copy"


@dataclass(frozen=True)
class Level:
    """Files of arcs, of a run of changes, or of ids. number : the prefix of their names. size : the count of arcs,
    changes or ids. num_vertices : n of the graph or the run."""

    number: int
    size: int
    num_vertices: int


@dataclass(frozen=True)
class Manifest:
    """The identity of a store, and its newest checkpoint.

    store : a random number. schema : the arguments that it was made with. number, num_vertices : of the version of the
    checkpoint. base : its arcs, None for none. runs : the changes since those, oldest first. ids : the file of the ids
    of vertices, None for none. last : a version that the checkpoint and the log together have reached.
    """

    store: int
    schema: dict[str, Any]
    number: int = 0
    num_vertices: int = 0
    base: Level | None = None
    runs: tuple[Level, ...] = field(default=())
    ids: Level | None = None
    last: int = 0

    @property
    def levels(self) -> list[Level]:
        """All levels in files."""
        return [level for level in (self.base, *self.runs, self.ids) if level is not None]

    def write(self, folder: Path) -> None:
        """Replace the manifest of a folder, on the disk when this returns. Raises OSError, with the bytes needed, where
        the disk is full."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
        whole = json.dumps({"checksum": _checksum(text), "manifest": text}).encode()
        with whole_file(folder / NAME, len(whole)) as file:
            file.write(whole)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder. Raises FileNotFoundError for a missing one, FileFormatError for a damaged one or
        one of another format."""
        path = folder / NAME
        try:
            whole = json.loads(path.read_bytes())
            text = whole["manifest"]
            if whole["checksum"] != _checksum(text):
                raise ValueError("its checksum differs")
            found = json.loads(text)
        except (ValueError, LookupError, TypeError, AttributeError) as fault:
            raise FileFormatError(path, f"the manifest is damaged ({fault})", REMEDY) from fault
        if (format := found.pop("format")) != FORMAT:
            raise FileFormatError(
                path,
                f"a store of version {format}, this release reads {FORMAT}",
                "open it with a newer release of tgraph",
            )
        base, ids = (None if found[name] is None else Level(**found[name]) for name in ("base", "ids"))
        runs = tuple(Level(**level) for level in found["runs"])
        return replace(cls(**found), base=base, ids=ids, runs=runs)


def _checksum(text: str) -> str:
    return xxhash.xxh3_64_hexdigest(text.encode())


def schema_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a `Store` as JSON holds them."""
    dtypes = {name: None if arguments[name] is None else DTYPE_NAMES[arguments[name]] for name in ("weights", "times")}
    data = {name: DTYPE_NAMES[dtype] for name, dtype in (arguments["arc_data"] or {}).items()}
    return arguments | dtypes | {"arc_data": data}


def arguments_of(schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a `Store`, from the JSON of `schema_of`."""
    dtypes = {name: None if schema[name] is None else DTYPES[schema[name]] for name in ("weights", "times")}
    data: dict[str, torch.dtype] = {name: DTYPES[dtype] for name, dtype in schema["arc_data"].items()}
    return schema | dtypes | {"arc_data": data}
