"""The guides for contributors name files that are there, commands of the Makefile, and one version."""

import re
from pathlib import Path

import pytest

import tgraph as tg

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "SECURITY.md", "LICENCES.md")


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:tgraph|algorithms|tests|docs|bench|\.github)/[\w./-]+)`", text)
    named += re.findall(r"\]\(([\w./-]+)\)", text)
    paths = [path for path in named if "NAME" not in path and "TOPIC" not in path]
    assert paths and [path for path in paths if not (ROOT / path).exists()] == []
    targets = set(re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert set(re.findall(r"make ([\w-]+)(?=[`' ])", "".join(re.findall(r"`[^`\n]+`", text)))) <= targets


def test_there_is_one_version():
    for file, pattern in {"pyproject.toml": r'(?m)^version = "(.*)"', "CITATION.cff": r"(?m)^version: (.*)"}.items():
        assert re.search(pattern, (ROOT / file).read_text(encoding="utf-8"))[1] == tg.__version__
