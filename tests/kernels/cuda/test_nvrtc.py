"""Every CUDA kernel compiles for every architecture without spilling registers, and what was compiled is kept."""

import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import cubin
import cuda_samples
import dry
import pytest
import torch
from built import built, digest

import tgraph.kernels.cuda
from tgraph.errors import ArgumentError, KernelError
from tgraph.kernels.cuda import compiler
from tgraph.kernels.cuda.kernel import SOURCES, Kernel

pytestmark = pytest.mark.skipif(compiler.unavailable() is not None, reason=str(compiler.unavailable()))

ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "sm_120")
AT_ONCE = 16  # kernels of one source that are compiled together


def wrappers():
    """The modules that launch kernels, by their names."""
    names = [info.name for info in pkgutil.iter_modules(tgraph.kernels.cuda.__path__)]
    modules = {name: importlib.import_module(f"tgraph.kernels.cuda.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "instantiations")}


WRAPPERS = wrappers()


def batches(kernels):
    """The kernels, each once, in groups of one source."""
    ordered = sorted(set(kernels), key=lambda kernel: (kernel.source, kernel.expression))
    for _, same in groupby(ordered, key=lambda kernel: kernel.source):
        group = list(same)
        yield from (group[first : first + AT_ONCE] for first in range(0, len(group), AT_ONCE))


def faults(kernels, architecture):
    """{expression: the messages of ptxas and the cubin} of the kernels that need local memory, or could not be
    launched."""
    binary, log = compiler.translate(kernels, architecture)
    found = re.findall(
        r"Function properties for (\S+)\s*\n.*?(\d+ bytes stack frame, \d+ bytes spill stores, \d+ bytes spill loads)",
        log,
    )
    said = dict(found)
    assert said.keys() >= set(binary.symbols.values()), f"ptxas says nothing of some kernels:\n{log[:2000]}"
    nothing = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
    entries = cubin.entries(binary.code)
    wrong = {
        name: [said[symbol]] * (said[symbol] != nothing) + dry.faults_of(entries[symbol], architecture)
        for name, symbol in binary.symbols.items()
    }
    return {name: what for name, what in wrong.items() if what}


def faults_kept(kernels, architecture):
    """The same, without a compilation where an earlier run found it from the same sources."""
    texts = [Path(module.__file__).read_text() for module in (cubin, dry)] + [Path(__file__).read_text()]
    key = digest((compiler._key(kernels, architecture), *texts))
    found = built(f"nvrtc/{key}.json", lambda path: path.write_text(json.dumps(faults(kernels, architecture))))
    return json.loads(found.read_text())


@pytest.mark.thorough
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("module", WRAPPERS)
def test_every_kernel_compiles_without_spills_and_can_be_launched(module, architecture):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        groups = batches(WRAPPERS[module].instantiations())
        wrong = [found for found in pool.map(lambda group: faults_kept(group, architecture), groups) if found]
    assert not wrong


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_kernel_of_every_source_compiles_without_spills_and_can_be_launched(architecture):
    kernels = [kernel for module in WRAPPERS.values() for kernel in module.instantiations()]
    first = {kernel.source: kernel for kernel in reversed(kernels)}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda kernel: faults_kept([kernel], architecture), first.values())
        assert not [wrong for wrong in found if wrong]


def test_every_source_has_a_wrapper_that_lists_its_kernels():
    listed = {kernel.source for module in WRAPPERS.values() for kernel in module.instantiations()}
    assert {str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.cu")} == listed


def test_a_kernel_that_spills_is_found_out(folder):
    kernels = [Kernel(str(folder / "spill.cu"), "spill", (type,)) for type in ("float", "double")]
    found = faults(kernels, "sm_90")
    assert found.keys() == {kernel.expression for kernel in kernels}
    assert not faults([cuda_samples.shift(folder)], "sm_90")


def test_the_tables_of_a_cubin_are_read(folder):
    """And found out where it does not fit a launch."""
    binary = compiler.compile([Kernel(str(folder / "large.cu"), "large")], "sm_80")
    entry = cubin.entries(binary.code)[binary.symbols["tgraph::large"]]
    assert entry.parameters == ((0, 8), (8, 4), (12, 1), (16, 8)) and entry.parameter_bytes == 24
    assert entry.max_threads == 96 and entry.shared == 5000 * 8 and 0 < entry.registers <= 255
    wrong = dry.faults_of(entry, "sm_80", 128)
    assert "parameters lie at ((0, 8), (8, 4)" in wrong[0] and "128 threads, 96 are allowed" in wrong[1]
    assert "140000 bytes of shared memory, a block has 101376" in dry.faults_of(entry, "sm_120", dynamic=100_000)[-1]
    assert len(dry.faults_of(replace(entry, registers=200), "sm_80", 512)) == 3
    assert "static" in dry.faults_of(replace(entry, shared=50_000), "sm_90")[-1]


def test_a_launch_is_prepared_up_to_the_driver(folder, kept):
    kernel, x = cuda_samples.shift(folder), torch.zeros(5)
    dry.launch("sm_90", kernel, 1, 128, x, None, x, 5, -2.5)
    with pytest.raises(AssertionError, match=r"shift<float> for sm_90: 4 arguments for 5 parameters"):
        dry.launch("sm_90", kernel, 1, 128, x, None, x, 5)
    with pytest.raises(AssertionError, match="2048 threads, 1024 are allowed"):
        dry.launch("sm_90", kernel, 1, 2048, x, None, x, 5, 1.0)
    with pytest.raises(ArgumentError, match="not contiguous"):
        dry.launch("sm_90", kernel, 1, 128, torch.zeros(2, 3).T, None, x, 5, 1.0)


@pytest.fixture
def folder(tmp_path):
    """A folder with small sources."""
    cuda_samples.write(tmp_path)
    return tmp_path


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder in which this test's kernels are kept."""
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def compiled(monkeypatch):
    """The compilations by NVRTC: a list of (expressions, architecture)."""
    calls = []

    def translate(kernels, architecture, really=compiler.translate):
        calls.append(([kernel.expression for kernel in kernels], architecture))
        return really(kernels, architecture)

    monkeypatch.setattr(compiler, "translate", translate)
    return calls


def entries(kept: Path) -> list[Path]:
    return sorted(kept.glob("*.bin"))


def test_a_kernel_is_compiled_once(folder, kept, compiled):
    first = compiler.compile([cuda_samples.shift(folder)], "sm_90")
    second = compiler.compile([cuda_samples.shift(folder)], "sm_90")
    assert first == second and first.code[:4] == b"\x7fELF"
    assert list(first.symbols) == ["tgraph::shift<float>"]
    assert first.symbols["tgraph::shift<float>"].encode() in first.code
    assert compiled == [(["tgraph::shift<float>"], "sm_90")]
    assert len(entries(kept)) == 1 and not list(kept.glob("*.part"))


def test_other_kernels_architectures_and_sources_have_entries_of_their_own(folder, kept, compiled, monkeypatch):
    kernel = cuda_samples.shift(folder)
    compiler.compile([kernel], "sm_90")
    compiler.compile([kernel], "sm_80")
    compiler.compile([kernel, cuda_samples.shift(folder, "int64_t")], "sm_90")
    (folder / "steps.cuh").write_text(cuda_samples.STEP.replace("x + by", "x - by"))  # included by the source
    compiler.compile([kernel], "sm_90")
    (folder / "shift.cu").write_text(cuda_samples.SHIFT + "// changed\n")
    compiler.compile([kernel], "sm_90")
    monkeypatch.setattr(compiler, "version", lambda: "99.9")
    compiler.compile([kernel], "sm_90")
    monkeypatch.setattr(compiler, "OPTIONS", compiler.OPTIONS | {"fma": False})
    compiler.compile([kernel], "sm_90")
    assert len(compiled) == len(entries(kept)) == 7


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:50] + b"?" + b[51:], lambda b: b + b"\0"]
)
def test_a_damaged_entry_is_compiled_again(damage, folder, kept, compiled):
    compiler.compile([cuda_samples.shift(folder)], "sm_90")
    (entry,) = entries(kept)
    entry.write_bytes(damage(entry.read_bytes()))
    # Not the same bytes as before: NVRTC puts a number into the names of internal symbols.
    again = compiler.compile([cuda_samples.shift(folder)], "sm_90")
    assert len(compiled) == 2 and again.code[:4] == b"\x7fELF"
    assert compiler.compile([cuda_samples.shift(folder)], "sm_90") == again
    assert len(compiled) == 2 and entries(kept) == [entry]


