"""The results of a measurement: tables in Markdown, pictures, and the files that they are written to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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


@contextmanager
def drawn(path: Path, size: tuple[float, float], columns: int = 1, rows: int = 1, **options: Any) -> Iterator[Any]:
    """A figure of matplotlib and its axes [rows * columns], written to a file at the end."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **options)
    yield figure, axes.flatten()
    figure.savefig(path, dpi=120)
    plt.close(figure)
