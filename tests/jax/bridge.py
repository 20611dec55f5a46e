"""torchax, which runs torch's operations on arrays of JAX, beside the torch that TGraph is tested with.

torchax names operations that torch has dropped, and lacks others and arguments that it once had no use for.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten


def _declare_dropped() -> list[Any]:
    """Declare what torchax names and torch has no more, which nothing calls; to be kept alive."""
    found = importlib.util.find_spec("torchax")
    assert found is not None and found.origin is not None
    library = torch.library.Library("aten", "FRAGMENT")
    for file in Path(found.origin).parent.rglob("*.py"):
        for name, overload in re.findall(r"torch\.ops\.aten\.(\w+)\.(\w+)", file.read_text()):
            known = getattr(torch.ops.aten, name, None)
            if overload != "default" and (known is None or overload not in known.overloads()):
                try:
                    library.define(f"{name}.{overload}(Tensor self) -> Tensor")
                except RuntimeError:  # declared before
                    continue
    return [library]


_KEPT = _declare_dropped()

import jax  # noqa: E402
import torchax  # noqa: E402

jax.config.update("jax_enable_x64", True)
environment = torchax.default_env()
_dispatch = environment.dispatch


def _completed(function: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
    """The dispatch of torchax, with functions of no tensors left to torch, `out` written to, and means of a dtype."""
    kwargs = dict(kwargs or {})
    tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
    name = getattr(function, "name", lambda: "")().partition(".")[0]
    if not tensors and name in PLAIN:
        with torch._C._DisableTorchDispatch():
            return function(*args, **kwargs)
    if name == "aten::item":
        function = torch.ops.aten._local_scalar_dense.default
    out = kwargs.pop("out", None)
    if getattr(function, "__name__", "").startswith("repeat_interleave") and kwargs.get("output_size") is not None:
        values, repeats = (each.jax() for each in args)
        return environment.j2t_iso(jax.numpy.repeat(values, repeats, total_repeat_length=kwargs["output_size"]))
    if kwargs.get("dtype") is not None and function in MEANS:
        wide = _dispatch(torch.ops.aten._to_copy.default, types, args[:1], {"dtype": kwargs.pop("dtype")})
        args = (wide, *args[1:])
    try:
        result = _dispatch(function, types, args, kwargs)
    except torchax.tensor.OperatorNotFound:
        if not isinstance(function, torch._ops.OpOverload):
            raise
        with environment._dispatch_mode:  # below autograd, torch does not take it apart itself
            result = function.decompose(*args, **kwargs)
        if result is NotImplemented:
            raise
    return result if out is None else _dispatch(torch.ops.aten.copy_.default, types, (out, result), {})


def _opened(mode: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """TGraph's own operators are made of torch's."""
    if getattr(function, "namespace", None) != "tgraph":
        return _intercepted(mode, function, types, args, kwargs)
    with mode:
        return function._op_dk(torch._C.DispatchKey.CompositeExplicitAutograd, *args, **(kwargs or {}))


_Mode = type(environment._dispatch_mode)
_intercepted, _Mode.__torch_dispatch__ = _Mode.__torch_dispatch__, _opened
PLAIN = {"aten::promote_types", "aten::result_type", "aten::can_cast"}
MEANS = {torch.ops.aten.mean.default, torch.ops.aten.mean.dim}
environment.dispatch = _completed
