"""The examples that train on mini-batches, at small sizes."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.mark.thorough
def test_products_are_learned_as_well_from_the_disk_as_from_memory(printed):
    shown = printed("products.py", "--scale", "0.002", "--epochs", "2")
    assert "checked: as many vertices are right" in shown
    right = [float(found) for found in re.findall(r"([\d.]+) % right", shown)]
    assert len(right) == 2 and min(right) > 20  # of 16 classes


def test_accuracy_on_batches_is_that_on_the_whole_graph(printed):
    file = DATA / "planetoid-cora" / "cora.clean.npz"
    if not file.exists():
        pytest.skip("Cora is not in ../shared/data")
    shown = printed("mini_batch.py", str(file), "--seeds", "2", "--epochs", "30")
    whole, batches = map(float, re.findall(r"([\d.]+) \+-", shown))
    assert whole > 70 and abs(whole - batches) < 3


def test_edges_of_a_file_are_predicted(tmp_path, printed):
    """Ten cliques of ten vertices in a ring."""
    file = tmp_path / "cliques.txt"
    pairs = [(10 * clique + i, 10 * clique + j) for clique in range(10) for i in range(10) for j in range(i)]
    file.write_text("".join(f"{i} {j}\n" for i, j in [*pairs, *((10 * c, (10 * c + 10) % 100) for c in range(10))]))
    shown = printed("link_prediction.py", str(file), "--batch", "64", "--epochs", "8")
    ours, usual = map(float, re.findall(r"(\d\.\d+) (?:GraphSAGE|Adamic-Adar)", shown))
    assert ours > 0.9 and usual > 0.9


def test_the_field_of_a_paper_follows_from_its_network(printed):
    shown = printed("heterogeneous.py", "--papers", "800")
    words, sage, transformer = (float(found) for found in re.findall(r"([\d.]+) %", shown))
    assert words < 60 and min(sage, transformer) > words + 10


def test_messages_of_a_file_are_predicted_from_those_before(tmp_path, printed):
    """Twenty pairs who write to each other."""
    random, file = np.random.default_rng(0), tmp_path / "messages.txt"
    source = random.integers(0, 40, 3000)
    np.savetxt(file, np.column_stack((source, source ^ 1, 10 * np.arange(len(source)))), fmt="%d")
    shown = printed("temporal.py", str(file))
    assert "3,000 messages between 40 people" in shown
    assert "checked: no message was predicted from later ones" in shown


def test_a_network_of_a_file_is_followed_and_learned_window_by_window(tmp_path, printed):
    """Twenty pairs who write to each other."""
    random, file = np.random.default_rng(0), tmp_path / "messages.txt"
    source = random.integers(0, 40, 2000)
    np.savetxt(file, np.column_stack((source, source ^ 1, 10 * np.arange(len(source)))), fmt="%d")
    shown = printed("dynamic_graph.py", str(file), "--windows", "5", "--epochs", "20", "--batch", "100")
    assert shown.count("40 people,    20 components,   5.0 % in the largest") >= 4
    guessed = [float(found) for found in re.findall(r"([\d.]+) GraphSAGE", shown)]
    assert guessed[-1] > 0.9
    assert "40 updates, 1 of them from nothing" in shown
    picture = Path(shown.rpartition("picture: ")[2].strip())
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_layers_from_the_disk_are_those_from_memory(printed):
    assert "checked: the same in memory" in printed("inference_from_disk.py")


@pytest.mark.thorough
@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch is built without torch.distributed")
def test_two_processes_learn_as_much_as_one(printed):
    shown = printed("distributed_training.py", "--vertices", "1500")
    assert re.search(r"2 processes: [\d.]+ %", shown)
    assert "checked: several processes learn as much as one" in shown
