"""The examples that train on mini-batches, at small sizes."""

import re
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data"


def test_products_are_learned_as_well_from_the_disk_as_from_memory(printed):
    shown = printed("products.py", "--scale", "0.002", "--epochs", "2")
    assert "checked: as many vertices are right" in shown
    right = [float(found) for found in re.findall(r"([\d.]+) % right", shown)]
    assert len(right) == 2 and min(right) > 20  # of 16 classes


def test_accuracy_on_batches_is_that_on_the_whole_graph(printed):
    file = DATA / "planetoid-cora" / "cora.clean.npz"
    if not file.exists():
        pytest.skip("Cora is not in ../shared/data")
    shown = printed("mini_batch.py", str(file), "--seeds", "2", "--epochs", "30").splitlines()[-1]
    whole, batches = map(float, re.findall(r"([\d.]+) \+-", shown))
    assert whole > 70 and abs(whole - batches) < 3
