"""`bench.build`: seconds of the compiler by file, from the log of its launcher."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench import build

ROOT = Path(__file__).parents[1]


def test_the_launcher_logs_what_a_command_took_and_passes_its_status_on(tmp_path):
    log, work = tmp_path / "log", "sum(range(5_000_000)); raise SystemExit(3)"
    command = [sys.executable, "-c", work, "-o", "CMakeFiles/_native.dir/tgraph/kernels/native/csr/csr.cpp.o"]
    for _ in range(2):
        assert subprocess.run([*build.launcher(log).split(";"), *command]).returncode == 3
    (seconds,) = build.read(log).values()
    assert set(build.read(log)) == {"csr/csr.cpp"} and seconds > 0


def test_checks_of_the_compiler_are_left_out_and_nanobind_has_a_folder(tmp_path):
    log = tmp_path / "log"
    lines = (
        "1.5\tCMakeFiles/cmTC_1.dir/a.cxx.o",
        "2\tCMakeFiles/nanobind-static.dir/x/nb_func.cpp.o",
        "0.5\tpch.gch",
        "9\t",
    )
    log.write_text("\n".join(lines) + "\n")
    assert build.read(log) == {"nanobind/nb_func.cpp": 2, "pch.gch": 0.5}


def test_the_table_has_files_folders_and_what_has_moved(monkeypatch):
    monkeypatch.setattr(build, "recorded", lambda: {"csr/a.cpp": 1.0, "csr/b.cpp": 1.0, "dag/gone.cpp": 0.5})
    text = build.table(build.Counter({"csr/a.cpp": 2.16, "csr/b.cpp": 4.0, "dag/c.cpp": 6.0}), 2.0)
    assert "| csr | 6.2 | 3.08 |" in text and "| dag/c.cpp | 6.0 | 3.00 |" in text
    moved = text.partition("moved since")[2]
    assert "| csr/b.cpp | 1.00 | 2.00 |" in moved and "| dag/gone.cpp | 0.50 | 0.00 |" in moved
    assert "csr/a.cpp" not in moved and "3 files: 12.2 CPU seconds, 6.1 times the fixed file, 2.5 at the last" in moved


@pytest.mark.thorough
def test_the_fixed_file_compiles():
    assert build.reference_seconds() > 0
