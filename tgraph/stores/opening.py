"""Stores by URL."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tgraph.errors import ArgumentError
from tgraph.stores.blocks import BlockStore
from tgraph.stores.disk import DiskStore
from tgraph.stores.ladybug import LadybugStore
from tgraph.stores.lmdb import LmdbStore
from tgraph.stores.memory import MemoryStore
from tgraph.stores.postgres import PostgresStore
from tgraph.stores.redis import RedisStore
from tgraph.stores.rocksdb import RocksDbStore

# {scheme: constructor}, of the rest of the text; of a server, of the whole URL.
Stores = dict[str, Callable[..., BlockStore]]
_FOLDERS: Stores = {"disk": DiskStore, "ladybug": LadybugStore, "lmdb": LmdbStore, "rocksdb": RocksDbStore}
_SERVERS: Stores = {"redis": RedisStore, "rediss": RedisStore, "postgresql": PostgresStore, "postgres": PostgresStore}


def open(url: str, **options: Any) -> BlockStore:
    """The store of a `url`: memory:, a folder of files, lmdb:folder, rocksdb:folder, ladybug:path,
    redis://user:password@host:port/database, or postgresql://user:password@host:port/database.

    Passwords come from the URL or the environment: REDISCLI_AUTH, PGPASSWORD. The `options` are those of the store's
    class, such as the `prefix` of a server's.

    Raises ArgumentError for another beginning, MissingDependencyError where a package is not installed, ServerError
    where a server does not answer.

    >>> from tgraph import stores
    >>> store = stores.open("folder")
    >>> type(store).__name__, type(stores.open("memory:")).__name__
    ('DiskStore', 'MemoryStore')
    """
    found = re.match(r"(\w\w+):(//)?", url)  # a single letter is a drive of Windows
    if found is None:
        return DiskStore(url, **options)
    kind = found[1]
    if url == "memory:":
        return MemoryStore(**options)
    if found[2] and kind in _SERVERS:
        return _SERVERS[kind](url, **options)
    if not found[2] and kind in _FOLDERS and len(url) > found.end():
        return _FOLDERS[kind](url[found.end() :], **options)
    known = ", ".join(["memory:", "a folder", *(f"{name}:folder" for name in _FOLDERS), *(f"{n}://" for n in _SERVERS)])
    raise ArgumentError(f"url: expected one of {known}, got {found[0]}...")
