"""Calls of networkx that ran here, and calls that were left to networkx, with the reasons."""

from __future__ import annotations

import logging
from collections import Counter

logger = logging.getLogger("tgraph.networkx")

_ran: Counter[str] = Counter()
_left: Counter[tuple[str, str]] = Counter()


def ran(name: str) -> None:
    """Count a call that runs here."""
    _ran[name] += 1
    logger.debug("%s runs on tgraph", name)


def left(name: str, reason: str) -> None:
    """Count a call that is left to networkx."""
    _left[name, reason] += 1
    logger.debug("%s is left to networkx: %s", name, reason)


def explain() -> str:
    """Calls since the start or the last `forget()`: a line for each function that networkx asked for, with the
    number of calls, and the reason where they were left to networkx."""
    lines = [f"{name}: {count} on tgraph" for name, count in sorted(_ran.items())]
    lines += [f"{name}: {count} left to networkx: {reason}" for (name, reason), count in sorted(_left.items())]
    return "\n".join(lines) or "No function of networkx was called with the backend tgraph."


def calls() -> dict[str, int]:
    """The number of calls of each function that ran here."""
    return dict(_ran)


def forget() -> None:
    """Reset the counts."""
    _ran.clear()
    _left.clear()
