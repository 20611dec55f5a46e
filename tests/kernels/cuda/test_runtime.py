"""How kernels are launched, with a driver that only takes notes; and a kernel on the shim or on a GPU."""

import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import cuda_samples
import interpreters
import pytest
import torch
from strategies import refused

from tgraph.errors import ArgumentError, KernelError
from tgraph.kernels.cuda import compiler, runtime
from tgraph.kernels.cuda.compiler import Binary
from tgraph.kernels.cuda.runtime import Kernel, launch

KERNEL = Kernel("some.cu", "some", ("float",))


class Placed(torch.Tensor):
    """A tensor whose device is a GPU."""

    is_cuda = True
    number = 0

    def get_device(self):
        return self.number

    @property
    def device(self):
        return torch.device("cuda", self.number)


def placed(*shape, number=0):
    tensor = torch.zeros(shape).as_subclass(Placed)
    tensor.number = number
    return tensor


class Driver:
    """A fake of torch.cuda, the compiler and cuda.core, which records the calls in `notes`."""

    def __init__(self, monkeypatch):
        self.notes = []
        self.current = 0
        self.fault = None
        core = SimpleNamespace(
            launch=self.launch,
            LaunchConfig=lambda grid, block: (grid, block),
            Stream=SimpleNamespace(from_handle=lambda handle: f"stream {handle}"),
            Device=lambda number: SimpleNamespace(set_current=lambda: self.notes.append(f"bind {number}")),
            ObjectCode=SimpleNamespace(from_cubin=lambda code, name: SimpleNamespace(get_kernel=lambda symbol: symbol)),
        )
        for name, value in {
            "_core": lambda: core,
            "_functions": {},
            "_thread": threading.local(),
            "_architecture": lambda device: "sm_90",
            "_config": runtime._config.__wrapped__,
            "_stream": runtime._stream.__wrapped__,
            "unavailable": lambda: None,
        }.items():
            monkeypatch.setattr(runtime, name, value)
        monkeypatch.setattr(compiler, "compile", self.compile)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: self.current)
        monkeypatch.setattr(torch.cuda, "device", self.device)
        monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda number: 100 + number, raising=False)

    def compile(self, kernels, architecture):
        self.notes.append(f"compile for {architecture}")
        return Binary(b"", {kernel.expression: kernel.name for kernel in kernels})

    @contextmanager
    def device(self, number):
        before, self.current = self.current, number
        yield
        self.current = before

    def launch(self, *given):
        if self.fault:
            raise self.fault
        self.notes.append(given)


@pytest.fixture
def driver(monkeypatch):
    return Driver(monkeypatch)


def test_arguments_become_what_the_kernel_reads(driver):
    x = placed(3)
    launch(KERNEL, (4, 2), 128, x, 7, 0.5, None, True, -(2**40))
    sent = driver.notes[-1]
    assert sent == ("stream 100", ((4, 2), 128), "some", x.data_ptr(), 7, 0.5, 0, 1, -(2**40))
    assert [type(value) for value in sent[3:]] == [int, int, float, int, int, int]


@pytest.mark.parametrize("grid", [0, (0, 3), (3, 0)])
def test_no_blocks_are_no_work(driver, grid):
    launch(KERNEL, grid, 128, placed(3))
    assert not driver.notes


@pytest.mark.parametrize("grid", [2**31, (2**31, 1), (1, 65536), (2**40, 2**20)])
def test_more_blocks_than_a_device_has_are_refused(driver, grid):
    with pytest.raises(ArgumentError, match=r"tgraph::some<float>: a grid of .* blocks, at most \(2147483647, 65535\)"):
        launch(KERNEL, grid, 128, placed(3))
    assert not driver.notes
    launch(KERNEL, (2**31 - 1, 65535), 128, placed(3))
    assert driver.notes[-1][1] == ((2**31 - 1, 65535), 128)


def test_a_kernel_is_compiled_and_loaded_once(driver):
    for _ in range(3):
        launch(KERNEL, 1, 32, placed(3))
    assert [note for note in driver.notes if isinstance(note, str)] == ["bind 0", "compile for sm_90"]
    assert len(driver.notes) == 5


def test_another_device_is_current_during_the_launch_only(driver, monkeypatch):
    seen = []
    monkeypatch.setattr(driver, "notes", SimpleNamespace(append=lambda note: seen.append((driver.current, note))))
    launch(KERNEL, 1, 32, placed(3, number=1))
    assert driver.current == 0 and {device for device, _ in seen} == {1}
    assert seen[-1][1][0] == "stream 101" and (1, "bind 1") in seen


