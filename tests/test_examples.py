"""Every example runs without arguments and prints what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

EXPECTED = {
    "widest_path.py": ("Graph(4,096 vertices", "the best connected by width:", "checked: no arc improves any vertex"),
    "read_and_plot.py": ("read sample.txt.gz: Graph(", "1 vertices at depth 0", "active_vertices", "picture: "),
    "many_bfs.py": ("64 searches at once", "depths [4096, 64]", "checked: the depths are equal"),
    "node_classification.py": ("gcn: ", "gat: ", "sage: ", "checked: more papers are right"),
    "differentiable_pagerank.py": ("has the largest rank", "checked: the gradient agrees"),
    "features_on_disk.py": ("of which memory may hold", "layer 1: 8 features", "checked: the same in memory"),
}


def run(script: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an example, temporary files and all, in a folder that vanishes."""
    command = [sys.executable, str(EXAMPLES / script), *arguments]
    environment = {"TMPDIR": str(folder), "PATH": "", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=120)


def test_every_example_is_listed_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("script", EXPECTED)
def test_example_runs_without_arguments(script, tmp_path):
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    for text in EXPECTED[script]:
        assert text in done.stdout


@pytest.mark.parametrize("script", ["many_bfs.py", "differentiable_pagerank.py", "read_and_plot.py"])
def test_example_reads_a_file(script, tmp_path):
    file = tmp_path / "triangle.txt"
    file.write_text("10 20 5\n20 30 7\n30 10 2\n")
    done = run(script, tmp_path, str(file))
    assert done.returncode == 0, done.stderr
    assert "Graph(3 vertices" in done.stdout
    if "picture: " in done.stdout:
        picture = Path(done.stdout.rpartition("picture: ")[2].strip())
        assert picture.parent.parent == tmp_path
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_widest_paths_are_those_computed_by_hand(tmp_path):
    file = tmp_path / "small.txt"
    file.write_text("1 2 9\n1 3 4\n2 4 3\n3 4 4\n")  # 1 -> 4 is 3 wide by way of 2, and 4 by way of 3
    lines = run("widest_path.py", tmp_path, str(file)).stdout.splitlines()
    assert lines[3:6] == ["  2: 9", "  3: 4", "  4: 4"]
