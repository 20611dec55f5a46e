"""What stores behind a server share: addresses whose text has no password, and requests that are repeated."""

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
VARIABLES = "REDISCLI_AUTH", "PGPASSWORD"  # of the environment, which the clients of the servers read


class Address:
    """The URL of a server. What is printed of it leaves out the password, beside the user or in the query.

    Raises ArgumentError where it is not clear what of the URL is the password.
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
        """A text in which *** stands for each password."""
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
    """A store behind a server.

    url : of the server; a password comes from it, or from the environment. prefix : of the names of all that is stored;
    stores of several prefixes can share a server. patience : seconds for which a request whose connection is lost is
    repeated, with growing pauses. Stores are pickled, with the URL, and connect anew in other processes and threads.
    Raises ArgumentError for a URL or prefix that cannot be, ServerError where the server does not answer.
    """

    _errors: type[Exception]  # of the client
    address: Address
    prefix: str
    patience: float
    place: str

    def __init__(self, url: str, prefix: str = "tgraph", patience: float = PATIENCE):
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", prefix):
            raise ArgumentError(f"prefix: expected small letters, digits and _, a letter first, got {prefix!r}")
        self.address, self.prefix, self.patience = Address(url), prefix, patience
        self.place = str(self.address)
        try:
            self._start()
        except ValueError as fault:
            said = self.address.without_secrets(str(fault))
            raise ArgumentError(f"url: {self.place} is no address of a server: {said}") from None
        self._once(None, self._prepare)

    @abstractmethod
    def _start(self) -> None:
        """Make what connects, at the first request. Raises ValueError for a URL that cannot be."""

    @abstractmethod
    def _prepare(self) -> None:
        """See that the server answers, and has what the store needs."""

    @abstractmethod
    def _is_lost(self, fault: Exception) -> bool:
        """Whether the error of a request is of a kind that passes, such as a connection that was lost."""

    def _ask(self, key: str, request: Callable[[], T]) -> T:
        """The answer to a request about a key. Raises ServerError where it is refused, or its connection is lost until
        the patience ends."""
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
        # here, so that the client's error, which might have the password, is not printed with this one
        raise ServerError(self.place, key, said, lost, tries)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"
