"""The files of tests that a change reaches, for `make quick`.

    python tests/reached.py [BASE]

prints those that are reached by what differs from the last commit, or from where the work left BASE. These are reached:
a file of tests that has changed or takes something from one that has; the tests in the folder of a changed module; and
those that name a changed module or one that imports it, where a name that a package passes on means the module that
defines it. Kernels stand for the portable ones of the same names, which others import, and a C++ file for the modules
of its folder, as do all that include it. Any other file reaches the tests that name it or a folder of it.
"""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from imports import PACKAGE, ROOT, modules, tree

TESTS = ROOT / "tests"
MODULES = modules(PACKAGE | {"bench": ROOT / "bench"})
NAMES = {path: name for name, path in MODULES.items()}
FILES = sorted(TESTS.rglob("test_*.py"))
SHARED = {path.stem: path for path in TESTS.rglob("*.py") if path not in FILES}  # by several files of tests
CPP = {".cpp", ".hpp", ".cu", ".cuh"}
# What every test runs with.
ALL = {"tests/conftest.py", "pyproject.toml", "constraints.txt", "CMakeLists.txt"}
# What looks at all modules, in a few seconds.
ALWAYS = {TESTS / f"test_{name}.py" for name in ("layering", "public_names", "reached", "smoke", "style")}


def reached(changes: Collection[str]) -> set[Path]:
    """The files of tests that changes of these files reach, given by their paths in the repository."""
    if ALL & set(changes):
        return set(FILES)
    found: set[Path] = set()
    changed: set[str] = set()
    for path in with_includers({ROOT / each for each in changes}):
        if path.is_relative_to(TESTS):
            found |= {each for each in FILES if path in taken_from(each)}
        elif ours := standing_for(path):
            changed |= ours | {twin for module in ours for twin in twins(module)}
            found |= beside(path)
        else:
            found |= beside(path) | {each for each in FILES if names(each, path)}
    near = changed | {name for name, path in MODULES.items() if named(path) & changed}
    return found | {test for test in FILES if named_within(test) & near} | (ALWAYS if changed else set())


def twins(module: str) -> set[str]:
    """The modules that define operators of which kernels are in a module: the first arguments of its calls."""
    if not module.startswith("tgraph.kernels."):
        return set()
    attached = {
        node.args[0].attr
        for node in ast.walk(tree(MODULES[module]))
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Attribute)
    }
    return {name for operator in attached for name in operators().get(operator, ())}


@functools.cache
def operators() -> dict[str, set[str]]:
    """The modules that define an operator, by its name."""
    found: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef) and any("operator" in ast.unparse(d) for d in node.decorator_list):
                found.setdefault(node.name, set()).add(name)
    return found


def standing_for(path: Path) -> set[str]:
    """The module in a file; those in the nearest folder that has any, for another file of a package."""
    if path in NAMES:
        return {NAMES[path]}
    for folder in path.parents:
        if not any(folder.is_relative_to(top) for top in PACKAGE.values()):
            break
        if found := {name for each, name in NAMES.items() if each.parent == folder and each.name != "__init__.py"}:
            return found
    return set()


def beside(path: Path) -> set[Path]:
    """The tests in the folder that has those of a file, or the nearest one around it that has any."""
    parts = path.relative_to(ROOT).parts
    folder, found = TESTS.joinpath(*parts[parts[0] == "tgraph" : -1]), set()
    while folder != TESTS and not found:
        found = {each for each in FILES if each.parent == folder}
        folder = folder.parent
    return found


def with_includers(paths: set[Path]) -> set[Path]:
    """These files, and the C++ files that include one of them, or one that does."""
    sources = [path for path in (ROOT / "tgraph").rglob("*") if path.suffix in CPP]
    found = set(paths)
    ahead = [path for path in paths if path.suffix in CPP]
    while ahead:
        header = f"/{ahead.pop().relative_to(ROOT).as_posix()}"
        new = {path for path in sources if any(header.endswith(f"/{each}") for each in included(path))} - found
        found |= new
        ahead += new
    return found


