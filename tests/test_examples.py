"""Every example runs without arguments, prints what it promises and draws what it is about."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

EXPECTED = {
    "widest_path.py": ("Graph(1,000 vertices", "the best connected by width:", "checked: no arc improves any vertex"),
    "read_and_plot.py": ("read sample.txt.gz: Graph(", "1 vertices at depth 0", "active_vertices"),
    "many_bfs.py": ("64 searches at once", "depths [4096, 64]", "checked: the depths are equal"),
    "node_classification.py": ("gcn: ", "gat: ", "sage: ", "checked: more papers are right"),
    "differentiable_pagerank.py": ("has the largest rank", "checked: the gradient agrees"),
    "learn_road_lengths.py": ("streets of the routes that are found", "checked: routes by the lengths"),
    "learn_ranking.py": ("pairs not seen in the right order", "checked: the learnt weights order more pairs"),
    "shortest_path_layer.py": ("distances on another map", "checked: costs that were never shown"),
    "mini_batch.py": ("whole graph    mini-batches", "drawn"),
    "link_prediction.py": ("edges are held out", "Adamic-Adar", "checked: the network is better than the index"),
    "heterogeneous.py": ("words alone", "GraphSAGE", "transformer", "checked: the network tells more than the words"),
    "temporal.py": ("messages between", "checked: no message was predicted from later ones"),
    "dynamic_graph.py": (
        "60 updates, 1 of them from nothing",
        "checked: components are those from nothing",
    ),
    "inference_from_disk.py": ("layer 1: 4 columns", "right class", "checked: the same in memory"),
    "distributed_gcn.py": ("1 ranks: ", "2 ranks: ", "checked: two ranks learn as much as one"),
    "distributed_training.py": ("2 processes: ", "checked: several processes learn as much as one"),
    "products.py": ("graph and features take", "disk: ", "times as long", "checked: as many vertices are right"),
    "pictures.py": ("pictures.karate.png: Graph(34 vertices", "pictures.hyperbolic.png"),
    "features_on_disk.py": ("of which memory may hold", "layer 1: 8 features", "checked: the same in memory"),
}

# These prove that a result is the same by another way, and have nothing to show.
WITHOUT_PICTURE = {"features_on_disk.py", "products.py"}


def run(script: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an example, temporary files and all, in a folder that vanishes."""
    command = [sys.executable, str(EXAMPLES / script), *arguments]
    environment = {"TMPDIR": str(folder), "PATH": "", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=600)


def test_every_example_is_listed_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.thorough
@pytest.mark.parametrize("script", EXPECTED)
def test_example_runs_without_arguments(script, tmp_path):
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    for text in EXPECTED[script]:
        assert text in done.stdout
    if script not in WITHOUT_PICTURE:
        check_picture(done.stdout, tmp_path, script)


def check_picture(shown: str, folder: Path, script: str) -> None:
    """The example names its picture, which lies in the folder where it was started."""
    name = f"{script.removesuffix('.py')}.png"
    assert f"picture: {name}" in shown
    assert (folder / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("script", ["many_bfs.py", "differentiable_pagerank.py", "read_and_plot.py"])
def test_example_reads_a_file(script, tmp_path, printed):
    file = tmp_path / "triangle.txt"
    file.write_text("10 20 5\n20 30 7\n30 10 2\n")
    shown = printed(script, str(file))
    assert "Graph(3 vertices" in shown
    check_picture(shown, tmp_path, script)


def test_widest_paths_are_those_computed_by_hand(tmp_path, printed):
    file = tmp_path / "small.txt"
    file.write_text("1 2 9\n1 3 4\n2 4 3\n3 4 4\n")  # 1 -> 4 is 3 wide by way of 2, and 4 by way of 3
    shown = printed("widest_path.py", str(file))
    assert shown.splitlines()[3:6] == ["  2: 9", "  3: 4", "  4: 4"]
    check_picture(shown, tmp_path, "widest_path.py")


def test_papers_of_a_file_are_classified(tmp_path, printed):
    """Two rings of 20 papers that do not cite each other, and a word for each; of each ring 4 papers are labelled."""
    paper, file = np.arange(40), tmp_path / "rings.npz"
    ring, place = paper // 20, paper % 20
    around = np.stack((ring * 20 + (place - 1) % 20, ring * 20 + (place + 1) % 20), 1)
    np.savez(
        file,
        indptr=2 * np.arange(41, dtype=np.int32),
        indices=np.sort(around, 1).ravel().astype(np.int32),
        feat_indptr=np.arange(41, dtype=np.int32),
        feat_indices=ring.astype(np.int32),
        feat_data=np.ones(1, dtype=np.float32),
        feat_shape=np.array([40, 2]),
        labels=ring,
        train_idx=paper[place < 4],
        val_idx=paper[(place >= 4) & (place < 8)],
        test_idx=paper[place >= 8],
    )
    shown = printed("node_classification.py", str(file), "--model", "gcn", "gat", "--seeds", "2", "--epochs", "60")
    assert "Graph(40 vertices" in shown
    for line in ("gcn: 100.0 +- 0.0 % of 24 papers right", "gat: 100.0 +- 0.0 % of 24 papers right"):
        assert line in shown
    assert "sage" not in shown
    check_picture(shown, tmp_path, "node_classification.py")
