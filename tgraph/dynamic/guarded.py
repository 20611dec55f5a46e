"""Values behind locks."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Guarded(Generic[T]):
    """A value that only the holder of a lock gets, by `with guarded as value`: a function that takes such a value, or
    is its method, shows by its signature which lock is held. Rust's `Mutex<T>`.

    reentrant : the thread that holds the lock gets the value again, as a signal handler that closes the store does.
    """

    def __init__(self, value: T, reentrant: bool = False):
        self._value, self._lock = value, threading.RLock() if reentrant else threading.Lock()

    def __enter__(self) -> T:
        self._lock.acquire()
        return self._value

    def __exit__(self, *fault: object) -> None:
        self._lock.release()
