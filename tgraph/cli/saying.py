"""Text on the terminal, without control characters of labels, paths and messages."""

from __future__ import annotations

import typer

from tgraph.terminal import harmless


def say(text: str, err: bool = False) -> None:
    """Print lines; control characters and marks of direction in them are shown as escapes."""
    typer.echo(harmless(text, kept="\n\t"), err=err)
