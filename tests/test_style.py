"""Lines of C++ and CUDA keep the length that ruff asks of Python."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
SOURCES = sorted(path for part in ("tgraph", "tests") for path in (ROOT / part).rglob("*") if path.suffix in SUFFIXES)
LENGTH = 120


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_line_is_too_long(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert not [f"{number}: {line}" for number, line in enumerate(lines, 1) if len(line) > LENGTH]
