"""Gradients of a fixpoint x = step(x, parameters), without the iterations that found it: by the implicit function
theorem, d x / d p = (1 - J)^-1 d step / d p, with J the derivative of the step by x.

A backward pass solves w = g + J^T w for the gradient g by transposed steps, in O(n + m) of memory, extrapolated from
the last few (Bai, Kolter and Koltun, "Deep equilibrium models", NeurIPS 2019; Blondel et al., "Efficient and modular
implicit differentiation", NeurIPS 2022). w is a fixpoint too, so derivatives of any order follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import NotConvergedError

Step = Callable[..., Tensor]
MOST = 20_000  # steps of a backward pass
DEPTH = 5  # changes from which a step is extrapolated
RIDGE = 1e-13  # added to the products of unit vectors, which may depend on each other
is_wrapped: Callable[[Tensor], bool] = torch._C._functorch.is_functorch_wrapped_tensor


def is_recorded(*values: Any) -> bool:
    """Whether a gradient is wanted by one of the `values`, of which those that are no tensors never want one.

    >>> tg.primitives.implicit.is_recorded(0.85, None, torch.ones(2, requires_grad=True))
    True
    """
    if not torch.is_grad_enabled():
        return False
    return any(isinstance(value, Tensor) and (value.requires_grad or is_wrapped(value)) for value in values)


def fixpoint(solve: Step, step: Step, *parameters: Tensor, tolerance: float = 1e-6) -> Tensor:
    """The x of `solve(*parameters)`, with the gradients of x = step(x, *parameters) by the parameters.

    solve : finds x, floating [n] or [n, ...]; called with plain tensors, without gradient.
    step : one step from x by differentiable operations, whose only tensors with gradients are its arguments.
    tolerance : the backward pass ends once its step changes no number by more than this, relative to the largest.

    Under `torch.vmap` each problem is solved on its own. A backward pass raises NotConvergedError where J has the
    eigenvalue 1, so that x has no derivative, or the steps do not find it.

    >>> half = torch.tensor(0.5, requires_grad=True)
    >>> x = tg.primitives.implicit.fixpoint(lambda p: 1 / (1 - p), lambda x, p: 1 + p * x, half)
    >>> x.backward()
    >>> x.item(), round(half.grad.item(), 4)
    (2.0, 4.0)
    """
    return _Fixpoint.apply(solve, step, tolerance, *parameters)


def without_gradient(solve: Callable[..., tuple[Tensor, ...]], *parameters: Tensor) -> tuple[Tensor, ...]:
    """The tensors that `solve(*parameters)` returns, called with the plain tensors of `parameters` within
    transforms of torch.func, too; without gradient. Under `torch.vmap` it is called for each problem.

    >>> find = lambda weights: (weights.argmin(),)
    >>> torch.func.grad(lambda w: w[tg.primitives.implicit.without_gradient(find, w)[0]])(torch.tensor([2.0, 1.0]))
    tensor([0., 1.])
    """
    return _Plain.apply(solve, *parameters)


class _Plain(torch.autograd.Function):
    @staticmethod
    def forward(solve: Callable[..., tuple[Tensor, ...]], *parameters: Tensor) -> tuple[Tensor, ...]:
        return solve(*(each.detach() for each in parameters))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, ...]:
        return (None,) * len(ctx.needs_input_grad)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], solve: Callable[..., Any], *parameters: Tensor) -> Any:
        every = [without_gradient(solve, *given) for given in _problems(info, in_dims[1:], parameters)]
        return tuple(torch.stack(each) for each in zip(*every, strict=True)), (0,) * len(every[0])


class _Fixpoint(torch.autograd.Function):
    @staticmethod
    def forward(solve: Step, step: Step, tolerance: float, *parameters: Tensor) -> Tensor:
        return solve(*(each.detach() for each in parameters))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.solve, ctx.step, ctx.tolerance, *parameters = inputs
        ctx.save_for_backward(output, *parameters)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        x, *parameters = ctx.saved_tensors
        step, tolerance = ctx.step, ctx.tolerance

        def adjoint(w: Tensor, g: Tensor, x: Tensor, *parameters: Tensor) -> Tensor:
            return g + torch.func.vjp(lambda x: step(x, *parameters), x)[1](w)[0]

        def solve(g: Tensor, x: Tensor, *parameters: Tensor) -> Tensor:
            return _solved(g, _transposed(lambda x: step(x, *parameters), x), tolerance)

        w = fixpoint(solve, adjoint, grad, x, *parameters, tolerance=tolerance)
        by_parameters = lambda *parameters: step(x, *parameters)  # noqa: E731
        if torch.is_grad_enabled():
            found = torch.func.vjp(by_parameters, *parameters)[1](w)
        else:
            found = _transposed(by_parameters, *parameters)(w)
        return None, None, None, *found

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], solve: Step, step: Step, tolerance: float, *parameters: Tensor
    ) -> Any:
        every = _problems(info, in_dims[3:], parameters)
        return torch.stack([fixpoint(solve, step, *given, tolerance=tolerance) for given in every]), 0


def _problems(info: Any, dims: tuple[Any, ...], parameters: tuple[Tensor, ...]) -> Iterator[list[Tensor]]:
    """The parameters of each problem of a batch."""
    for index in range(info.batch_size):
        yield [each if dim is None else each.select(dim, index) for each, dim in zip(parameters, dims, strict=True)]


def _transposed(function: Step, *inputs: Tensor) -> Callable[[Tensor], tuple[Tensor, ...]]:
    """The transposed derivative of a function of plain tensors, which makes of a gradient of its result those of the
    inputs."""
    with torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in inputs]
        result = function(*leaves)

    return lambda w: torch.autograd.grad(result, leaves, w, retain_graph=True, materialize_grads=True)


def _solved(g: Tensor, pull: Callable[[Tensor], tuple[Tensor, ...]], tolerance: float) -> Tensor:
    """w = g + J^T w, by iteration from g, extrapolated from the last DEPTH steps."""
    least = max(tolerance, 16 * torch.finfo(g.dtype).eps)
    largest = g.abs().max() if g.numel() else 0.0
    if not largest:
        return torch.zeros_like(g)
    w, step, past = g, pull(g)[0], _Past()
    for _ in range(MOST):
        change, size = step.abs().max(), (w + step).abs().max()
        if change <= least * size:
            return w + step
        if not size <= largest / torch.finfo(g.dtype).eps:
            break
        after = w + past.extrapolated(step)
        further = g + pull(after)[0] - after
        past.add(after - w, further - step)
        w, step = after, further
    raise NotConvergedError(
        "backward: the gradient of the fixpoint does not converge; steps of it must contract: use a smaller damping or "
        "alpha, or a fixed number of rounds (tol=None), through which gradients are recorded",
        None,
        float(change / size),
    )


class _Past:
    """The last changes of an iterate, [N] each, and of the step from it. A combination of them takes away most of the
    next step (Anderson, "Iterative procedures for nonlinear integral equations", 1965): the components of the few
    largest eigenvalues, such as that of all vertices alike, which PageRank itself starts without."""

    def __init__(self) -> None:
        self._changes: list[tuple[Tensor, Tensor]] = []

    def add(self, change: Tensor, of_step: Tensor) -> None:
        self._changes = [*self._changes, (change, of_step)][-DEPTH:]

    def extrapolated(self, step: Tensor) -> Tensor:
        """The step to take in place of `step`."""
        if not self._changes:
            return step
        changes, of_steps = (
            torch.stack([each.flatten() for each in kind]) for kind in zip(*self._changes, strict=True)
        )
        scale = of_steps.norm(dim=1, keepdim=True).clamp(min=torch.finfo(step.dtype).tiny)
        basis = of_steps / scale
        products = (basis @ basis.T).double()
        products.diagonal().add_(RIDGE)
        share = torch.linalg.solve(products, (basis @ step.flatten()).double())
        return step - (share.to(step.dtype) @ ((changes + of_steps) / scale)).view_as(step)
