"""The lines of docs/recipes.md run, as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough  # as many processes as there are lines

PAGE = (Path(__file__).parents[2] / "docs/recipes.md").read_text()
TOGETHER = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recipes")
    (folder / "requests.log").write_text("1\tann\tweb\n2\tbob\tweb\n3\teve\tftp\n")
    (folder / "roads.el").write_text("a b 1\nb c 1\na c 3\nc d 1\n")
    (folder / "roads2.el").write_text("a b 1\nb c 1\na c 3\nc e 1\n")
    (folder / "people.csv").write_text("id_1,id_2\n007,7\n7,8\n")
    script = f'set -e -o pipefail\ntgraph() {{ {sys.executable} -m tgraph "$@"; }}\n{TOGETHER}'
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout)
    return folder


@pytest.mark.parametrize(
    "name, words",
    [
        ("components.csv", "eve,eve\n"),
        ("top.tsv", "d\t0."),
        ("routes.jsonl", '{"vertex": "a", "path": 0, "length": 3'),
        ("changes.txt", '> "c","e",1'),
        ("said", "not bipartite\n4\n"),
    ],
)
def test_files_that_recipes_write(folder, name, words):
    assert words in (folder / name).read_text()