COMPILE_SLOWLY = """
import sys, time
from pathlib import Path
import cuda_samples
from tgraph.kernels.cuda import compiler

def translate(*given, really=compiler.translate):
    print("compiled", flush=True)
    time.sleep(1)
    return really(*given)

compiler.translate = translate
print("ready", flush=True)
sys.stdin.read(1)
assert compiler.compile([cuda_samples.shift(Path(sys.argv[1]))], "sm_90").code
"""


@pytest.mark.thorough
def test_processes_that_start_together_compile_once(folder, kept):
    command = [sys.executable, "-c", COMPILE_SLOWLY, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": Path(__file__).parent}
    processes = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("!")
        process.stdin.flush()
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(said) == ["", "compiled\n"]
    assert len(entries(kept)) == 1


def test_without_locks_it_compiles_too(folder, kept, compiled, monkeypatch):
    def no_locks(*given, **options):
        raise NotImplementedError("no locks on this file system")

    monkeypatch.setattr(compiler, "FileLock", no_locks)
    assert compiler.compile([cuda_samples.shift(folder)], "sm_90").code
    assert len(compiled) == len(entries(kept)) == 1


def test_a_cache_that_cannot_be_written_is_not_needed(folder, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="TGRAPH_CACHE"):
        assert compiler.compile([cuda_samples.shift(folder)], "sm_90").code


def test_an_entry_that_cannot_be_written_is_not_needed(folder, kept, monkeypatch):
    def full(entry, mode):
        raise OSError("no space left on device")

    monkeypatch.setattr(compiler, "replacing", full)
    with pytest.warns(RuntimeWarning, match="no space left"):
        assert compiler.compile([cuda_samples.shift(folder)], "sm_90").code


posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")


@posix
def test_what_is_kept_is_for_its_owner_alone(folder, kept):
    before = os.umask(0)
    try:
        compiler.compile([cuda_samples.shift(folder)], "sm_90")
    finally:
        os.umask(before)
    (entry,) = entries(kept)
    assert kept.stat().st_mode & 0o777 == 0o700 and entry.stat().st_mode & 0o777 == 0o600


@posix
def test_a_folder_that_others_may_write_is_not_read(folder, kept, compiled):
    compiler.compile([cuda_samples.shift(folder)], "sm_90")
    (entry,) = entries(kept)
    compiler._write(entry, compiler.Binary(b"planted", {"tgraph::shift<float>": "planted"}))
    assert compiler.compile([cuda_samples.shift(folder)], "sm_90").code == b"planted"
    kept.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=r"others may write to it.*rm -r"):
        assert compiler.compile([cuda_samples.shift(folder)], "sm_90").code[:4] == b"\x7fELF"
    assert len(compiled) == 2


