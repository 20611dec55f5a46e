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


def test_actions_of_others_are_pinned_by_commit():
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    used = [use for file in files for use in re.findall(r"uses: *(\S+)", file.read_text(encoding="utf-8"))]
    assert len(used) > 5
    assert [use for use in used if not re.fullmatch(r"\./.*|[\w-]+/[\w-]+@[0-9a-f]{40}", use)] == []
