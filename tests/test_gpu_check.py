"""The steps of `make gpu`, and that failures do not stop it."""

import os
import sys
import time
from pathlib import Path

import pytest

from bench import gpu_check
from bench.gpu_check import Outcome, Step


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """The folder for results, and steps that may be short."""
    monkeypatch.setattr(gpu_check, "RESULTS", tmp_path)
    monkeypatch.setattr(gpu_check, "LEAST", 0.01)
    (tmp_path / "gpu-check").mkdir()
    return tmp_path


def run(code, limit=60.0, left=60.0, name="some step"):
    return gpu_check.run(Step(name, [sys.executable, "-c", code], limit), time.monotonic() + left)


def test_the_output_of_a_step_is_summarised():
    outcome = run("print('..\\n=== 3 passed, 1 skipped in 0.12s ===\\nbye')")
    assert (outcome.result, outcome.summary) == ("passed", "3 passed, 1 skipped in 0.12s")
    outcome = run("print('FAILED tests/a.py::b - no\\nERROR tests/c.py\\n1 failed in 2.0s'); exit(1)")
    assert outcome.result == "failed" and outcome.failures == ["FAILED tests/a.py::b - no", "ERROR tests/c.py"]
    assert run("print('last line')").summary == "last line"
    outcome = run("print('[gw1] [ 1%] PASSED tests/a.py::b\\n[gw0] [ 2%] FAILED tests/a.py::c'); exit(1)")
    assert outcome.summary == "1 passed, 1 failed until then"
    assert outcome.failures == ["[gw0] [ 2%] FAILED tests/a.py::c"]
    assert run("print('tests/a.py::b PASSED [ 1%]')").summary == "1 passed, 0 failed until then"


def test_a_step_that_takes_too_long_is_ended_with_its_processes(results):
    note = results / "pid"
    started = "import subprocess; process = subprocess.Popen(['sleep', '900'])"
    code = f"{started}; open({str(note)!r}, 'w').write(str(process.pid)); process.wait()"
    for limit in (3, 30, 300):  # on a busy machine it takes longer until both processes are there
        assert run(code, limit=limit, left=2 * limit).result == "out of time"
        if note.exists() and note.read_text():
            break
    for _ in range(600):
        if not Path(f"/proc/{note.read_text()}").exists() or "State:\tZ" in _status(note.read_text()):
            return
        time.sleep(0.1)
    pytest.fail("the process that the step had started is still there")


def _status(pid):
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return "State:\tZ"


def test_what_cannot_begin_does_not_stop_the_rest():
    assert run("", left=-1).result == "left out"
    missing = gpu_check.run(Step("x", ["/no/such/program"], 60), time.monotonic() + 60)
    assert missing.result == "failed" and "/no/such/program" in missing.summary


def test_the_report_lists_all(results):
    outcomes = [Outcome("pulls", "failed", 3.2, "1 failed | 2", ["FAILED a`b"]), Outcome("comparison", "passed", 1)]
    (results / "gpu-some.md").write_text("# Aggregation on some\n\ntable\n")
    gpu_check.save(outcomes, dry=False)
    text = (results / "gpu-check.md").read_text()
    for part in ("| pulls | failed | 3 | 1 failed / 2 |", "- `FAILED ab`", "## Aggregation on some"):
        assert part in text


@pytest.mark.parametrize(("said", "expected"), [("CUDA Version: 12.4 |", (12, 4)), ("no driver", (13, 0))])
def test_torch_is_built_for_the_cuda_of_the_driver(tmp_path, monkeypatch, said, expected):
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\necho '{said}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert gpu_check.cuda_of_driver() == expected
    wanted = [part for step in gpu_check.requirements(expected).values() for part in step]
    assert f"cuda-bindings=={expected[0]}.*" in wanted
    assert ("--index-url" in wanted) == (expected[0] == 12)


def test_every_test_that_runs_on_a_gpu_is_in_the_list():
    folder = gpu_check.ROOT / "tests"
    listed = {file for _, files, _ in gpu_check.TESTS for file in files or ()}
    of_the_host = {"test_built.py", "test_nvrtc.py", "test_shim.py"}
    kernels = {path for path in (folder / "kernels" / "cuda").glob("test_*.py") if path.name not in of_the_host}
    others = set(folder.rglob("test_*.py")) - {Path(__file__)}
    marked = {path for path in others if "pytest.mark.gpu" in path.read_text()}
    assert listed == {path.relative_to(folder).as_posix() for path in kernels | marked}


def test_what_is_tried_without_a_gpu_is_what_runs_with_one():
    dry, real = (list(gpu_check.steps("python", dry, 1)) for dry in (True, False))
    assert {step.name for step in dry} <= {step.name for step in real}
    assert all(("TGRAPH_DRY" in step.environment) == (step in dry) for step in (*dry, *real))
