"""Ctrl-C while modules are imported, which some lose: they clear errors that they do not expect."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tgraph.cli.saying import say


def _leave(*received: Any) -> None:
    say("tgraph: interrupted", err=True)
    os._exit(130)


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """A context that an interrupt ends with the process, as long as no `work_begins`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        work_begins()


def work_begins() -> None:
    """From here on an interrupt is an exception, by which files that are being written are removed."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
