import torch

from tgraph.core.system.devices import USUAL_CACHE, cache_bytes


def test_the_size_of_the_cache(monkeypatch, tmp_path):
    assert cache_bytes(torch.device("cpu")) >= 1 << 15
    for text, size in {"2048K\n": 2 << 20, "1M": 1 << 20, "65536": 1 << 16, "large": USUAL_CACHE}.items():
        path = tmp_path / "size"
        path.write_text(text)
        monkeypatch.setattr("tgraph.core.system.devices._CACHE_SIZE", path)
        assert cache_bytes(torch.device("cpu")) == size
    monkeypatch.setattr("tgraph.core.system.devices._CACHE_SIZE", tmp_path / "none")
    assert cache_bytes(torch.device("cpu")) == cache_bytes(torch.device("mps")) == USUAL_CACHE
