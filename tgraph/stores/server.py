"""The base of stores on servers: addresses printed without passwords, and repeated requests."""

from __future__ import annotations

import os
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote

from tgraph.errors import ArgumentError, ServerError
from tgraph.stores.keyvalue import KeyValueStore

T = TypeVar("T")
PATIENCE = 30.0  # seconds
PAUSES = 0.05, 5.0  # seconds before a request is repeated for the first time, and at most
VARIABLES = "REDISCLI_AUTH", "PGPASSWORD"  # of the environment, read by the clients


class Address:
    """The URL of a server, printed without the password, beside the user or in the query.

    Raises ArgumentError where the password is ambiguous.
    """

    def __init__(self, url: str):
        address, _, query = url.partition("?")
        scheme, _, rest = address.partition("://")
        authority, slash, database = rest.partition("/")
        if authority.count("@") > 1 or "@" in database + query or "#" in url:
            raise ArgumentError("url: write the characters @ / ? # of a user or password as %40 %2F %3F %23")
        login, at, host = authority.rpartition("@")
        user, _, password = login.partition(":")
        self.url = url
        self._text = f"{scheme}://{user}{at if user else ''}{host}{slash}{database}"
        self._secrets = [password, unquote(password), *(value for name, value in parse_qsl(query) if "pass" in name)]

    def without_secrets(self, text: str) -> str:
        """The text with *** in place of each password."""
        secrets = {*self._secrets, *(os.environ.get(name, "") for name in VARIABLES)} - {""}
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return repr(self._text)


def named(keys: Iterable[str]) -> str:
    """Keys for an error of a request about all of them."""
    return ", ".join(dict.fromkeys(keys))


class ServerStore(KeyValueStore):
    """A store on a server.

    url : of the server; the password comes from it, or from the environment. prefix : of all names in the server, so
    that several stores can share it. patience : seconds for which a request with a lost connection is repeated, with
    growing pauses. Stores are pickled, with the URL, and connect again in other processes and threads. Raises
    ArgumentError for an invalid URL or prefix, ServerError where the server does not answer.
    """

    _errors: type[Exception]  # of the client

    def __init__(self, url: str, prefix: str = "tgraph", patience: float = PATIENCE):
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", prefix):
            raise ArgumentError(f"prefix: expected small letters, digits and _, a letter first, got {prefix!r}")
        self.address: Address = Address(url)
        self.prefix: str = prefix
        self.patience: float = patience
        self.place: str = str(self.address)
        try:
            self._start()
        except ValueError as fault:
            said = self.address.without_secrets(str(fault))
            raise ArgumentError(f"url: {self.place} is no address of a server: {said}") from None
        self._once(None, self._prepare)

    @abstractmethod
    def _start(self) -> None:
        """Create the client, which connects on first use. Raises ValueError for an invalid URL."""

    @abstractmethod
    def _prepare(self) -> None:
        """Check that the server answers, and create its tables."""

    @abstractmethod
    def _is_lost(self, fault: Exception) -> bool:
        """Whether the error of a request is transient, such as a lost connection."""

    def _ask(self, key: str, request: Callable[[], T]) -> T:
        """The answer to a request. Raises ServerError for permanent errors, or transient ones out of patience."""
        end, pause, tries = time.monotonic() + self.patience, PAUSES[0], 1
        while True:
            try:
                return self._once(key, request, tries)
            except ServerError as fault:
                if not fault.lost or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause, tries = min(2 * pause, PAUSES[1]), tries + 1

    def _once(self, key: str | None, request: Callable[[], T], tries: int = 1) -> T:
        try:
            return request()
        except self._errors as fault:
            lost = self._is_lost(fault)
            said = self.address.without_secrets(f"{type(fault).__name__}: {' '.join(str(fault).split())}")
        # outside of `except`: the client's error, which might have the password, is not chained
        raise ServerError(self.place, key, said, lost, tries)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"
