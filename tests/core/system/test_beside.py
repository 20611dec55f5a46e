"""A clone can be imported, whether the package is installed or not."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tgraph.core.system import native

ROOT = Path(__file__).parents[3]


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
        "import tgraph.algorithms.paths.bfs, tgraph as tg\n"
        "graph = tg.Graph.from_edges([0, 1], [1, 2])\n"
        "print(tg.__file__, tg.algorithms.__file__, tg.algorithms.bfs(graph, 0).tolist())"
    )
    done = subprocess.run([python, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True)
    modules = (ROOT / "tgraph" / "__init__.py", ROOT / "algorithms" / "__init__.py")
    assert done.stdout.split(maxsplit=2) == [*map(str, modules), "[0, 1, 2]\n"], done.stderr


def copied(folder, installed):
    """The package in a folder, without kernels as in a clone, or with them as it is installed; with Python's bytecode,
    which would take seconds to compile."""
    compiled = shutil.ignore_patterns("_native*.so", "*.?pp")
    shutil.copytree(ROOT / "tgraph", folder / "tgraph", ignore=compiled)
    shutil.copytree(ROOT / "algorithms", folder / "tgraph" / "algorithms" if installed else folder / "algorithms")
    if installed:
        kernels = Path(native.load().__file__)
        (folder / "tgraph" / kernels.name).symlink_to(kernels)


def warned(python, folder, path):
    """The warnings of the first use of kernels, in a folder."""
    code = "from tgraph.core.system import native; print(native.load())"
    environment = {**os.environ, "PYTHONPATH": str(path)}
    environment.pop("TGRAPH_NATIVE", None)
    done = subprocess.run([python, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
def test_a_clone_beside_an_installation_names_how_to_get_its_kernels(python, tmp_path):
    """It is found first in its own folder, and has no kernels."""
    clone, site, elsewhere = (tmp_path / name for name in ("clone", "site", "elsewhere"))
    elsewhere.mkdir()
    copied(clone, installed=False)
    copied(site, installed=True)
    said = warned(python, clone, site)
    assert f"imported from the clone {clone}" in said and f"those installed in {site / 'tgraph'}" in said
    assert "from another folder" in said and f"pip install --editable {clone}" in said
    assert warned(python, elsewhere, site) == ""  # the first remedy
    said = warned(python, clone, elsewhere)
    assert f"imported from the clone {clone}" in said and "another folder" not in said
    assert f"pip install {clone}" in said and "C++20" in said
