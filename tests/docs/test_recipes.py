"""The lines of docs/recipes.md run, as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tgraph as tg

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
    (folder / "tasks.el").write_text("dig build\nbuild paint\ndig paint\n")
    (folder / "places.csv").write_text("place,lon,lat\na,7,47\nb,7.5,47\nc,8,46.5\nd,8.5,46\n")
    people = tg.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3], [1.5, 2, 3, 4], vertices=["ann", "bob", "eve", "joe"])
    tg.write(people.with_columns(vertices={"age": [31, 47, 20, 66]}), folder / "social.graphml")
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
        ("traffic.csv", '"ann","web",1'),
        ("histogram.csv", "1,4\n2,1\n"),
        ("largest.el", "c e 1\n"),
        ("similar.csv", "ann,joe,0.5"),
        ("around_a.csv", "b,c,1\n"),
        ("social.svg", "</svg>"),
        ("routes.geojson", '{"type": "LineString", "coordinates": [[7.0, 47.0], [8.0, 46.5], [8.5, 46.0]]}'),
        ("nearest.csv", "a,0\nb,1\nc,2\nd,3\n"),
        ("cheapest.csv", "b,c,1\n"),
        ("flow.csv", "c,d,1\n"),
        ("bottleneck.csv", "d,False"),
        ("order.csv", "dig\nbuild\npaint\n"),
        ("nodes.csv", '"ann",31\n'),
        ("said", "relationships.csv: 4 vertices, 4 edges, directed"),
        ("by_blocks.csv", "d,"),
        ("social_report.html", "</html>"),
    ],
)
def test_files_that_recipes_write(folder, name, words):
    assert words in (folder / name).read_text()
