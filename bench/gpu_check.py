"""All checks of ten minutes on a machine with a GPU: `make gpu`, which needs its driver and python3 only.

    python3 bench/gpu_check.py [--minutes 10] [--dry] [--python PATH]

Makes a separate environment, .venv-gpu, with the build of torch for CUDA that the driver can run. Then come the
tests, what matters most first, and the comparison with the peers that are there. What fails, or takes longer than its
share, does not keep the rest from running. Everything is listed in bench/results/gpu-check.md, the output of each step
lies in bench/results/gpu-check.

--dry : without a GPU. pip only lists what it would install; the tests run on the host, with every launch prepared up to
    the driver: compiled by NVRTC, its parameters, registers and shared memory held against what is launched.
--python : another environment's interpreter, in place of one to be made.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
DRY = "sm_90"  # what is compiled for without a GPU
LEAST = 5  # seconds that are worth beginning a step

# Requirements of the tests and the comparison besides torch; the package itself is used from the clone, and its
# kernels for the CPU, which take minutes to compile, are not needed.
NEEDED = ["numpy", "pyarrow", "safetensors", "xxhash", "pandas", "matplotlib", "tqdm", "typer", "filelock"]
NEEDED += ["pytest", "pytest-xdist", "hypothesis", "networkx", "scipy", "torch-geometric"]

# Which tests, what matters most first, and the minutes they may take of ten. None is the comparison.
TESTS: list[tuple[str, list[str] | None, float]] = [
    ("launches, streams and graphs", ["kernels/cuda/test_gpu.py", "kernels/cuda/test_runtime.py"], 1),
    ("whole algorithms", ["kernels/cuda/test_gpu_algorithms.py"], 1.5),
    ("comparison", None, 2),
    ("pulls", ["kernels/cuda/test_pull.py", "kernels/cuda/test_linear.py"], 2),
    ("relaxations", ["kernels/cuda/test_relaxation.py", "kernels/cuda/test_loop.py"], 2),
    ("components and frontiers", ["kernels/cuda/test_union_find.py", "kernels/cuda/test_frontier.py"], 1),
    ("attention", ["kernels/cuda/test_attention.py"], 2),
    ("gradients", ["kernels/cuda/test_adjoints.py"], 1),
    ("layouts and tensor cores", ["kernels/cuda/test_wsb.py", "kernels/cuda/test_sell.py"], 1),
    ("building and what is there", ["core/building/test_gpu.py", "cli/test_examination.py"], 0.5),
    ("blocks and checkpoints", ["stream/run/test_streamed.py", "engine/test_checkpoint.py"], 1),
    ("several processes", ["distributed/test_gpu.py"], 2),
    ("batches", ["sampling/test_gpu.py", "pyg/test_prefetching.py"], 0.5),
]


@dataclass
class Step:
    """A command.

    limit : seconds that it may take.
    environment : variables in addition to those of this process.
    """

    name: str
    command: list[str]
    limit: float
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Outcome:
    """The outcome of a step: "passed", "failed", "out of time" or "left out", and a summary of its output."""

    name: str
    result: str
    seconds: float
    summary: str = ""
    failures: list[str] = field(default_factory=list)


def main() -> int:
    arguments = parse()
    deadline = time.monotonic() + 60 * arguments.minutes
    shutil.rmtree(RESULTS / "gpu-check", ignore_errors=True)
    (RESULTS / "gpu-check").mkdir(parents=True)
    outcomes: list[Outcome] = []
    python = arguments.python or str(ROOT / ".venv-gpu" / "bin" / "python")
    for step in [*environment(arguments), *steps(python, arguments.dry, arguments.minutes / 10)]:
        outcomes.append(run(step, deadline))
        save(outcomes, arguments.dry)  # after each, so that nothing is lost when the machine goes
    print(f"written: {RESULTS / 'gpu-check.md'}")
    return int(any(outcome.result != "passed" for outcome in outcomes))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("--python")
    return parser.parse_args()


# ---- what is run ----------------------------------------------------------------------------------------------------


def environment(arguments: argparse.Namespace) -> Iterable[Step]:
    """Steps that make the environment and list its packages."""
    limit = 5 * 60 * arguments.minutes / 10
    if arguments.dry:
        pip = [arguments.python or sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        for name, what in requirements((13, 0)).items():
            yield Step(f"what would be installed, {name}", [*pip, *what], limit)
        return
    yield Step("driver", ["nvidia-smi"], 60)
    if not arguments.python:
        folder = ROOT / ".venv-gpu"
        yield Step("environment", [sys.executable, "-m", "venv", str(folder)], 60)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        for name, what in requirements(cuda_of_driver()).items():
            yield Step(name, [*pip, *what], limit)


def requirements(cuda: tuple[int, int]) -> dict[str, list[str]]:
    """The arguments of pip, step by step, for a driver that knows CUDA up to this version."""
    if cuda >= (13, 0):
        tested, index = ["-c", str(ROOT / "constraints.txt")], []
        kernels = ["cuda-core", "cuda-bindings==13.*", "nvidia-cuda-nvrtc==13.*"]
    else:
        tested, index = [], ["--index-url", "https://download.pytorch.org/whl/cu126"]
        kernels = ["cuda-core", "cuda-bindings==12.*", "nvidia-cuda-nvrtc-cu12"]
    return {"torch": [*tested, *index, "torch"], "what the tests need": [*tested, *NEEDED, *kernels]}


def cuda_of_driver() -> tuple[int, int]:
    """The newest CUDA that the driver can run, as nvidia-smi reports; 13.0 where it reports nothing."""
    try:
        said = subprocess.run(["nvidia-smi"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    found = re.search(r"CUDA Version:\s*(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (13, 0)


def steps(python: str, dry: bool, share: float) -> Iterable[Step]:
    """The tests and the comparison, each of which may take its minutes of ten times `share`."""
    variables = {"PYTHONPATH": str(ROOT)} | ({"TGRAPH_DRY": DRY} if dry else {})
    yield Step("what there is", [python, "-m", "tgraph", "doctor"], 60, variables)
    workers = str(min(8, os.cpu_count() or 1))  # most of the time is that of the compiler
    for name, files, minutes in TESTS:
        limit = 60 * minutes * share
        if files is None:
            yield Step(name, [python, "-m", "bench.gpu", *comparison(dry)], limit, variables)
            continue
        paths = [f"tests/{file}" for file in files if not dry or is_emulated(file)]
        options = ["-v", "-rfE", "--tb=short", "-p", "no:cacheprovider", "-m", "not gpu" if dry else "gpu"]
        if paths:
            yield Step(name, [python, "-m", "pytest", "-n", workers, *options, *paths], limit, variables)
    if not dry and (sanitizer := shutil.which("compute-sanitizer")):
        files = ["test_gpu.py", "test_frontier.py", "test_union_find.py", "test_loop.py"]
        tests = ["-v", "-rfE", "-m", "gpu", "-k", "not captured", *(f"tests/kernels/cuda/{file}" for file in files)]
        # cuda.bindings asks the driver for functions that it may lack; each would be reported as an error of the API.
        command = [sanitizer, "--report-api-errors", "no", "--error-exitcode", "1", python, "-m", "pytest", *tests]
        yield Step("accesses to memory", command, 180 * share, variables)


def is_emulated(file: str) -> bool:
    """Whether the tests of a file run CUDA kernels on the host too."""
    return file.startswith("kernels/cuda/") and not Path(file).name.startswith("test_gpu")


def comparison(dry: bool) -> list[str]:
    """The options of `bench.gpu`."""
    if dry:
        return ["--device", "cpu", "--scale", "8", "--features", "1,32", "--heads", "8", "--repeat", "1"]
    return ["--scale", "18", "--features", "1,64", "--heads", "64", "--repeat", "10"]


# ---- running it -----------------------------------------------------------------------------------------------------


def run(step: Step, deadline: float) -> Outcome:
    """Run a step for as long as it may, and as there is time; its output goes to a file, and its end to the report."""
    began = time.monotonic()
    limit = min(step.limit, deadline - began)
    if limit < LEAST:
        return told(Outcome(step.name, "left out", 0, "no time was left; --minutes gives more"))
    log = RESULTS / "gpu-check" / f"{re.sub('[^a-z]+', '-', step.name)}.log"
    with log.open("w+") as output:
        output.write(f"$ {' '.join(step.command)}\n")
        output.flush()
        try:
            process = subprocess.Popen(
                step.command,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=os.environ | step.environment,
                start_new_session=True,
            )
        except OSError as fault:
            return told(Outcome(step.name, "failed", 0, str(fault)))
        try:
            result = "passed" if process.wait(limit) == 0 else "failed"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that it has started
            process.wait()
            result = "out of time"
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    said = log.read_text(errors="replace").splitlines()[1:]
    return told(Outcome(step.name, result, time.monotonic() - began, summary(said), failures(said)))


def summary(said: list[str]) -> str:
    """A summary of the output of a step: what pytest counts, the file that was written, or the last line."""
    lines = [line.strip() for line in said if line.strip()]
    for pattern in (r"\d+ (passed|failed|skipped|error).* in [\d.]+s", r"^written: .*", r"^Would install .*"):
        if found := [line.strip("= ") for line in lines if re.search(pattern, line)]:
            return found[-1][:200]
    words = [word for line in lines for word in re.findall(r"(?:^\[gw|::).* (PASSED|FAILED|ERROR)\b", line)]
    if words:  # pytest did not come to its end
        return f"{words.count('PASSED')} passed, {len(words) - words.count('PASSED')} failed until then"
    return lines[-1][:200] if lines else ""


def failures(said: list[str]) -> list[str]:
    """The tests that failed, as pytest lists them at its end or, where it did not come to that, as they came."""
    listed = [line for line in said if re.match("(FAILED|ERROR) ", line)]
    return listed or [
        line.strip() for line in said if re.search(r"^\[gw.* (FAILED|ERROR) |::.* (FAILED|ERROR)\b", line)
    ]


def told(outcome: Outcome) -> Outcome:
    print(f"  {outcome.name}: {outcome.result}, {outcome.seconds:.0f} s. {outcome.summary}", flush=True)
    return outcome


def save(outcomes: list[Outcome], dry: bool) -> None:
    """Write the report: a row for each step, and each test that failed."""
    lines = ["# What a GPU says of the CUDA kernels", "", f"Prepared for {DRY}, not launched." if dry else "", ""]
    lines += ["| step | result | seconds | summary |", "|---|---|---|---|"]
    for each in outcomes:
        lines.append(f"| {each.name} | {each.result} | {each.seconds:.0f} | {each.summary.replace('|', '/')} |")
    failures = [failure for each in outcomes for failure in each.failures]
    if failures:
        lines += ["", "## What failed", "", *(f"- `{failure.replace('`', '')}`" for failure in failures)]
    tables = [path for path in sorted(RESULTS.glob("gpu-*.md")) if path.name != "gpu-check.md"]
    if tables and any(each.name == "comparison" and each.result == "passed" for each in outcomes):
        lines += ["", max(tables, key=lambda path: path.stat().st_mtime).read_text().replace("# ", "## ", 1)]
    (RESULTS / "gpu-check.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