@posix
def test_an_entry_that_others_may_write_is_compiled_again(folder, kept, compiled):
    compiler.compile([cuda_samples.shift(folder)], "sm_90")
    (entry,) = entries(kept)
    entry.chmod(0o666)
    compiler.compile([cuda_samples.shift(folder)], "sm_90")
    assert len(compiled) == 2 and entries(kept)[0].stat().st_mode & 0o777 == 0o600


def test_an_error_names_the_kernel_the_architecture_and_the_place(folder, kept):
    (folder / "steps.cuh").write_text("namespace tgraph { template <class T> T step(T x, T by) { return lost; } }")
    with pytest.raises(KernelError) as caught:
        compiler.compile([cuda_samples.shift(folder)], "sm_90")
    for part in ("tgraph::shift<float>", "shift.cu", "sm_90", f"NVRTC {compiler.version()}", "steps.cuh(1)", "lost"):
        assert part in str(caught.value)
    assert caught.value.kernel == "tgraph::shift<float>" and "steps.cuh(1)" in caught.value.log
    assert not entries(kept)


def test_an_error_of_many_kernels_names_the_first(folder, kept):
    kernels = [cuda_samples.shift(folder, type) for type in ("float", "double", "int64_t", "nothing", "int32_t")]
    with pytest.raises(KernelError, match=r"shift<int64_t> and 2 more"):
        compiler.compile(kernels, "sm_90")


def test_code_for_a_device_is_of_its_major_number():
    assert [compiler.architecture(each) for each in ((8, 0), (8, 6), (9, 0), (10, 0), (12, 0))] == [
        "sm_80", "sm_86", "sm_90", "sm_100", "sm_120",
    ]  # fmt: skip
    assert compiler.architecture((12, 9)).startswith("sm_12")  # to come: runs what is compiled for its elders
    assert compiler.architecture((3, 5)) is None
