"""The cells of a comparison: what a system took for a kernel, and its ratio to TGraph."""

from __future__ import annotations

from typing import Any

from bench.measure import Spread, ratio


def cells_of(run: dict[str, Any], kernel: str) -> dict[str, dict[str, Any]]:
    """{system: its cell}, with blocks as a dictionary."""
    found = (cell for cell in run["cells"] if cell["kernel"] == kernel)
    return {cell["system"]: cell | {"blocks": dict(cell["blocks"])} for cell in found}


def ratio_of(peer: dict[str, Any], ours: dict[str, Any] | None, per_iteration: bool = False) -> Spread | None:
    """The peer's time over TGraph's, as a whole or by iteration; None where one of them is missing or wrong."""
    if ours is None or any(cell["error"] or cell["verdict"].startswith("WRONG") for cell in (peer, ours)):
        return None
    found = ratio(peer["blocks"], ours["blocks"])
    if not per_iteration or found is None:
        return found
    if not peer.get("iterations") or not ours.get("iterations"):
        return None
    factor = ours["iterations"] / peer["iterations"]
    return Spread(found.median * factor, found.low * factor, found.high * factor)
