"""A clone imports as it stands, whether the package is installed or not."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment that has what tgraph requires; of tgraph, the installed modules are hidden."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.strip()
    # The .pth files in these folders are not followed from here, so that no editable installation is seen.
    (Path(site) / "required.pth").write_text("\n".join(p for p in sys.path if p.endswith("site-packages")) + "\n")
    return python


def test_a_clone_that_is_not_installed_imports(python):
    code = (
        "import tgraph.algorithms.bfs, tgraph as tg\n"
        "graph = tg.Graph.from_edges([0, 1], [1, 2])\n"
        "print(tg.__file__, tg.algorithms.__file__, tg.algorithms.bfs(graph, 0).tolist())"
    )
    done = subprocess.run([python, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True)
    modules = (ROOT / "tgraph" / "__init__.py", ROOT / "algorithms" / "__init__.py")
    assert done.stdout.split(maxsplit=2) == [*map(str, modules), "[0, 1, 2]\n"], done.stderr
