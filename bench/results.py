"""The results of a measurement: tables in Markdown, and the files that they are written to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.command import RESULTS


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def save(name: str, text: str, data: Any = None, folder: Path = RESULTS, quiet: bool = False) -> None:
    """Write NAME.md and, where there are data, NAME.json; print the text unless `quiet`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(f"{text}\n")
    if data is not None:
        (folder / f"{name}.json").write_text(json.dumps(data, indent=1))
    if not quiet:
        print(text)


def named(facts: dict[str, str]) -> str:
    """Facts in a line, such as those of the machine."""
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"
