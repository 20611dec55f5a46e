"""Numbers and tables as lines that a person reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def scaled(number: float) -> str:
    """A positive number to three digits, with k, M or G for thousands, millions and billions."""
    number = float(f"{number:.3g}")  # 999.6 is 1 k
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}"


def in_bytes(count: float) -> str:
    """A number of bytes to three digits, with its unit."""
    return f"{scaled(count)}B" if count >= 1000 else f"{count:.0f} B"


def duration(seconds: float) -> str:
    """A time in microseconds, milliseconds or seconds, whichever reads better."""
    if 0 < seconds < 1e-4:
        return f"{seconds * 1e6:.1f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def table(rows: Sequence[Sequence[str]], left: Collection[int] = (0, -1)) -> str:
    """Rows of cells as aligned lines: the columns numbered in `left`, from the end where negative, to the left, and the
    others to the right."""
    columns = list(zip(*rows, strict=True))
    leftmost = {number % len(columns) for number in left}
    cells = [
        [cell.ljust(width) if number in leftmost else cell.rjust(width) for cell in column]
        for number, column in enumerate(columns)
        for width in [max(map(len, column))]
    ]
    return "\n".join("  ".join(line).rstrip() for line in zip(*cells, strict=True))


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> from tgraph.core.system.text import counted
    >>> counted(1, "vertex"), counted(2000, "vertex"), counted(0, "direction switch")
    ('1 vertex', '2,000 vertices', '0 direction switches')
    """
    return f"{count:,} {in_number(count, noun)}"


def in_number(count: int, noun: str) -> str:
    """A noun as it stands beside a number."""
    plural = f"{noun[:-2]}ices" if noun.endswith("ex") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return noun if count == 1 else plural
