"""The gallery: every example, run when the site is built, with what it printed and drew.

Each runs in a process of its own, as a user would start it: examples start processes and limit their memory, which
must not concern the builder.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__)
ROOT = HERE.parents[2]
PICTURES = {".png", ".svg"}
# Real graphs, where they lie beside the repository; without them examples draw their own.
DATA = ROOT.parent / "shared" / "data"
CORA = "planetoid-cora/cora.clean.npz"
REAL = {
    "distributed_gcn": CORA,
    "many_bfs": "small-metis/power.graph",
    "mini_batch": CORA,
    "node_classification": CORA,
    "read_and_plot": "soc-Epinions1/soc-Epinions1.txt.gz",
    "temporal": "CollegeMsg/CollegeMsg.txt.gz",
}
SECONDS = 600


class Outcome(NamedTuple):
    """What an example printed and drew, and how many seconds it took."""

    printed: str
    pictures: list[Path]
    seconds: float


def write(folder: Path) -> None:
    """A page for each example, and one of all; as make does, only those that are older than what they depend on.

    Raises RuntimeError, with what it printed, where an example fails."""
    folder.mkdir(exist_ok=True)
    changed = max(path.stat().st_mtime for part in ("tgraph", "algorithms") for path in (ROOT / part).rglob("*.py"))
    for script in examples():
        made = folder / f"{name(script)}.md"
        if not made.exists() or made.stat().st_mtime < max(changed, *(p.stat().st_mtime for p in (script, HERE))):
            outcome = run(script, folder)
            made.write_text(page(script, outcome), encoding="utf-8")
            print(f"example {script.name}: {outcome.seconds:.0f} s", flush=True)
    for stale in {*folder.glob("*.md")} - {folder / f"{name(script)}.md" for script in examples()}:
        stale.unlink()
    (folder / "index.md").write_text(overview([card(script, folder) for script in examples()]), encoding="utf-8")


def examples() -> list[Path]:
    return [*sorted((ROOT / "examples").glob("*.py")), *sorted((ROOT / "examples" / "networkx").glob("*.py"))]


def name(script: Path) -> str:
    return f"networkx-{script.stem}" if script.parent.name == "networkx" else script.stem


def given(script: Path) -> list[Path]:
    """The file that an example is run on, if any."""
    path = DATA / REAL.get(name(script), "none")
    return [path] if path.is_file() else []


def run(script: Path, folder: Path) -> Outcome:
    """Run an example in an empty folder; its pictures are copied to `folder`."""
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "TMPDIR": place, "MPLBACKEND": "Agg", "TGRAPH_CACHE": str(Path(place, "cache"))}
        if script.parent.name == "networkx":
            environment["NETWORKX_BACKEND_PRIORITY"] = "tgraph"
        begin = time.perf_counter()
        command = [sys.executable, str(script), *map(str, given(script))]
        done = subprocess.run(command, cwd=place, env=environment, text=True, timeout=SECONDS, capture_output=True)
        seconds = time.perf_counter() - begin
        if done.returncode:
            raise RuntimeError(f"{script} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        printed = re.sub(rf"{re.escape(place)}/(?:\w+/)*", "", done.stdout)
        pictures = []
        for path in sorted(path for path in Path(place).rglob("*") if path.suffix in PICTURES):
            own = path.name.removeprefix(f"{script.stem}.")  # of widest_path.png the type alone
            pictures.append(folder / f"{name(script)}{'.' if own != path.name else '-'}{own}")
            shutil.copy(path, pictures[-1])
        return Outcome(printed, pictures, seconds)


def page(script: Path, outcome: Outcome) -> str:
    title, text = about(script)
    relative = script.relative_to(ROOT).as_posix()
    lines = [f"# {title}", "", text, ""]
    for picture in outcome.pictures:
        lines += [f"![{title}]({picture.name})", ""]
    setting = "NETWORKX_BACKEND_PRIORITY=tgraph " if script.parent.name == "networkx" else ""
    command = " ".join(["python", relative, *(path.name for path in given(script))])
    lines += ["```console", f"$ {setting}{command}", outcome.printed.rstrip(), "```", ""]
    lines += [f"It took {outcome.seconds:.1f} s where this site was built. `{relative}`:", ""]
    lines += ["```py", code(script), "```", ""]
    return "\n".join(lines)


def about(script: Path) -> tuple[str, str]:
    """The first sentence of an example's docstring, and the rest of it."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    first, _, rest = text.partition("\n\n")
    sentence, _, more = re.sub(r"\s+", " ", first).partition(": ")
    if len(sentence) > 70 or not more:
        found = re.match(r"(.*?[.?!])(?: |$)(.*)", re.sub(r"\s+", " ", first))
        sentence, more = found.groups() if found else (first, "")
    return sentence.rstrip(".:"), f"{more[:1].upper()}{more[1:]}\n\n{rest}".strip()


def code(script: Path) -> str:
    """The script below its docstring, which stands above."""
    text = script.read_text(encoding="utf-8")
    end = ast.parse(text).body[0].end_lineno or 0
    return "\n".join(text.splitlines()[end:]).strip()


def card(script: Path, folder: Path) -> str:
    title, text = about(script)
    pictures = re.findall(r"(?m)^!\[.*\]\((.+)\)$", (folder / f"{name(script)}.md").read_text(encoding="utf-8"))
    lines = [f":::{{grid-item-card}} {title}", f":link: {name(script)}", ":link-type: doc"]
    lines += [line for picture in pictures[:1] for line in (f":img-top: {picture}", f":img-alt: {title}")]
    return "\n".join([*lines, "", re.split(r"(?<=[.?!])\s", text.replace("\n", " "))[0], ":::"])


def overview(cards: list[str]) -> str:
    names = [name(script) for script in examples()]
    head = "# Gallery\n\nEach example was run when this site was built; pictures and outputs are those of that run.\n"
    grid = "\n\n".join(["::::{grid} 1 2 2 3\n:gutter: 3\n:class-container: pictured", *cards, "::::"])
    return "\n".join([head, grid, "", "```{toctree}", ":hidden:", "", *names, "```", ""])


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "gallery"))
    return {"parallel_read_safe": True}
