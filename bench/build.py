"""CPU seconds of the compiler by file and folder of the kernels, beside those of a fixed file compiled in the same run.

    python -m bench.build [--write]        compiles all kernels into a folder that vanishes
    python -m bench.build --log FILE       reads the log of a build that had this file as CMake's compiler launcher:
                                           CMAKE_CXX_COMPILER_LAUNCHER='python3;bench/build.py;--clock;FILE'

The ratio to the fixed file can be compared between machines, the seconds cannot. `bench/build.tsv` has the ratios of
the last commit; files that have moved by more than a tenth since then are listed. --write updates it. For GCC, Clang.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
KERNELS = "tgraph/kernels/native/"
RECORD = ROOT / "bench" / "build.tsv"
REFERENCE = "bench/build_reference.cpp"
MOVED = 0.1  # of a file's ratio, and at least LEAST in all
LEAST = 0.05


def clock(log: Path, command: list[str]) -> int:
    """Run a compiler, and append its CPU seconds and the name of its object file to a log."""
    status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = command[command.index("-o") + 1] if "-o" in command else ""
    with log.open("a") as lines:
        lines.write(f"{used.ru_utime + used.ru_stime:.3f}\t{made}\n")
    return status


def launcher(log: Path) -> str:
    """The compiler launcher of CMake that writes `log`."""
    return ";".join((sys.executable, str(Path(__file__).resolve()), "--clock", str(log)))


def build(log: Path) -> int:
    """Compile all kernels; returns the bytes of the module, stripped."""
    import nanobind

    with tempfile.TemporaryDirectory() as folder:
        options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher(log)}"]
        options += [f"-Dnanobind_DIR={nanobind.cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}"]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", folder], check=True)
        (module,) = Path(folder).glob("_native*")
        subprocess.run(["strip", module], check=True)
        return module.stat().st_size


def reference_seconds() -> float:
    """CPU seconds of the fixed file."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        compiler = os.environ.get("CXX", "c++")
        command = [compiler, "-std=c++20", "-O2", "-c", str(ROOT / REFERENCE), "-o", f"{folder}/reference.o"]
        subprocess.run([sys.executable, __file__, "--clock", log, *command], check=True)
        return read(log)["reference"]


def read(log: Path) -> Counter[str]:
    """Seconds by source file, below KERNELS where it is of the kernels."""
    seconds: Counter[str] = Counter()
    for line in log.read_text().splitlines():
        used, made = line.split("\t")
        if "CMakeFiles/cmTC" in made or not made:  # a check of the compiler
            continue
        name = (made.partition(KERNELS)[2] or Path(made).name).removesuffix(".o")
        seconds[f"nanobind/{name}" if "nanobind-static" in made else name] += float(used)
    return seconds


def recorded() -> dict[str, float]:
    """The ratios of the last commit."""
    committed = subprocess.run(
        ["git", "show", f"HEAD:{RECORD.relative_to(ROOT)}"], cwd=ROOT, capture_output=True, text=True
    )
    pairs = (line.split("\t") for line in committed.stdout.splitlines())
    return {name: float(ratio) for name, ratio in pairs}


def table(seconds: Counter[str], reference: float) -> str:
    """Files, folders and what has moved, in Markdown."""
    folders: Counter[str] = Counter()
    for name, used in seconds.items():
        folders[name.partition("/")[0]] += used
    lines = ["| file | CPU s | ratio |", "|---|---|---|"]
    lines += [f"| {name} | {used:.1f} | {used / reference:.2f} |" for name, used in seconds.most_common(20)]
    lines += ["", "| folder | CPU s | ratio |", "|---|---|---|"]
    lines += [f"| {name} | {used:.1f} | {used / reference:.2f} |" for name, used in folders.most_common()]
    before = recorded()
    ratios = {name: used / reference for name, used in seconds.items()}
    moved = [
        f"| {name} | {before.get(name, 0):.2f} | {ratios.get(name, 0):.2f} |"
        for name in sorted(before.keys() | ratios.keys())
        if abs(ratios.get(name, 0) - before.get(name, 0)) > max(MOVED * before.get(name, 0), LEAST)
    ]
    lines += ["", "| moved since the last commit | ratio before | now |", "|---|---|---|", *moved]
    was = f", {sum(before.values()):.1f} at the last commit" if before else ""
    total = sum(seconds.values())
    lines += ["", f"{len(seconds)} files: {total:.1f} CPU seconds, {total / reference:.1f} times the fixed file{was}; "]
    lines[-1] += f"the fixed file {reference:.2f} s; the slowest {max(seconds.values()):.1f} s"
    return "\n".join(lines)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="the log of a build, in place of compiling")
    parser.add_argument("--write", action="store_true", help=f"write the ratios to {RECORD.relative_to(ROOT)}")
    given = parser.parse_args()
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        log = given.log or Path(folder) / "log"
        times = [reference_seconds()]
        if given.log is None:
            sizes.append(f"the module has {build(log) / 1e6:.2f} MB")
            times.append(reference_seconds())
        seconds, reference = read(log), sum(times) / len(times)
    print(table(seconds, reference), *sizes, sep="\n")
    if given.write:
        lines = (f"{name}\t{used / reference:.3f}\n" for name, used in sorted(seconds.items()))
        RECORD.write_text("".join(lines))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--clock"]:
        sys.exit(clock(Path(sys.argv[2]), sys.argv[3:]))
    main()