@functools.cache
def included(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r'(?m)^#include "(.+)"', path.read_text(encoding="utf-8")))


def names(test: Path, path: Path) -> bool:
    """Whether a file of tests has the path of a file, the end of it, or a folder of it, as a string."""
    parts = path.relative_to(ROOT).parts
    known = {"/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return any(known & texts(each) for each in taken_from(test))


@functools.cache
def texts(path: Path) -> frozenset[str]:
    """The strings in a file of Python."""
    return frozenset(text(node) for node in ast.walk(tree(path)) if isinstance(node, ast.Constant))


@functools.cache
def taken_from(path: Path) -> frozenset[Path]:
    """A file of tests, and what it imports of those that tests share."""
    found, ahead = {path}, [path]
    while ahead:
        tops = {name.partition(".")[0] for name in aliases(ahead.pop()).values()}
        new = {SHARED[top] for top in tops & SHARED.keys()} - found
        found |= new
        ahead += new
    return frozenset(found)


@functools.cache
def named_within(test: Path) -> frozenset[str]:
    """The modules that a file of tests names, or what it takes from others."""
    return frozenset().union(*(named(path) for path in taken_from(test)))


@functools.cache
def aliases(path: Path) -> dict[str, str]:
    """Imports of a file, or of a package at first access: the full name of each by the name that it has there."""
    found = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.names[0].name == "*":
                found |= aliases(MODULES[node.module])
            else:
                found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Dict):
            pairs = zip(map(text, node.keys), map(text, node.values), strict=True)
            found |= {name: f"{module}.{name}" for name, module in pairs if module in MODULES}
    return found


def text(node: ast.expr | None) -> str:
    """A string, where a node is one."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def dotted(node: ast.expr) -> list[str]:
    """The parts of a name such as a.b.c; the first is empty where it begins with another expression."""
    if isinstance(node, ast.Attribute):
        return [*dotted(node.value), node.attr]
    return [node.id if isinstance(node, ast.Name) else ""]


@functools.cache
def named(path: Path) -> frozenset[str]:
    """The modules that a file imports, or has a name of, but for itself and the package as a whole."""
    known = aliases(path)
    full = set(known.values())
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            full |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            top, *inner = dotted(node)
            if top in known:
                full.add(".".join((known[top], *inner)))
    return frozenset({found for name in full if (found := defining(name))} - {"tgraph", NAMES.get(path)})


@functools.cache
def defining(name: str) -> str | None:
    """The module that defines a name, which packages may pass on to others; None for a name that is none of ours."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if (module := ".".join(parts[:length])) in MODULES:
            passed_on = aliases(MODULES[module]).get(parts[length]) if length < len(parts) else None
            if passed_on in (None, name):
                return module
            return defining(".".join((passed_on, *parts[length + 1 :]))) or module
    return None


def changes(base: str, root: Path = ROOT) -> list[str]:
    """The files that differ from where the work left a commit, with those that git does not know yet."""

    def git(*arguments: str) -> Iterator[str]:
        said = subprocess.run(["git", *arguments], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
        return (each for each in said.rstrip("\n").split("\0") if each)

    (left,) = git("merge-base", base, "HEAD")
    differing = git("diff", "--name-only", "--no-renames", "-z", left)
    return sorted({*differing, *git("ls-files", "--others", "--exclude-standard", "-z")})


def main(base: str = "HEAD") -> None:
    changed = changes(base)
    found = reached(changed)
    everything = "everything: " if len(found) == len(FILES) else ""
    print(
        f"{len(changed)} files differ from {base} and reach {everything}{len(found)} of {len(FILES)} files of tests",
        file=sys.stderr,
    )
    print(*(["tests"] if everything else sorted(path.relative_to(ROOT).as_posix() for path in found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
