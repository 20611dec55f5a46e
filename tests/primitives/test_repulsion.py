"""Repulsion by a quadtree is near that of all pairs, and equal to it where every pair is added."""

import pytest
import torch
from strategies import same_on_threads

import tgraph as tg
from tgraph.core.dispatch import BACKENDS
from tgraph.errors import ArgumentError

repulsion = tg.primitives.repulsion.repulsion
SERVING = [name for name in ("native", "portable") if "sorted_repulsion" in BACKENDS[name].operators]


def drawn(n: int, seed: int) -> torch.Tensor:
    key = tg.random.key(seed)
    return tg.random.uniform(key, torch.arange(2 * n)).reshape(n, 2)


def exact(points: torch.Tensor, mass: torch.Tensor) -> torch.Tensor:
    apart = points[:, None] - points
    square = (apart * apart).sum(2)
    weight = torch.where(square > 0, mass / square.clamp(min=1e-300), 0.0)
    return (apart * weight[:, :, None]).sum(1) * mass[:, None]


@pytest.fixture(params=SERVING)
def backend(request, monkeypatch):
    if request.param == "portable":
        monkeypatch.delitem(BACKENDS["native"].operators, "sorted_repulsion")
    elif BACKENDS["native"].unavailable() is not None:
        pytest.skip("no compiled kernels")
    return request.param


@pytest.mark.parametrize("n", [0, 1, 2, 9, 300])
def test_every_pair(backend, n):
    points, mass = drawn(n, 1) * 100 - 30, drawn(n, 2)[:, 0]
    torch.testing.assert_close(repulsion(points, mass, theta=0), exact(points, mass), rtol=1e-9, atol=1e-9)


def test_far_cells_count_as_one_point(backend):
    points, mass = drawn(3000, 3) ** 3, torch.ones(3000)
    true = exact(points, mass.double())
    for theta, error in ((0.3, 0.01), (1.0, 0.08)):
        found = repulsion(points.float(), mass, theta=theta)
        assert float((found - true).norm() / true.norm()) < error


def test_points_in_one_place_do_not_move_each_other(backend):
    points = torch.zeros(5000, 2)
    assert not repulsion(points, torch.ones(5000)).any()
    points[-1] = torch.tensor([3.0, 4.0])
    found = repulsion(points, torch.ones(5000))
    torch.testing.assert_close(found[-1], 4999 * torch.tensor([3.0, 4.0]).double() / 25)
    torch.testing.assert_close(found[0], -torch.tensor([3.0, 4.0]).double() / 25)


def test_the_same_on_any_number_of_threads():
    points, mass = drawn(20_000, 4), torch.ones(20_000)
    same_on_threads(lambda: repulsion(points, mass))


@pytest.mark.parametrize(
    ("points", "mass", "message"),
    [
        (torch.zeros(3), torch.ones(3), r"expected floating \[n, 2\]"),
        (torch.zeros(3, 2), torch.ones(2), r"mass: expected \[3\]"),
        (torch.tensor([[0.0, 0.0], [0.0, torch.nan]]), torch.ones(2), "at position 1 is not finite"),
    ],
)
def test_wrong_arguments(points, mass, message):
    with pytest.raises(ArgumentError, match=message):
        repulsion(points, mass)
