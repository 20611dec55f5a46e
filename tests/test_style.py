"""What ruff does not see: lines of C++ and CUDA keep the length of Python's, and tests import what they mean."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
SOURCES = sorted(path for part in ("tgraph", "tests") for path in (ROOT / part).rglob("*") if path.suffix in SUFFIXES)
LENGTH = 120


def test_no_line_is_too_long():
    for path in SOURCES:
        lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        assert not [f"{path.relative_to(ROOT)}, line {number}" for number, line in lines if len(line) > LENGTH]


def test_a_module_that_tests_share_has_a_name_of_its_own(pytestconfig):
    """Tests import it by its name alone, and get the one of the first folder in pythonpath that has it."""
    names = Counter(path.stem for folder in pytestconfig.getini("pythonpath") for path in Path(folder).glob("*.py"))
    tests = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    imported = {name for text in tests for name in re.findall(r"^\s*(?:from|import) (\w+)", text, re.MULTILINE)}
    assert "strategies" in imported & names.keys()
    assert {name for name in imported if names[name] > 1} == set()
