"""The files of tests that a change reaches, for `make quick`.

    python tests/reached.py [BASE]

prints those that are reached by what differs from the last commit, or from where the work left BASE. These are reached:
a file of tests that has changed or takes something from one that has; the tests in the folder of a changed module; and
those that name a changed module or one that imports it, where a name that a package passes on means the module that
defines it. A C++ file stands for the modules of its folder, as do all files that include it. Any other file reaches
the tests that name it or a folder of it.
"""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from imports import PACKAGE, ROOT, modules, tree

TESTS = ROOT / "tests"
MODULES = modules(PACKAGE | {"bench": ROOT / "bench"})
NAMES = {path: name for name, path in MODULES.items()}
FILES = sorted(TESTS.rglob("test_*.py"))
SHARED = {path.stem: path for path in TESTS.rglob("*.py") if path not in FILES}  # by several files of tests
# What every test runs with.
ALL = {"tests/conftest.py", "pyproject.toml", "constraints.txt", "CMakeLists.txt"}
# What looks at all modules, in a few seconds.
ALWAYS = {TESTS / f"test_{name}.py" for name in ("layering", "public_names", "reached", "smoke", "style")}
CPP = {".cpp", ".hpp", ".cu", ".cuh"}


def reached(changes: Collection[str]) -> set[Path]:
    """The files of tests that changes of these files reach, given by their paths in the repository."""
    if ALL & set(changes):
        return set(FILES)
    paths = with_includers({ROOT / each for each in changes})
    found, changed = set(), set()
    for path in paths:
        if path in FILES:
            found.add(path)
        elif path.is_relative_to(TESTS) and path.suffix == ".py":
            found |= {each for each in FILES if path in taken_from(each)}
        else:
            ours = standing_for(path)
            changed |= ours
            found |= tests_beside(path) if ours else naming_the_file(path)
    near = changed | {name for name, path in MODULES.items() if named(path) & changed}
    found |= {path for path in FILES if near & {name for each in taken_from(path) for name in named(each)}}
    return {path for path in found if path.exists()} | (ALWAYS if changed else set())


def standing_for(path: Path) -> set[str]:
    """The module in a file; those in the nearest folder that has any, for another file of a package."""
    if path in NAMES:
        return {NAMES[path]}
    for folder in path.parents:
        if not any(folder.is_relative_to(top) for top in PACKAGE.values()):
            return set()
        if found := {name for each, name in NAMES.items() if each.parent == folder}:
            return found
    return set()


def tests_beside(path: Path) -> set[Path]:
    """The tests in the folder that has those of a module."""
    inner = path.relative_to(ROOT)
    folder = TESTS.joinpath(*inner.parts[inner.parts[0] == "tgraph" : -1])
    return {each for each in FILES if each.parent == folder != TESTS}


def naming_the_file(path: Path) -> set[Path]:
    """The tests that name a file which is no part of a package, or one of its folders, and those in its folder."""
    parts = path.relative_to(ROOT).parts
    known = {"/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return {each for each in FILES if known & {text for part in taken_from(each) for text in texts(part)}} | (
        tests_beside(path) if len(parts) > 1 else set()
    )


def with_includers(paths: set[Path]) -> set[Path]:
    """These files, and the C++ files that include one of them, or one that does."""
    sources = [path for path in (ROOT / "tgraph").rglob("*") if path.suffix in CPP] if any_cpp(paths) else []
    found, before = set(paths), None
    while before != len(found):
        before = len(found)
        found |= {
            path
            for path in sources
            if any(each.as_posix().endswith(f"/{name}") for name in included(path) for each in found)
        }
    return found


def any_cpp(paths: Iterable[Path]) -> bool:
    return any(path.suffix in CPP for path in paths)


@functools.cache
def included(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r'(?m)^#include "(.+)"', path.read_text(encoding="utf-8")))


@functools.cache
def texts(path: Path) -> frozenset[str]:
    """The strings in a file of Python."""
    nodes = ast.walk(tree(path))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


@functools.cache
def taken_from(path: Path) -> frozenset[Path]:
    """A file of tests, and what it imports of those that tests share."""
    found, ahead = set(), [path]
    while ahead:
        each = ahead.pop()
        if each not in found:
            found.add(each)
            ahead += [SHARED[name] for name in aliases(each).values() if name in SHARED]
            ahead += [
                SHARED[name.partition(".")[0]] for name in aliases(each).values() if name.partition(".")[0] in SHARED
            ]
    return frozenset(found)


@functools.cache
def aliases(path: Path) -> dict[str, str]:
    """What a file imports: the full name of each by the name that it has there."""
    found = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {
                alias.asname or alias.name.partition(".")[0]: alias.name
                if alias.asname
                else alias.name.partition(".")[0]
                for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


@functools.cache
def named(path: Path) -> frozenset[str]:
    """The modules that a file imports or has a name of, but for the package itself."""
    known = aliases(path)
    full = {*known.values()}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            full |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and (dotted := ast.unparse(node).split("."))[0] in known:
            full.add(".".join([known[dotted[0]], *dotted[1:]]))
    return frozenset(found for name in full if (found := defining(name)) not in (None, "tgraph", NAMES.get(path)))


@functools.cache
def defining(name: str) -> str | None:
    """The module that defines a name, which packages may pass on to others; None for one that is not of ours."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if (module := ".".join(parts[:length])) in MODULES:
            passed_on = aliases(MODULES[module]).get(parts[length]) if length < len(parts) else None
            if passed_on is None or passed_on == name:
                return module
            return defining(".".join((passed_on, *parts[length + 1 :]))) or module
    return None


def changes(base: str, root: Path = ROOT) -> list[str]:
    """The files that differ from where the work left a commit, with those that git does not know yet."""

    def git(*arguments: str) -> Iterator[str]:
        said = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout
        return (each for each in said.rstrip("\n").split("\0") if each)

    (left,) = git("merge-base", base, "HEAD")
    return sorted(
        {*git("diff", "--name-only", "--no-renames", "-z", left), *git("ls-files", "-oz", "--exclude-standard")}
    )


def main(base: str = "HEAD") -> None:
    changed = changes(base)
    found = reached(changed)
    print(
        f"{len(changed)} files differ from {base} and reach {len(found)} of {len(FILES)} files of tests",
        file=sys.stderr,
    )
    print(*(["tests"] if len(found) == len(FILES) else sorted(path.relative_to(ROOT) for path in found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
