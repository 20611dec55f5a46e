"""What is answered by yes is shown by a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "asked.md").read_text(encoding="utf-8")


def test_every_answer_names_a_test():
    answers = PAGE.split("\n### ")[1:]
    assert len(answers) == 35
    assert not [answer.partition("\n")[0] for answer in answers if "`tests/" not in answer]


def test_tests_that_are_named_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).exists() or f"def {name}" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert named and not missing
