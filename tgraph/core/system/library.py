"""The operators that TGraph registers with torch, namespace "tgraph": so that autograd, torch.compile, CUDA graphs and
other tools that see a program as a graph of operators see each of them as one node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.library import Library

_LIBRARY = Library("tgraph", "DEF")


def register(
    schema: str,
    compute: Callable[..., Any],
    fake: Callable[..., Any],
    setup_context: Callable[..., None] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Define an operator for tensors on any device, and return it.

    schema : its name and types, as torch writes them.
    compute : its implementation, on tensors that do not require a gradient.
    fake : empty tensors of the shapes and dtypes of its result, from those of its arguments.
    setup_context, backward : as in `torch.autograd.Function`, and made of operators only, so that it can be
        differentiated again. Without them the results have no gradient.
    """
    name, plainly = schema.partition("(")[0], _plainly(compute)
    _LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    _LIBRARY.impl(name, plainly, "CompositeExplicitAutograd")
    torch.library.register_fake(f"tgraph::{name}", fake, lib=_LIBRARY)
    operator = getattr(torch.ops.tgraph, name).default
    _COMPUTED[operator] = plainly
    if backward is not None and setup_context is not None:

        def below(*arguments: Any) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                return operator(*arguments)

        _LIBRARY.impl(name, _recorded(name, below, setup_context, backward), "Autograd")
        _COMPUTED[operator] = _recorded(name, plainly, setup_context, backward)
    return operator


_COMPUTED: dict[Any, Callable[..., Any]] = {}


def directly(operator: Callable[..., Any]) -> Callable[..., Any]:
    """A registered operator as a function that bypasses torch's dispatcher on plain tensors (`is_plain`): on a
    mini-batch dispatch takes longer than the work."""
    computed = _COMPUTED[operator]

    def call(*arguments: Any) -> Any:
        plain = is_plain(*(argument for argument in arguments if isinstance(argument, Tensor)))
        return (computed if plain else operator)(*arguments)

    return call


def _plainly(compute: Callable[..., Any]) -> Callable[..., Any]:
    """The function on detached tensors: kernels require requires_grad=False."""

    def on_detached(*arguments: Any) -> Any:
        arguments = tuple(x.detach() if isinstance(x, Tensor) and x.requires_grad else x for x in arguments)
        if not torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled("cuda"):
            return compute(*arguments)
        with torch._C._DisableAutocast():  # torch's operators within would be called in another dtype than was said
            return compute(*arguments)

    return on_detached


def _recorded(
    name: str, below: Callable[..., Any], setup_context: Callable[..., None], backward: Callable[..., Any]
) -> Callable[..., Any]:
    """An operator with gradients, from one without.

    As `torch.library.register_autograd`, which inspects the schema at every call, at ten times the cost."""

    def forward(ctx: Any, *arguments: Any) -> Any:
        result = below(*arguments)
        setup_context(ctx, arguments, result)
        return result

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    function: Any = type(name, (torch.autograd.Function,), methods)
    apply = applied(function)

    def kernel(*arguments: Any) -> Any:
        return (apply if needs_grad(*arguments) else below)(*arguments)

    return kernel


def needs_grad(*tensors: object) -> bool:
    """True where operations on one of these are recorded for a backward pass, and a registered operator can be."""
    if not torch.is_grad_enabled():
        return False
    for tensor in tensors:
        if isinstance(tensor, Tensor) and tensor.requires_grad:
            return not in_functorch()
    return False


def is_plain(*tensors: Tensor | None) -> bool:
    """True where a function may read the memory of these tensors in place of calling an operator: they are on the CPU
    and of no subclass, and no trace, transform or dispatch mode is active."""
    if torch.compiler.is_compiling() or _num_modes() or _are_transforms_active() or _is_included(_SEVERAL):
        return False
    if _forward_ad._current_level >= 0:
        return False
    for tensor in tensors:  # noqa: SIM110  a generator takes three times as long
        if tensor is not None and (type(tensor) not in _PLAIN or not tensor.is_cpu):
            return False
    return True


_PLAIN = (Tensor, torch.nn.Parameter)
_SEVERAL: Any = torch._C._parse_dispatch_key("VmapMode")  # of a backward pass of several gradients at once
_num_modes, _is_included = torch._C._len_torch_dispatch_stack, torch._C._dispatch_tls_is_dispatch_key_included
_are_transforms_active = torch._C._are_functorch_transforms_active
_forward_ad = torch.autograd.forward_ad


def applied(function: type[torch.autograd.Function]) -> Callable[..., Any]:
    """`apply` of an autograd function without its checks for transforms of torch.func, none of which may be active."""
    inherited: Any = super(torch.autograd.Function, function)
    return inherited.apply


def in_functorch() -> bool:
    """True within a transform of torch.func or forward-mode differentiation, for which only torch's own operators have
    rules."""
    return _are_transforms_active() or _forward_ad._current_level >= 0