def test_every_thread_is_bound_once(driver):
    launch(KERNEL, 1, 32, placed(3))
    thread = threading.Thread(target=lambda: [launch(KERNEL, 1, 32, placed(3)) for _ in range(2)])
    thread.start()
    thread.join()
    assert driver.notes.count("bind 0") == 2 and len(driver.notes) == 6


def test_tensors_that_a_kernel_cannot_read_are_refused(driver):
    with pytest.raises(ArgumentError, match=r"tgraph::some<float>, argument 1: float32\[2, 3\] on cpu"):
        launch(KERNEL, 1, 32, placed(3), torch.zeros(2, 3))
    with pytest.raises(ArgumentError, match=r"argument 2: float32\[3\] on cuda:1.*cuda:0; move it there"):
        launch(KERNEL, 1, 32, placed(3), 5, placed(3, number=1))
    refused(r"argument 0: .* not contiguous; call contiguous\(\)", launch, KERNEL, 1, 32, placed(2, 3).T)
    refused("no argument is a tensor", launch, KERNEL, 1, 32, 5)
    assert not driver.notes


def test_a_failed_launch_names_the_kernel_and_its_arguments(driver):
    driver.fault = RuntimeError("CUDA_ERROR_INVALID_VALUE")
    with pytest.raises(KernelError) as caught:
        launch(KERNEL, (3, 2), 2048, placed(2, 3), 7, None)
    for part in (
        "tgraph::some<float>",
        "grid (3, 2)",
        "block 2048",
        "float32[2, 3] on cuda:0, 7, None",
        "INVALID_VALUE",
    ):
        assert part in str(caught.value)


def test_a_launch_names_what_it_lacks(driver, monkeypatch):
    monkeypatch.setattr(runtime, "unavailable", lambda: "cuda-core is missing; pip install 'tgraph[cuda13]'")
    with pytest.raises(KernelError, match=r"tgraph::some<float>: cannot run: cuda-core is missing; pip install"):
        launch(KERNEL, 1, 32, placed(3))


def test_a_device_that_cannot_load_the_code_is_named(driver, monkeypatch):
    def fails(code, name):
        raise RuntimeError("CUDA_ERROR_NO_BINARY_FOR_GPU")

    runtime._core().ObjectCode.from_cubin = fails
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "Some GPU")
    with pytest.raises(KernelError, match="Some GPU cannot load it: CUDA_ERROR_NO_BINARY_FOR_GPU"):
        launch(KERNEL, 1, 32, placed(3))
    assert not runtime._functions


@pytest.mark.skipif(compiler.unavailable() is not None, reason=str(compiler.unavailable()))
def test_a_device_that_the_compiler_does_not_know_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda number: (3, 5))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "Old GPU")
    with pytest.raises(KernelError, match=r"compute capability 3\.5 of Old GPU"):
        runtime._architecture.__wrapped__(0)


def test_why_kernels_cannot_run(monkeypatch):
    why = runtime.unavailable.__wrapped__
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "built without CUDA" in why()
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert why() == "torch finds no CUDA device"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(compiler, "unavailable", lambda: None)
    assert why() is None


def test_why_kernels_cannot_be_compiled(monkeypatch):
    why = compiler.unavailable.__wrapped__
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    assert "cuda-core" in why() and why().endswith("pip install 'tgraph[cuda12]'")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert why().endswith("pip install 'tgraph[cuda13]'")

    def no_library():
        raise RuntimeError("No such file: libnvrtc.so.13")

    monkeypatch.setitem(sys.modules, "cuda.core", SimpleNamespace())
    monkeypatch.setattr(compiler, "version", no_library)
    assert "libnvrtc" in why() and why().endswith("pip install 'tgraph[cuda13]'")


def test_importing_tgraph_loads_nothing_of_it():
    code = "import sys, tgraph, tgraph.kernels.cuda.runtime; sys.exit('cuda.core' in sys.modules)"
    assert interpreters.run(code).returncode == 0


def test_a_kernel_computes(device, tmp_path):
    cuda_samples.write(tmp_path)
    kernel = cuda_samples.shift(tmp_path, "int64_t")
    for n in (0, 1, 100, 1000):
        x, more = torch.arange(n, device=device), torch.full((n,), 3, device=device)
        for other, expected in ((None, x + 10), (more, x + 13)):
            y = torch.empty_like(x)
            runtime.launch(kernel, -(-n // 128), 128, x, other, y, n, 10.0)
            assert torch.equal(y, expected)
