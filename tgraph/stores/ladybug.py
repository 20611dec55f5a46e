"""The tables of a Ladybug database (the successor of Kùzu), read as the tensors of a store."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.io.arrow import to_tensor
from tgraph.stores.blocks import BLOCK, BlockStore, Stat, check_blocks, check_key, row_bytes
from tgraph.stores.ids import Ids
from tgraph.stores.keyvalue import client
from tgraph.stores.names import from_key, to_key

_DTYPES = {
    "BOOL": torch.bool,
    "DOUBLE": torch.float64,
    "FLOAT": torch.float32,
    "INT8": torch.int8,
    "UINT8": torch.uint8,
}
_DTYPES |= {"INT16": torch.int16, "INT32": torch.int32, "UINT16": torch.int32}
_DTYPES |= dict.fromkeys(("INT64", "UINT32", "UINT64", "SERIAL", "DATE", "TIMESTAMP"), torch.int64)
_FEATURES, _EDGES, _CSC = "features", "edges", "csc"
_OF_PARENTS: list[Any] = []
_FEW = 4  # cost of a row by look-up, relative to a row in a scan


class LadybugStore(BlockStore):
    """A Ladybug database, read only: node tables are types of vertices, relationship tables types of edges, and numeric
    properties, also fixed arrays, their features, for FeatureStore and GraphStore.

        store = LadybugStore("papers.lbug")
        loader = NeighborLoader((FeatureStore(store), GraphStore(store)), [15, 10], input_nodes="paper")

    Vertices are numbered in the order of the database; `ids` has their primary keys. Edges and their properties are
    queried once, by Cypher, and cached in memory as CSC: after a few batches, hops by Cypher would take longer. Rows of
    vertices are looked up by primary key, or scanned where many are wanted. A store does not see later changes.

    path : of the database, not open for writing in another process.
    Raises MissingDependencyError where the package ladybug is not installed.

    >>> import ladybug
    >>> from tgraph.stores import LadybugStore
    >>> with ladybug.Database("papers.lbug") as database, ladybug.Connection(database) as connection:
    ...     connection.execute("CREATE NODE TABLE paper(doi STRING PRIMARY KEY, year INT64)").close()
    ...     connection.execute("CREATE (:paper {doi: 'a', year: 1999}), (:paper {doi: 'b', year: 2005})").close()
    >>> store = LadybugStore("papers.lbug")
    >>> store.get_rows(store.stat("features/paper/year")).sort().values
    tensor([1999, 2005])
    """

    def __init__(self, path: PathLike):
        self.path: str = os.fspath(path)
        self._process: int | None = None
        self._connection: Any = None
        self._vertices: dict[str, _Vertices] = {}
        self._cache: dict[str, Tensor] = {}
        self._properties: dict[str, dict[str, str]] = {}
        tables = self._query("CALL show_tables() RETURN name, type")
        for name, kind in zip(tables["name"].to_pylist(), tables["type"].to_pylist(), strict=True):
            info = self._query(f"CALL table_info({_text(name)}) RETURN *")
            types = dict(zip(info["name"].to_pylist(), info["type"].to_pylist(), strict=True))
            if kind == "NODE":
                key = info["name"].to_pylist()[info["primary key"].to_pylist().index(True)]
                self._vertices[name] = _Vertices(key, types[key])
                self._properties[to_key(name)] = types
                continue
            ends = self._query(f"CALL show_connection({_text(name)}) RETURN *")
            for source, target in zip(ends[0].to_pylist(), ends[1].to_pylist(), strict=True):
                self._properties[to_key((source, name, target))] = types

    def ids(self, group: str) -> Ids:
        """The primary keys of the vertices of a type, the `group`, text or integers. Raises ArgumentError for other
        types.

        >>> import ladybug
        >>> from tgraph.stores import LadybugStore
        >>> with ladybug.Database("papers.lbug") as database, ladybug.Connection(database) as connection:
        ...     connection.execute("CREATE NODE TABLE paper(doi STRING PRIMARY KEY)").close()
        ...     connection.execute("CREATE (:paper {doi: 'a'}), (:paper {doi: 'b'})").close()
        >>> sorted(LadybugStore("papers.lbug").ids("paper").of([0, 1]))
        ['a', 'b']
        """
        if group not in self._vertices:
            raise ArgumentError(f"group: the database has no node table {group!r}, only {list(self._vertices)}")
        ids = Ids()
        ids.add(self._numbered(group).keys)
        return ids

    def put(
        self, key: str, tensor: Tensor, notes: Mapping[str, str] | None = None, replacing: Stat | None = None
    ) -> None:
        """Raises ArgumentError: tables are written by Cypher."""
        raise ArgumentError(f"{key}: the database is open for reading; write tables by Cypher, COPY for instance")

    def delete(self, key: str) -> bool:
        """Raises ArgumentError: tables are written by Cypher."""
        raise ArgumentError(f"{key}: the database is open for reading; change tables by Cypher")

    def keys(self, beginning: str = "") -> list[str]:
        found = []
        for group, types in self._properties.items():
            if isinstance(from_key(group)[0], tuple):
                found.append(f"{_EDGES}/{group}/{_CSC}")
            found += [f"{_FEATURES}/{group}/{to_key(name)}" for name, kind in types.items() if _parsed(kind)]
        return sorted(key for key in found if key.startswith(beginning))

    def stat(self, key: str) -> Stat | None:
        if check_key(key) not in self.keys(key):
            return None
        folder, group, name = key.split("/")
        kind = from_key(group)[0]
        notes: dict[str, str] = {}
        dtype, width = (folder == _FEATURES and _parsed(self._properties[group][from_key(name)[0]])) or (
            torch.int64,
            (),
        )
        size = len(self._numbered(kind).offset) if isinstance(kind, str) else self._count(kind)
        if folder == _EDGES:
            ends = [len(self._numbered(end).offset) for end in kind[::2]]
            notes = {"split": str(size), "sorted": "true", "size": json.dumps(ends)}
            size += ends[1] + 1
        rows = max(1, BLOCK // max(1, row_bytes(dtype, (size, *width))))
        return Stat(key, dtype, (size, *width), rows, "1", notes)

    def get_blocks(self, stat: Stat, numbers: Sequence[int]) -> list[Tensor]:
        check_blocks(stat, numbers)
        size = stat.shape[0]
        rows = [torch.arange(number * stat.rows, min(size, (number + 1) * stat.rows)) for number in numbers]
        return list(self._rows(stat, torch.cat(rows)).split([len(row) for row in rows])) if rows else []

    def _rows(self, stat: Stat, index: Tensor | None) -> Tensor:
        folder, group, name = stat.key.split("/")
        kind = from_key(group)[0]
        if isinstance(kind, str):
            return self._of_vertices(kind, from_key(name)[0], stat, index)
        if stat.key not in self._cache:
            self._cache[stat.key] = self._of_edges(kind, None if folder == _EDGES else from_key(name)[0])
        found = self._cache[stat.key]
        return found if index is None else found[index]

    def _of_vertices(self, group: str, name: str, stat: Stat, index: Tensor | None) -> Tensor:
        """Rows of a property: looked up by primary key, or by a scan of all."""
        held = self._numbered(group)
        table, column = _quoted(group), _quoted(name)
        looks_up = index is not None and held.key_type in ("INT64", "STRING", "SERIAL")
        if index is None or not looks_up or _FEW * len(index) > len(held.offset):
            found = self._query(f"MATCH (v:{table}) RETURN offset(id(v)) AS at, v.{column} AS value ORDER BY at")
            values = to_tensor(found["value"], name)
            return values if index is None else values[index]
        different, inverse = index.unique(return_inverse=True)
        keys = held.keys.take(different.numpy()).to_pylist()
        match = f"UNWIND $keys AS k MATCH (v:{table} {{{_quoted(held.key)}: k}})"
        found = self._query(f"{match} RETURN offset(id(v)) AS at, v.{column} AS value", {"keys": keys})
        values = to_tensor(found["value"], name)
        place = torch.searchsorted(different, held.numbers(to_tensor(found["at"], "at")))
        return torch.empty((len(keys), *stat.shape[1:]), dtype=stat.dtype).index_copy_(0, place, values)[inverse]

    def _of_edges(self, kind: tuple[str, str, str], name: str | None) -> Tensor:
        """A property of the edges in the order of CSC; or row and colptr, concatenated."""
        source, target = self._numbered(kind[0]), self._numbered(kind[2])
        returned = "" if name is None else f", e.{_quoted(name)} AS value"
        found = self._query(
            f"{_pattern(kind)} RETURN offset(id(s)) AS s, offset(id(t)) AS t, offset(id(e)) AS number{returned}"
        )
        row, col = source.numbers(to_tensor(found["s"], "s")), target.numbers(to_tensor(found["t"], "t"))
        order = to_tensor(found["number"], "number").argsort()
        order = order[col[order].argsort(stable=True)]
        if name is not None:
            return to_tensor(found["value"], name)[order]
        return torch.cat((row[order], offset_of(col.bincount(minlength=len(target.offset)))))

    def _count(self, kind: tuple[str, str, str]) -> int:
        return self._query(f"{_pattern(kind)} RETURN count(*) AS size")["size"][0].as_py()

    def _numbered(self, group: str) -> _Vertices:
        """The vertices of a type; queried once."""
        held = self._vertices[group]
        if held.offset is None:
            table, key = _quoted(group), _quoted(held.key)
            found = self._query(f"MATCH (v:{table}) RETURN offset(id(v)) AS at, v.{key} AS key ORDER BY at")
            held = held._replace(offset=to_tensor(found["at"], "at"), keys=found["key"])
            self._vertices[group] = held
        return held

    def _query(self, cypher: str, values: dict[str, Any] | None = None) -> Any:
        """The result as a table of pyarrow, by a connection of this process: a fork opens its own."""
        if self._process != os.getpid():
            ladybug = client("ladybug", "LadybugStore", "ladybug")
            if self._connection is not None:
                _OF_PARENTS.append(self._connection)  # closing it would wait for threads missing in a fork
            database = ladybug.Database(self.path, read_only=True)
            self._process, self._connection = os.getpid(), ladybug.Connection(database)
        return self._connection.execute(cypher, values or {}).get_as_arrow()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_process": None, "_connection": None}

    def __repr__(self) -> str:
        return f"LadybugStore({self.path!r})"


class _Vertices(NamedTuple):
    """A node table. key, key_type : its primary key. offset : int64 [n], the database's offset of each vertex,
    ascending. keys : of each, a column of pyarrow."""

    key: str
    key_type: str
    offset: Any = None
    keys: Any = None

    def numbers(self, offset: Tensor) -> Tensor:
        """The numbers of vertices by the database's offsets, which have gaps after deletions."""
        return torch.searchsorted(self.offset, offset)


def _parsed(kind: str) -> tuple[torch.dtype, tuple[int, ...]] | None:
    """The dtype of a property, and the shape of its arrays; None for types without a dtype."""
    found = re.fullmatch(r"(\w+)((?:\[\d+\])*)", kind)
    if found is None or found[1] not in _DTYPES:
        return None
    return _DTYPES[found[1]], tuple(int(size) for size in reversed(re.findall(r"\d+", found[2])))


def _pattern(kind: tuple[str, str, str]) -> str:
    source, name, target = map(_quoted, kind)
    return f"MATCH (s:{source})-[e:{name}]->(t:{target})"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
