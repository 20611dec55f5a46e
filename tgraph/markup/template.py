"""Pages of one file, made of a template, a style and a script; the template escapes all text that is put into it."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from tgraph.markup.labels import Markup, label, readable


def rendered(package: str, filters: dict[str, Any] | None = None, /, **values: Any) -> str:
    """The template page.html in the folder of `package`, with its page.css and page.js and the `values`, which are
    escaped but for Markup. The Content-Security-Policy allows the style and the script by their hashes, and pictures
    that the page holds."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"label": label, "readable": readable, "json": in_script} | (filters or {})
    style, script = _part(package, "page.css"), _part(package, "page.js")
    policy = (
        "default-src 'none'",
        "img-src data:",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return environment.get_template("page.html").render(
        values, style=Markup(style), script=Markup(script), policy="; ".join(policy)
    )


def in_script(data: Any) -> Markup:
    """Data as JSON inside a script element, without the characters by which its text could end the element or begin a
    comment (HTML, 4.12.1.3)."""
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
