"""Links that leave a page: those to files of the repository lead to what the site has of them, and those from sources
to the reference are left out where it does not describe what they name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"\]\((?:\.\./)+([^)#]*)((?:#[^)]*)?)\)")


def target(path: str, depth: int) -> str | None:
    """Where a file of the repository is on the site, from a page in a folder so deep."""
    up = "../" * depth
    if path in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENCES.md"):
        return {"README.md": f"{up}index.md"}.get(path, f"{up}{path.lower()}")
    if path.startswith("examples/"):
        stem = "-".join(Path(path).with_suffix("").parts[1:])
        name = stem if path.endswith(".py") else "index"
        return f"{up}gallery/{name}.md"
    if path.startswith("algorithms"):
        return f"{up}reference/index.md"
    return None


def redirect(app: Any, page: str, source: list[str]) -> None:
    depth = page.count("/")

    def link(found: re.Match[str]) -> str:
        path = target(found[1], depth)
        return found[0] if path is None else f"]({path}{found[2]})"

    source[0] = LINK.sub(link, source[0])


INNER = re.compile(r"\[([^\]\n]+)\]\((?!https?:|#|docs/)([^)#]*)(?:#[^)]*)?\)")


def redirect_included(app: Any, path: Path, parent: str, source: list[str]) -> None:
    """The same of files at the root of the repository that a page includes; what the site does not have is no link."""

    def link(found: re.Match[str]) -> str:
        place = target(found[2], 0)
        return found[1] if place is None else f"[{found[1]}](docs/{place})"

    source[0] = INNER.sub(link, source[0])


BACK = re.compile(r'<a class="viewcode-back" href="(?:\.\./)*([^"#]+)\.html#([^"]+)">\[docs\]</a>')


def prune(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Sources link to every member of a documented class; those that its page leaves out have no place there."""
    if page.startswith("_modules/"):
        objects = app.env.domains["py"].objects
        described = {(entry.docname, name) for name, entry in objects.items()}
        context["body"] = BACK.sub(lambda found: found[0] if found.groups() in described else "", context["body"])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", redirect)
    app.connect("include-read", redirect_included)
    app.connect("html-page-context", prune)
    return {"parallel_read_safe": True}
