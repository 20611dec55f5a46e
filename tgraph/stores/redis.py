"""Tensors in a Redis or Valkey server."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any

from tgraph.stores.blocks import Stat, check_version
from tgraph.stores.keyvalue import NewVersion, Wanted, client
from tgraph.stores.server import ServerStore, named

LEASE = 300  # seconds without progress after which the server removes the blocks of an unfinished put
KEEP = 10  # seconds for which a replaced version stays readable
TIMEOUT = 30.0  # seconds for an answer


class RedisStore(ServerStore):
    """Tensors in a Redis or Valkey server, redis://user:password@host:port/database, or rediss:// with TLS; without a
    password in the URL, by REDISCLI_AUTH of the environment. See ServerStore for the arguments and errors.

    All heads are in one hash, the blocks of a version in another, which expires unless its put is completed: the server
    removes the blocks of killed processes. The end of a put is one transaction.

    >>> from tgraph import stores
    >>> store = stores.RedisStore("redis://localhost:6379/0", prefix="papers")
    >>> store.put("x", torch.zeros(3, 2))
    >>> store.keys()
    ['x']
    """

    def _start(self) -> None:
        redis = _redis()
        once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        options = {"password": os.environ.get("REDISCLI_AUTH"), "socket_timeout": TIMEOUT, "protocol": 2, "retry": once}
        self._errors, self._client = redis.RedisError, redis.Redis.from_url(self.address.url, **options)

    def _prepare(self) -> None:
        self._client.ping()

    def _is_lost(self, fault: Exception) -> bool:
        redis = _redis()
        denied = isinstance(fault, (redis.AuthenticationError, redis.exceptions.AuthorizationError))
        return isinstance(fault, (redis.ConnectionError, redis.TimeoutError)) and not denied

    def _delete(self, key: str) -> bool:
        def remove(pipe: Any) -> bool:
            head = pipe.hget(self._heads, key)
            present = self._present(key, head)
            pipe.multi()
            pipe.hdel(self._heads, key)
            if present is not None:
                pipe.unlink(self._blocks(present))
            return head is not None

        return self._ask(key, lambda: self._client.transaction(remove, self._heads, value_from_callable=True))

    def _keys(self, beginning: str) -> list[str]:
        found = self._ask(beginning, lambda: self._client.hkeys(self._heads))
        return sorted(key for key in map(bytes.decode, found) if key.startswith(beginning))

    def _heads_of(self, keys: Sequence[str]) -> list[bytes | None]:
        return self._ask(named(keys), lambda: self._client.hmget(self._heads, list(keys)) if keys else [])

    def _values(self, wanted: Wanted) -> Iterator[bytes | None]:
        def request() -> list[list[bytes | None]]:
            pipe = self._client.pipeline(transaction=False)
            for stat, numbers in wanted:
                pipe.hmget(self._blocks(stat.version), list(numbers))
            return pipe.execute()

        return itertools.chain.from_iterable(self._ask(named(stat.key for stat, _ in wanted), request))

    def _replace(self, new: NewVersion, replacing: Stat | None) -> None:
        self._ask(new.stat.key, lambda: self._attempt(new, replacing))

    def _attempt(self, new: NewVersion, replacing: Stat | None) -> None:
        """Write a version, unless a previous attempt, with a lost answer, has written it."""
        stat, blocks = new.stat, self._blocks(new.stat.version)

        def complete(pipe: Any) -> None:
            present = self._present(stat.key, pipe.hget(self._heads, stat.key))
            check_version(stat.key, present, replacing)
            if pipe.hlen(blocks) != stat.num_blocks:
                raise _redis().ConnectionError("the server has lost the blocks of this put")
            pipe.multi()
            pipe.persist(blocks)
            pipe.hset(self._heads, stat.key, new.head)
            if present is not None:
                pipe.expire(self._blocks(present), KEEP)

        if self._present(stat.key, self._client.hget(self._heads, stat.key)) == stat.version:
            return
        try:
            self._client.unlink(blocks)
            for some in new.chunks():
                pipe = self._client.pipeline()  # a transaction: blocks without an expiry would stay
                pipe.hset(blocks, mapping=dict(some)).expire(blocks, LEASE).execute()
            self._client.transaction(complete, self._heads, blocks)
        except Exception as fault:
            if not self._is_lost(fault):
                self._client.unlink(blocks)
            raise

    @property
    def _heads(self) -> str:
        return f"{self.prefix}:heads"

    def _blocks(self, version: str) -> str:
        return f"{self.prefix}:{version}"


_redis = functools.partial(client, "redis", "RedisStore", "redis")
