"""The pictures of pages, drawn by the code of the page itself when the site is built; one that is itself a page, such
as a report, is shown in a frame."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PICTURE = re.compile(r"(?:\]\(|src=\")(?:\.\./)*pictures/([\w.-]+)")
BLOCK = re.compile(r"(?ms)^```python\n(.*?)^```")


def draw(folder: Path) -> None:
    """Run the Python blocks of each page that shows pictures, and keep those. Raises RuntimeError, with what was
    printed, where the code fails, and FileNotFoundError where it draws no such picture."""
    for page in folder.glob("**/*.md"):
        text = page.read_text(encoding="utf-8")
        kept = {name: folder / "pictures" / name for name in PICTURE.findall(text)}
        if any(not path.exists() or path.stat().st_mtime < page.stat().st_mtime for path in kept.values()):
            (folder / "pictures").mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory() as place:
                code = "\n".join(BLOCK.findall(text))
                done = subprocess.run([sys.executable, "-c", code], cwd=place, text=True, capture_output=True)
                if done.returncode:
                    raise RuntimeError(f"{page}: its code failed:\n{done.stdout}\n{done.stderr}")
                for name, path in kept.items():
                    shutil.copy(Path(place, name), path)


def copy_pages(app: Any, error: Exception | None) -> None:
    """Sphinx copies what it knows to be an image; pages in frames are copied here."""
    if error is None:
        for path in Path(app.srcdir, "pictures").glob("*.html"):
            Path(app.outdir, "pictures").mkdir(exist_ok=True)
            shutil.copy(path, Path(app.outdir, "pictures"))


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: draw(Path(app.srcdir)))
    app.connect("build-finished", copy_pages)
    return {"parallel_read_safe": True}
