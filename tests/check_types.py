"""What type checkers of users see of tgraph: python tests/check_types.py 95

At least so many percent of the public names have a type that all type checkers agree on, by pyright --verifytypes; and
the modules whose names are exported pass mypy --strict. The installed package is a copy, as a wheel would lay it out.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
STRICT = (
    "tgraph/__init__.py",
    "tgraph/errors.py",
    "tgraph/core/graph.py",
    "tgraph/core/frontier.py",
    "tgraph/core/subgraph.py",
    "tgraph/model/program.py",
    "tgraph/model/operators.py",
    "tgraph/engine/run.py",
    "tgraph/engine/tracing/trace.py",
)


def laid_out(folder: Path) -> None:
    """The packages as they are once installed."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "tgraph", folder / "tgraph", ignore=ignored)
    shutil.copytree(ROOT / "algorithms", folder / "tgraph" / "algorithms", ignore=ignored)


def completeness(folder: Path) -> float:
    """The share of public names with a type that is known, in percent; the others are printed."""
    here = Path(sys.executable).parent
    environment = os.environ | {"PYTHONPATH": str(folder), "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    command = [here / "basedpyright", "--ignoreexternal", "--verifytypes", "tgraph", "--outputjson"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    found = json.loads(done.stdout)["typeCompleteness"]
    for symbol in found["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            for said in symbol["diagnostics"]:
                print(f"{symbol['name']}: {' '.join(said['message'].split())}")
    return 100 * found["completenessScore"]


def main() -> None:
    least = float(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        laid_out(Path(folder))
        known = completeness(Path(folder))
    print(f"{known:.1f} % of the public names have a known type")
    strict = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *STRICT]
    passed = subprocess.run(strict, cwd=ROOT).returncode == 0
    sys.exit(not (passed and known >= least))


if __name__ == "__main__":
    main()
