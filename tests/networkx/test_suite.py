"""Parts of networkx's own tests with its functions run here; `make networkx` runs all of them."""

import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

PARTS = ("algorithms/link_analysis", "algorithms/components", "algorithms/shortest_paths/tests/test_unweighted.py")


@pytest.mark.thorough
@pytest.mark.skipif("tgraph" not in nx.utils.backends.backends, reason="tgraph is not installed as a backend")
@pytest.mark.parametrize("fallback", ["", "True"])
def test_networkx(fallback, tmp_path):
    folder = Path(nx.__file__).parent
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(folder / part) for part in PARTS)],
        env={**os.environ, "NETWORKX_TEST_BACKEND": "tgraph", "NETWORKX_FALLBACK_TO_NX": fallback},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-2000:]
