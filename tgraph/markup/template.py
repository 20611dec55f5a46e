"""Pages of one file, from a template, a style and a script, with all text escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from tgraph.markup.labels import Markup, label, readable


def rendered(package: str, filters: dict[str, Any] | None = None, /, **values: Any) -> str:
    """The template page.html in the folder of `package`, with its page.css and page.js and the `values`, escaped except
    for Markup. The Content-Security-Policy allows the style and the script by their hashes, and embedded pictures."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    options: dict[str, Any] = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=PackageLoader(package, "."), autoescape=True, **options)
    environment.filters |= {"label": label, "readable": readable, "json": _in_script} | (filters or {})
    style, script = _part(package, "page.css"), _part(package, "page.js")
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
    policy += "base-uri 'none'; form-action 'none'"
    template = environment.get_template("page.html")
    return template.render(values, style=Markup(style), script=Markup(script), policy=policy)


def _in_script(data: Any) -> Markup:
    """Data as JSON, without characters that could end a script element or begin a comment (HTML, 4.12.1.3)."""
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
