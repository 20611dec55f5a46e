"""`tgraph store`: what it prints, and how it ends."""

import numpy as np
import pytest
from typer.testing import CliRunner

from tgraph.cli import app


def tgraph(*arguments, code=0):
    """Run `tgraph store` and return what it printed."""
    result = CliRunner().invoke(app, ["store", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stderr if code == 2 else result.stdout


@pytest.fixture
def array(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.rand(1000, 30).astype("f4"))
    return path


def test_put_info_copy_get_and_verify(array, tmp_path):
    folder, target = tmp_path / "store", f"disk:{tmp_path / 'copy'}"
    assert tgraph("put", folder, array, "--key", "features/~/x") == "features/~/x: float32 [1000, 30]\n"
    head, row, total = tgraph("info", folder).splitlines()
    assert head.split() == ["key", "dtype", "shape", "blocks", "bytes"]
    assert row.split() == ["features/~/x", "float32", "1000", "x", "30", "2", "120000"]
    assert total == f"DiskStore('{folder}'): 1 tensor, 120 kB"
    assert "120 kB copied in" in tgraph("copy", folder, target, "--progress")
    assert tgraph("get", target, tmp_path / "out.npy", "--key", "features/~/x").endswith("out.npy: features/~/x\n")
    assert np.array_equal(np.load(tmp_path / "out.npy"), np.load(array))
    assert "nothing damaged, verified in" in tgraph("verify", target, "--progress")


@pytest.mark.fault
def test_damage_gives_exit_code_1(array, tmp_path):
    folder = tmp_path / "store"
    tgraph("put", folder, array)
    data = bytearray((folder / "x.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "x.safetensors").write_bytes(data)
    said = tgraph("verify", folder, code=1).splitlines()
    assert "the checksum of the tensor 'x' differs between its elements" in said[0]
    assert said[1].startswith(f"DiskStore('{folder}'): 1 damaged")
    tgraph("copy", folder, tmp_path / "copy", code=3)
    tgraph("info", tmp_path / "copy", code=2)


def test_mistakes(array, tmp_path):
    assert "has no tensor" in tgraph("info", tmp_path / "nothing", code=2)
    assert tgraph("get", tmp_path, "x.npy", "--key", "y", code=2).startswith("tgraph: --key: ")
    assert "url: expected one of memory:" in tgraph("info", "ftp://host", code=2)
    assert "key: expected names" in tgraph("put", tmp_path, array, "--key", "a.b", code=2)
    assert "No such file" in tgraph("put", tmp_path, tmp_path / "none.npy", code=2)
