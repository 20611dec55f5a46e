"""Tests that need a GPU: kernels with torch's work on streams, on several devices and in CUDA graphs."""

import threading

import cuda_samples
import pytest
import torch

from tgraph.core.csr import Csr
from tgraph.errors import ArgumentError, KernelError
from tgraph.kernels.cuda import runtime
from tgraph.kernels.cuda.runtime import Kernel, launch
from tgraph.primitives import attention

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(runtime.unavailable() is not None, reason=str(runtime.unavailable())),
]


@pytest.fixture
def shift(tmp_path, monkeypatch):
    """shift(x, by) = x + by, by a kernel that this test compiles."""
    cuda_samples.write(tmp_path)
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "cache"))
    kernel = cuda_samples.shift(tmp_path, "int64_t")

    def compute(x, by, y=None):
        y = torch.empty_like(x) if y is None else y
        launch(kernel, -(-x.numel() // 256), 256, x, None, y, x.numel(), float(by))
        return y

    compute.kernel = kernel
    return compute


def numbers(n=100_000, device="cuda"):
    return torch.arange(n, device=device)


def test_a_kernel_takes_its_turn_between_torch_operators(shift):
    x = numbers()
    for step in range(20):
        x = shift(x * 2, step) - step
    assert torch.equal(x, numbers() * 2**20)


def test_a_kernel_runs_on_the_current_stream(shift):
    x, stream = numbers(), torch.cuda.Stream()
    shift(x, 1)  # compiled and loaded before the clock runs
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        x += 1  # waits for the sleep, and the kernel for it
        y = shift(x, 1)
    assert not stream.query(), "the launch waited for the stream"
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(y, numbers() + 2)


def test_a_kernel_is_captured_in_a_cuda_graph(shift):
    x, y = numbers(), numbers()
    shift(x, 1, y)  # compiled and loaded before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        shift(x, 5, y)
    x.zero_()
    graph.replay()
    assert torch.equal(y, torch.full_like(y, 5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_and_its_gradients_are_captured_in_a_cuda_graph(dtype):
    n, degree, width = 3000, 8, (4, 32)
    src = torch.randint(n, (n * degree,), dtype=torch.int32, device="cuda")
    arcs = Csr(torch.arange(0, n * degree + 1, degree, device="cuda"), src, None, n)
    x, target, vector = (
        torch.randn(size, device="cuda", dtype=dtype).requires_grad_() for size in ((n, *width), (n, *width), width)
    )

    def train():
        for leaf in (x, target, vector):
            leaf.grad = None
        out = attention.gatv2(arcs, x, target, vector, backend="cuda")
        out.square().sum().backward()
        return out

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # compiles, transposes and bins before the capture
        for _ in range(3):
            train()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = train()
    kept = [leaf.grad for leaf in (x, target, vector)]
    with torch.no_grad():
        x.copy_(torch.randn_like(x))
    graph.replay()
    replayed = [tensor.clone() for tensor in (out.detach(), *kept)]
    expected = train()
    for found, wanted in zip(replayed, (expected, x.grad, target.grad, vector.grad), strict=True):
        assert torch.equal(found, wanted)


def test_a_thread_that_has_done_nothing_with_cuda_can_launch(shift):
    x, found = numbers(), []
    y = torch.empty_like(x)
    thread = threading.Thread(target=lambda: found.append(shift(x, 3, y)))
    thread.start()
    thread.join()
    assert torch.equal(found[0], x + 3)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_a_kernel_runs_where_its_tensors_are(shift):
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        assert torch.equal(shift(numbers(device=device), 1), numbers(device=device) + 1)
        assert torch.cuda.current_device() == 0
    with pytest.raises(ArgumentError, match="cuda:1"):
        shift(numbers(), 1, numbers(device="cuda:1"))


def test_a_tensor_on_the_cpu_is_refused(shift):
    with pytest.raises(ArgumentError, match=r"argument 2: int64\[5\] on cpu"):
        shift(numbers(5), 1, numbers(5, "cpu"))


def test_an_impossible_launch_is_an_error_and_does_no_harm(shift):
    x = numbers(10)
    with pytest.raises(KernelError, match="block 4096"):
        launch(shift.kernel, 1, 4096, x, None, x, 10, 1.0)
    assert torch.equal(shift(x, 1), numbers(10) + 1)


def test_a_broken_source_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "broken.cu"
    source.write_text("namespace tgraph { __global__ void broken(float* x) { lost; } }")
    with pytest.raises(KernelError, match="lost"):
        launch(Kernel(str(source), "broken"), 1, 1, numbers(5))
