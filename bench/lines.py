"""Lines of code by room, and their difference to another commit.

    python -m bench.lines [--since REVISION]

A room is a package of tgraph/, or a folder beside it; of C++ and CUDA the headers count too. The lines are those of the
working tree and of the commit, as `wc -l` counts them.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import PurePosixPath

from bench.command import parsed

KINDS = {".py": "Python", ".pyi": "Python", **dict.fromkeys((".cpp", ".hpp", ".cu", ".cuh"), "C++"), ".md": "Markdown"}


def room(path: PurePosixPath) -> str:
    """The folder that a file counts for."""
    return "/".join(path.parts[: 2 if path.parts[0] == "tgraph" else 1][: len(path.parts) - 1]) or "."


def _git(*arguments: str) -> str:
    return subprocess.run(("git", *arguments), capture_output=True, text=True, check=True).stdout


def count(revision: str | None = None) -> Counter[tuple[str, str]]:
    """The lines by kind and room, of the working tree where there is no revision."""
    lines: Counter[tuple[str, str]] = Counter()
    empty = _git("hash-object", "-t", "tree", "/dev/null").strip()
    changed = _git("diff", "--numstat", "--no-renames", empty, *([revision] if revision else []), "--")
    for line in changed.splitlines():
        added, _, name = line.split("\t")
        path = PurePosixPath(name)
        if path.suffix in KINDS and added != "-":
            lines[KINDS[path.suffix], room(path)] += int(added)
    return lines


def main() -> None:
    """Print the table."""
    since = parsed(__doc__, since=str).since
    now, before = count(), count(since) if since else None
    for kind in dict.fromkeys(KINDS.values()):
        rooms = sorted({where for each, where in now | (before or Counter()) if each == kind})
        for where in (*rooms, "in all"):
            chosen = rooms if where == "in all" else [where]
            lines, old = (sum(counted[kind, one] for one in chosen) for counted in (now, before or now))
            if before is None or lines != old or where == "in all":
                print(f"{kind:9} {where:24} {lines:7,}" + (f" {lines - old:+7,}" if before is not None else ""))


if __name__ == "__main__":
    main()
