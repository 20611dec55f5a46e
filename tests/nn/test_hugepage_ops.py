import pytest
import torch
import torch.nn.functional as F

from tgraph.errors import ArgumentError
from tgraph.nn import hugepage_ops
from tgraph.nn.hugepage_ops import linear_map, plus


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(hugepage_ops, "LARGE", 1)


def rand(*shape: int, **options):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64, **options)


def leaves(*tensors):
    return [tensor.clone().requires_grad_() for tensor in tensors]


def ran(monkeypatch) -> list[str]:
    """Which operations ran, in place of those of torch."""
    found = []
    for name in ("_LinearMap", "_Plus"):
        kind = getattr(hugepage_ops, name)

        def apply(*inputs, kind=kind):
            found.append(kind.__name__)
            return kind.apply(*inputs)

        monkeypatch.setattr(hugepage_ops, name, type(name, (), {"apply": staticmethod(apply)}))
    return found


@pytest.mark.parametrize("rows", [0, 1, 50])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_linear_map_is_that_of_torch(rows, biased, dtype, monkeypatch):
    found = ran(monkeypatch)
    x, weight, bias = rand(rows, 7).to(dtype), rand(5, 7).to(dtype), rand(5).to(dtype) if biased else None
    torch.testing.assert_close(linear_map(x, weight, bias), F.linear(x, weight, bias))
    torch.testing.assert_close(linear_map(x.t().contiguous().t(), weight, bias), F.linear(x, weight, bias))
    assert found == (["_LinearMap"] * 2 if rows else [])


def test_gradients_to_any_order():
    x, weight, bias = leaves(rand(6, 4), rand(3, 4), rand(3))
    assert torch.autograd.gradcheck(linear_map, (x, weight, bias))
    assert torch.autograd.gradgradcheck(linear_map, (x, weight, bias))
    assert torch.autograd.gradcheck(linear_map, (x, weight))
    for shape in ((4,), (6, 4)):
        assert torch.autograd.gradcheck(plus, leaves(rand(6, 4), rand(*shape)))
        assert torch.autograd.gradgradcheck(plus, leaves(rand(6, 4), rand(*shape)))


def test_gradients_of_some_only():
    x, weight, bias = rand(6, 4), rand(3, 4), rand(3)
    for wanted in range(3):
        ours, theirs = [x, weight, bias], [x, weight, bias]
        ours[wanted], theirs[wanted] = leaves(ours[wanted])[0], leaves(ours[wanted])[0]
        linear_map(*ours).square().sum().backward()
        F.linear(*theirs).square().sum().backward()
        torch.testing.assert_close(ours[wanted].grad, theirs[wanted].grad)


@pytest.mark.parametrize("shape", [(5,), (50, 5), (1,), (50, 1)])
def test_plus_is_plus(shape, monkeypatch):
    found = ran(monkeypatch)
    x, y = rand(50, 5), rand(*shape)
    torch.testing.assert_close(plus(x, y), x + y)
    assert found == (["_Plus"] if shape[-1] == 5 else [])


def test_what_is_not_plain_is_left_to_torch(monkeypatch):
    found = ran(monkeypatch)
    x, weight, bias = rand(6, 4), rand(3, 4), rand(3)
    assert linear_map(rand(2, 6, 4), weight, bias).shape == (2, 6, 3)
    assert linear_map(x.to_sparse(), weight).shape == (6, 3)
    assert linear_map(x.bfloat16(), weight.bfloat16()).dtype == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert linear_map(x.float(), weight.float(), bias.float()).dtype == torch.bfloat16
    assert linear_map(x.to("meta"), weight.to("meta")).device.type == "meta"
    torch.testing.assert_close(torch.func.vmap(lambda row: linear_map(row[None], weight)[0])(x), x @ weight.t())
    tangent = torch.func.jvp(lambda x: linear_map(x, weight, bias), (x,), (torch.ones_like(x),))[1]
    torch.testing.assert_close(tangent, torch.ones_like(x) @ weight.t())
    assert found == []
    with pytest.raises(ArgumentError, match=r"edge_attr: torch.float64, parameters are torch.float32; use"):
        linear_map(x, weight.float(), argument="edge_attr")
    with pytest.raises(ArgumentError, match=r"x: expected \[..., 4\], got \[6, 3\]"):
        linear_map(rand(6, 3), weight)


def test_compiled():
    x, weight, bias = leaves(rand(6, 4), rand(3, 4), rand(3))
    compiled = torch.compile(lambda x: plus(linear_map(x, weight, bias), bias), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), F.linear(x, weight, bias) + bias)
