"""Ctrl-C at a command, from its first imports, some of which lose it by clearing errors that they do not expect."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def leave(*received: Any) -> None:
    """End the process at once, with one line on standard error and the code 130."""
    os.write(2, b"tgraph: interrupted\n")
    os._exit(130)


def leave_at_once() -> None:
    """From here on an interrupt ends the process, unless interrupts are ignored or another one handles them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def work_begins() -> None:
    """From here on an interrupt is an exception, by which files that are being written are removed."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """A context around a command: an interrupt before its work begins, after its end, and while another one is
    heeded, ends the process."""
    leave_at_once()
    try:
        yield
    except KeyboardInterrupt:
        leave()
    finally:
        leave_at_once()
