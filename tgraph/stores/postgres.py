"""Tensors in tables of a PostgreSQL database."""

from __future__ import annotations

import contextlib
import functools
import os
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tgraph.stores.blocks import Stat, check_version
from tgraph.stores.keyvalue import NewVersion, Wanted, client
from tgraph.stores.server import ServerStore, named

T = TypeVar("T")
# Seconds: a silent server is detected after half a minute.
OPTIONS = {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4}
# Messages of a server to a client that connects while it stops or starts; libpq gives no code.
PASSING = ("shutting down", "starting up", "terminating connection")
TABLES = """
CREATE TABLE IF NOT EXISTS {heads} (key text COLLATE "C" PRIMARY KEY, version uuid NOT NULL, head bytea NOT NULL);
CREATE TABLE IF NOT EXISTS {blocks} (version uuid, number int4, value bytea NOT NULL, PRIMARY KEY (version, number));
ALTER TABLE {blocks} ALTER COLUMN value SET STORAGE EXTERNAL, SET (toast_tuple_target = 4080);
"""


class PostgresStore(ServerStore):
    """Tensors in two tables of a PostgreSQL database, postgresql://user:password@host:port/database, with the options
    of libpq; without a password in the URL, by PGPASSWORD of the environment or libpq's password file. See ServerStore
    for the arguments and errors.

    A put is one transaction. The space of replaced versions is reused after the server's VACUUM.

    >>> from tgraph import stores
    >>> store = stores.PostgresStore("postgresql://user@localhost:5432/papers")
    >>> store.put("x", torch.zeros(3, 2))
    >>> store.keys()
    ['x']
    """

    def _start(self) -> None:
        self._errors = _psycopg().Error
        try:
            self._options()
        except self._errors as fault:
            raise ValueError(str(fault)) from None
        self._idle: dict[int, list[Any]] = defaultdict(list)  # connections, by process

    def _options(self) -> dict[str, Any]:
        return OPTIONS | _psycopg().conninfo.conninfo_to_dict(self.address.url)

    def _prepare(self) -> None:
        def prepare(connection: Any) -> None:
            if connection.execute("SELECT to_regclass(%s)", [self._blocks]).fetchone()[0] is None:
                with connection.transaction():
                    self._lock(connection, "")
                    connection.execute(TABLES.format(heads=self._heads, blocks=self._blocks))

        self._connected(prepare)

    def _is_lost(self, fault: Exception) -> bool:
        psycopg = _psycopg()
        if isinstance(fault, (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory, psycopg.errors.IoError)):
            return False  # a repeated request would get the same answer
        failed = getattr(fault, "pgconn", None)  # of a failed connection
        denied = failed and (failed.used_password or failed.needs_password) and not any(map(str(fault).count, PASSING))
        return isinstance(fault, psycopg.OperationalError) and not denied

    def _delete(self, key: str) -> bool:
        def remove(connection: Any) -> bool:
            with connection.transaction():
                self._lock(connection, key)
                version = self._version(connection, key)
                connection.execute(f"DELETE FROM {self._heads} WHERE key = %s", [key])
                connection.execute(f"DELETE FROM {self._blocks} WHERE version = %s", [version])
            return version is not None

        return self._request(key, remove)

    def _keys(self, beginning: str) -> list[str]:
        query = f"SELECT key FROM {self._heads} WHERE starts_with(key, %s) ORDER BY key"
        return [key for (key,) in self._fetched(beginning, query, beginning)]

    def _heads_of(self, keys: Sequence[str]) -> list[bytes | None]:
        query = f"SELECT key, head FROM {self._heads} WHERE key = ANY(%s)"
        found = dict(self._fetched(named(keys), query, list(keys)))
        return [found.get(key) for key in keys]

    def _values(self, wanted: Wanted) -> list[bytes | None]:
        def request(connection: Any) -> list[dict[int, bytes]]:
            with contextlib.ExitStack() as held:
                if len(wanted) > 1:
                    held.enter_context(connection.pipeline())
                cursors = [connection.execute(*self._select(*each), binary=True) for each in wanted]
                return [dict(cursor.fetchall()) for cursor in cursors]

        found = self._request(named(stat.key for stat, _ in wanted), request)
        return [each.get(number) for each, (_, numbers) in zip(found, wanted, strict=True) for number in numbers]

    def _select(self, stat: Stat, numbers: Sequence[int]) -> tuple[str, list[Any]]:
        """The query for blocks of a version."""
        query = f"SELECT number, value FROM {self._blocks} WHERE version = %s AND number"
        version = uuid.UUID(stat.version)
        if isinstance(numbers, range) and numbers.step == 1:
            return f"{query} BETWEEN %s AND %s", [version, numbers[0], numbers[-1]]
        # as text: psycopg's conversion of a list of numbers takes longer than the whole request
        return f"{query} = ANY(%s::int4[])", [version, f"{{{','.join(map(str, numbers))}}}"]

    def _replace(self, new: NewVersion, replacing: Stat | None) -> None:
        self._request(new.stat.key, lambda connection: self._attempt(connection, new, replacing))

    def _attempt(self, connection: Any, new: NewVersion, replacing: Stat | None) -> None:
        """Write a version, unless a previous attempt, with a lost answer, has written it."""
        key, version = new.stat.key, uuid.UUID(new.stat.version)
        if self._version(connection, key) == version:
            return
        with connection.transaction(), connection.cursor() as cursor:
            copied = f"COPY {self._blocks} (version, number, value) FROM STDIN (FORMAT BINARY)"
            with cursor.copy(copied) as copy:
                copy.set_types(["uuid", "int4", "bytea"])
                for blocks in new.chunks():
                    for number, value in blocks:
                        copy.write_row((version, number, value))
            self._lock(connection, key)
            present = self._version(connection, key)
            check_version(key, None if present is None else present.hex, replacing)
            cursor.execute(f"DELETE FROM {self._blocks} WHERE version = %s", [present])
            cursor.execute(
                f"INSERT INTO {self._heads} VALUES (%s, %s, %s) "
                "ON CONFLICT (key) DO UPDATE SET version = EXCLUDED.version, head = EXCLUDED.head",
                [key, version, new.head],
            )

    def _lock(self, connection: Any, name: str) -> None:
        """Wait for other transactions on this name."""
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{self._heads}/{name}"])

    def _version(self, connection: Any, key: str) -> uuid.UUID | None:
        found = connection.execute(f"SELECT version FROM {self._heads} WHERE key = %s", [key]).fetchone()
        return found and found[0]

    def _fetched(self, key: str, query: str, *values: Any) -> list[Any]:
        return self._request(key, lambda connection: connection.execute(query, values, binary=True).fetchall())

    def _request(self, key: str, request: Callable[[Any], T]) -> T:
        return self._ask(key, lambda: self._connected(request))

    def _connected(self, request: Callable[[Any], T]) -> T:
        """The answer to a request, by a connection of this process that no other thread uses meanwhile."""
        idle = self._idle[os.getpid()]
        connection = idle.pop() if idle else _psycopg().connect(**self._options(), autocommit=True)
        try:
            return request(connection)
        finally:
            if connection.info.transaction_status == _psycopg().pq.TransactionStatus.IDLE:
                idle.append(connection)
            else:
                connection.close()
                self._close()  # idle connections are lost as well

    def _close(self) -> None:
        idle = self._idle[os.getpid()]
        while idle:
            idle.pop().close()

    @property
    def _heads(self) -> str:
        return f"{self.prefix}_heads"

    @property
    def _blocks(self) -> str:
        return f"{self.prefix}_blocks"

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # after a failed constructor
            self._close()


_psycopg = functools.partial(client, "psycopg", "PostgresStore", "postgres")
