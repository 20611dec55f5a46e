"""The benchmark of spread graphs runs, and notices what differs."""

import pytest
import torch

from bench import distributed


@pytest.mark.thorough
def test_ranks_compute_what_one_process_does(tmp_path, monkeypatch, capsys):
    given = ["b", "--scale", "7", "--repeat", "1", "--graphs", "rmat", "--output", str(tmp_path)]
    monkeypatch.setattr("sys.argv", given)
    distributed.main()
    assert "rmat-7" in (tmp_path / "distributed.md").read_text()
    cells = capsys.readouterr().out
    assert "pagerank" in cells and "sssp" in cells


def test_another_result_is_an_error():
    with pytest.raises(RuntimeError, match="bfs"):
        distributed.check("bfs", torch.zeros(3), torch.ones(3))
