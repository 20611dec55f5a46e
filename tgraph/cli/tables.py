"""Tables of results in files of several formats, and as rows of the object of --json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tgraph.cli.pipes import is_stream, named, writable
from tgraph.cli.saying import as_text, say

if TYPE_CHECKING:
    import pandas


def rows(table: pandas.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows, by the names of the columns."""
    columns = [table[name].tolist() for name in table]
    return (dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True))


def write(table: pandas.DataFrame, output: Path, to: str) -> None:
    """Write the table in the format of the extension of `output`; to a stream in the format `to`."""
    kind = to if is_stream(output) else output.suffix.lower().removeprefix(".")
    with writable(output) as path:
        if kind == "parquet":
            table.to_parquet(path, index=False)
        elif kind == "jsonl":
            with open(path, "w", encoding="ascii") as file:
                file.writelines(f"{as_text(row)}\n" for row in rows(table))
        else:
            table.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",", lineterminator="\n")
    say(f"result: {named(output, output=True)}")
