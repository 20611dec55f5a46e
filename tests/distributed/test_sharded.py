"""Vertex data that is spread over ranks computes what plain tensors do."""

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks, said_of
from torch import Tensor

from tgraph.distributed import Ownership, Sharded, from_local

N = 10
STARTS = {1: (0, N), 2: (0, 3, N), 3: (0, 4, 4, N)}  # a rank may have no rows

SAME = {
    "arithmetic": lambda x, d: 2 * x / d.clamp(min=1) + 1,
    "in place": lambda x, d: x.clone().mul_(3).add_(d),
    "where": lambda x, d: torch.where(d == 0, x, torch.inf),
    "masked_fill": lambda x, d: x.masked_fill(d == 1, -1),
    "with a plain tensor": lambda x, d: x * torch.arange(N),
    "columns": lambda x, d: (x[:, None] * torch.ones(1, 3))[:, 1],
    "reshape": lambda x, d: x.view(-1)[:, None].expand(-1, 4).flatten(1),
    "to": lambda x, d: x.to(torch.float64),
    "sum": lambda x, d: x.sum(),
    "sum of columns": lambda x, d: x[:, None].expand(-1, 2).sum(0),
    "sum of rows": lambda x, d: x[:, None].expand(-1, 2).sum(1),
    "mean": lambda x, d: x.mean(),
    "extremes": lambda x, d: torch.stack((x.max(), x.min(), *x.aminmax())),
    "norm": lambda x, d: x.norm(),
    "dot": lambda x, d: torch.dot(x, x),
    "any": lambda x, d: torch.stack(((d == 2).any(), (d >= 0).all(), (d == 7).any())),
    "argmax": lambda x, d: torch.stack((x.argmax(), x.argmin())),
    "topk": lambda x, d: torch.stack((x.topk(3).values, x.topk(3).indices.to(x.dtype))),
    "bincount": lambda x, d: torch.bincount(d, minlength=6),
    "nonzero": lambda x, d: (d == 0).nonzero().flatten(),
    "unique": lambda x, d: d.unique(),
    "one row": lambda x, d: x[4],
    "rows by number": lambda x, d: x[torch.tensor([9, 0, 9, -2])],
    "rows by mask": lambda x, d: x[d == 0].sum(),
    "adjacent rows": lambda x, d: x[2:7] * 2,
    "matrix product": lambda x, d: x[:, None] @ torch.ones(1, 3),
    "equal": lambda x, d: torch.tensor([torch.equal(x, x + 0), torch.equal(x, x + 1)]),
    "write one": lambda x, d: _written(x, 5, 7.0),
    "write rows": lambda x, d: _written(x, torch.tensor([1, 8]), torch.tensor([5.0, 6.0])),
    "write by mask": lambda x, d: _written(x, d == 1, 0.0),
    "gradient": lambda x, d: torch.autograd.grad((_tracked(y := x.clone()) ** 2).sum(), y)[0],
    "gradient of a matrix": lambda x, d: _products(x, "first"),
    "its second gradient": lambda x, d: _products(x, "second"),
    "sum over the rows of a product": lambda x, d: x[:, None].t() @ (x[:, None] @ torch.ones(1, 3)),
}


def _products(x: Tensor, order: str) -> Tensor:
    """The gradients of a loss by a matrix, a bias and a vector, or of the square of these, row after row."""
    given = [torch.linspace(-1, 1, 6).view(2, 3), torch.linspace(0, 1, 3), torch.linspace(1, 2, 2)]
    matrix, bias, vector = (each.clone().requires_grad_() for each in given)
    rows = _tracked(torch.stack((x, x * x), 1).detach())
    made = torch.nn.functional.linear(rows, matrix.t(), bias).square().sum() + (rows @ matrix).cos().sum()
    if order == "second":
        first = torch.autograd.grad(made, (matrix, bias), create_graph=True)
        return torch.autograd.grad(sum(each.square().sum() for each in first), matrix)[0].flatten()
    found = torch.autograd.grad(made + (rows @ vector).square().sum(), (matrix, bias, vector))
    return torch.cat([each.flatten() for each in found])


def _written(x: Tensor, index, value) -> Tensor:
    written = x.clone()
    written[index] = value
    return written


def _tracked(x: Tensor) -> Tensor:
    return x.requires_grad_()


def compare(number: int) -> list[str]:
    random = torch.Generator().manual_seed(number)
    x, d = torch.rand(N, generator=random), torch.randint(0, 3, (N,), generator=random)
    held = Ownership(STARTS[number])
    spread_x, spread_d = Sharded(held.own(x).clone(), held), Sharded(held.own(d).clone(), held)
    wrong = []
    for name, function in SAME.items():
        found, wanted = function(spread_x, spread_d), function(x, d)
        found = found.full_tensor() if isinstance(found, Sharded) else found
        if found.dtype != wanted.dtype or not torch.allclose(found, wanted):
            wrong.append(f"{name}: {found} is not {wanted}")
    return wrong


@pytest.mark.parametrize("number", STARTS)
def test_operations_equal_those_on_plain_tensors(number):
    assert on_ranks(number, compare, number) == [[]] * number


def refuse() -> list[str]:
    held = Ownership(STARTS[2])
    values = Sharded(torch.zeros(held.num_own), held)
    return said_of(
        lambda: values.sort(),
        lambda: values.numpy(),
        lambda: values.tolist(),
        lambda: values + Sharded(torch.zeros((7, 3)[dist.get_rank()]), Ownership((0, 7, N))),
        lambda: torch.zeros(N).add_(values),
        lambda: values[torch.tensor([N])],
        lambda: Sharded(torch.zeros(N), held),
        lambda: values[:, None].t() + 1,
    )


def test_what_cannot_be_done_names_the_remedy():
    for said in on_ranks(2, refuse):
        assert all("full_tensor()" in each for each in said[:4])
        assert "every rank has" in said[4] and "10 is none of the 10 rows" in said[5] and "expected the" in said[6]
        assert said[7].startswith("torch.add: of the transpose")


def gradients() -> tuple[Tensor, Tensor]:
    held = Ownership(STARTS[2])
    local = torch.ones(held.num_own, requires_grad=True)
    whole = from_local(local, held)
    (whole * torch.arange(N)).sum().backward()
    return local.grad, whole.to_local()


def test_gradients_flow_to_the_rows_of_each_rank():
    found = on_ranks(2, gradients)
    assert torch.equal(torch.cat([gradient for gradient, _ in found]), torch.arange(N).float())
