"""The public interface changes on purpose only, and nothing deprecated is forgotten."""

import re
from pathlib import Path

import public_names

import tgraph as tg

ROOT = Path(__file__).parents[1]


def test_the_public_names_are_those_listed():
    listed = public_names.FILE.read_text(encoding="utf-8")
    assert public_names.listing() == listed, (
        "run python tests/public_names.py, and see CONTRIBUTING.md on what it changes"
    )


def test_what_is_deprecated_is_in_the_changelog_until_it_goes():
    """As CONTRIBUTING.md says: a line under Deprecated, with the version that will not have the name."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    said = "\n".join(re.findall(r"(?ms)^### Deprecated$(.*?)(?=^#{2,3} |\Z)", changelog))
    for module in (tg, tg.algorithms, tg.generators, tg.nn, tg.stream, tg.sampling, tg.dynamic, tg.distributed):
        for name in module.__all__:
            value = getattr(module, name)
            for one in (value, *vars(value).values()) if isinstance(value, type) else (value,):
                if message := getattr(one, "__deprecated__", None):
                    removed_in = message.rsplit(";", 1)[1].split()[0]
                    assert version(tg.__version__) < version(removed_in), f"{message}: remove it"
                    assert one.__qualname__ in said and removed_in in said, f"{message}: CHANGELOG.md does not say so"


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))
