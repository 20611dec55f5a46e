"""The commands of the start pages, as a reader would type them, after the Python code of the page."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tgraph as tg
from tgraph.cli import app

START = Path(__file__).parents[2] / "docs" / "start"


@pytest.mark.parametrize("page", ["first", "from-gapbs"])
def test_commands_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tg.write(tg.generators.complete(20), "web.el")  # the reader's own
    text = (START / f"{page}.md").read_text(encoding="utf-8")
    session: dict = {}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", text):
        exec(block, session)
    commands = [line for line in re.findall(r"(?m)^\$ tgraph (.*)$", text) if line != "demo"]
    assert commands
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command))
        assert done.exit_code == 0, f"tgraph {command}: {done.output}"
