"""`LazyMessages`: a tensor of messages [E, ...] without storage."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from tgraph.nn.lazy.terms import Edges, Term, changed, combined, linear, product, total, viewed

# Methods and attributes that read the shape or type of a tensor alone.
DESCRIBES = {"size", "dim", "ndimension", "numel", "nelement", "__len__", "is_floating_point", "is_complex", "stride"}
PROPERTIES = {"shape", "dtype", "device", "ndim", "layout", "is_cuda", "is_cpu", "is_sparse", "is_leaf", "itemsize"}

# Functions of each element, or of each row where a dimension other than the first is named.
ELEMENTWISE = {
    *("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "sigmoid", "tanh"),
    *("hardtanh", "hardsigmoid", "hardswish", "logsigmoid", "softsign", "tanhshrink", "exp", "log", "log1p", "expm1"),
    *("abs", "sqrt", "rsqrt", "square", "reciprocal", "neg", "negative", "sin", "cos", "erf", "clamp", "sign"),
    *("detach", "pow", "__pow__", "nan_to_num"),
}
OF_ROWS = {"softmax", "log_softmax", "normalize", "sum", "mean", "norm", "squeeze", "unsqueeze"}

# Functions with infinite derivatives: times the gradient 0 of a vertex without edges, these give NaN.
STEEP = {"log", "log1p", "sqrt", "rsqrt", "reciprocal", "exp", "expm1"}


class LazyMessages(Tensor):
    """The sum of `terms` at each of `edges`. Products, sums and maps remain lazy; other operations materialise it."""

    edges: Edges
    terms: tuple[Term, ...]
    parts: tuple[Any, ...] | None  # of a concatenation; only its linear maps are lazy
    found: Tensor | None  # the messages, once materialised

    @staticmethod
    def __new__(
        cls,
        edges: Edges,
        terms: tuple[Term, ...],
        shape: tuple[int, ...],
        like: Tensor,
        parts: tuple[Any, ...] | None = None,
    ) -> LazyMessages:
        made = Tensor._make_wrapper_subclass(cls, shape, dtype=like.dtype, device=like.device)
        made.edges, made.terms, made.parts, made.found = edges, terms, parts, None
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = func.__name__, kwargs or {}
        if name in DESCRIBES or (name == "__get__" and func.__self__.__name__ in PROPERTIES):
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        handle = _HANDLERS.get(name)
        if handle is not None and not _has_made(args):
            result = handle(func, args, kwargs)
            if result is not None:
                return result
        args, kwargs = tree_map_only(LazyMessages, lambda each: each.make(name), (args, kwargs))
        return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        args, kwargs = tree_map_only(LazyMessages, LazyMessages.make, (args, kwargs or {}))
        return func(*args, **kwargs)

    def __repr__(self, **kwargs: Any) -> str:  # type: ignore[override]
        with torch._C.DisableTorchFunctionSubclass():
            return f"LazyMessages({list(self.shape)})"

    def make(self, function: str = "") -> Tensor:
        """Materialise the messages, [E, ...]. `function` : the operation that needs them."""
        if self.found is None:
            self.edges.made_for.append(function)
            with torch._C.DisableTorchFunctionSubclass():
                shape = self.shape
            if self.parts is not None:
                self.found = torch.cat([p.make() if type(p) is LazyMessages else p for p in self.parts], -1)
            else:
                made = [term.made(self.edges) for term in self.terms]
                self.found = sum(made[1:], made[0]).expand(shape)
        return self.found


def lazy(edges: Edges, terms: tuple[Term, ...], like: Tensor) -> LazyMessages:
    """The messages of some terms, in the dtype of `like`."""
    shape = torch.broadcast_shapes(*(term.shape for term in terms))
    return LazyMessages(edges, terms, (edges.num_edges, *shape), like)


def _has_made(args: Any) -> bool:
    """Whether one of the arguments, or of a sequence among them, is materialised."""
    for each in args:
        if type(each) is LazyMessages and each.found is not None:
            return True
        if isinstance(each, (tuple, list)) and _has_made(each):
            return True
    return False


# ---- arithmetic -----------------------------------------------------------------------------------------------------


def _pair(first: Any, second: Any) -> tuple[LazyMessages, tuple[Term, ...], tuple[Term, ...]] | None:
    """(a lazy operand, the terms of the first operand, the terms of the second), or None"""
    one = first if isinstance(first, LazyMessages) else second
    terms = tuple(_terms(each, one) for each in (first, second))
    if terms[0] is None or terms[1] is None:
        return None
    return one, terms[0], terms[1]


def _terms(given: Any, like: LazyMessages) -> tuple[Term, ...] | None:
    """The terms of an operand: lazy messages, a number, data of the edges, or a constant."""
    with torch._C.DisableTorchFunctionSubclass():
        dims, dtype, device = like.dim(), like.dtype, like.device
    if isinstance(given, LazyMessages):
        with torch._C.DisableTorchFunctionSubclass():
            fits = given.edges is like.edges and given.dim() == dims and given.dtype == dtype
        return given.terms if fits and given.parts is None else None
    if isinstance(given, (int, float)):
        return (Term(target=torch.full((1,) * dims, given, dtype=dtype, device=device)),)
    if not isinstance(given, Tensor) or given.dim() > dims or given.layout != torch.strided:
        return None
    if given.dtype != dtype:
        if given.dim() and torch.promote_types(given.dtype, dtype) != dtype:
            return None
        given = given.to(dtype)
    if given.dim() == dims and given.shape[0] != 1:
        return (Term(edge=given),) if given.shape[0] == like.edges.num_edges else None
    return (Term(target=given.reshape((1,) * (dims - given.dim()) + given.shape)),)


def _multiply(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    pair = None if kwargs or len(args) != 2 else _pair(*args)
    return None if pair is None else _product(*pair)


def _product(like: LazyMessages, first: tuple[Term, ...], second: tuple[Term, ...]) -> LazyMessages | None:
    if min(len(first), len(second)) > 1:
        one, two = (combined(terms, like.edges) for terms in (first, second))
        first, second = first if one is None else (one,), second if two is None else (two,)
        if min(len(first), len(second)) > 1:
            return None
    found = [product(one, two, like.edges) for one in first for two in second]
    return None if None in found else lazy(like.edges, cast("tuple[Term, ...]", tuple(found)), like)


def _divide(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    if kwargs or len(args) != 2:
        return None
    first, second = args[::-1] if func.__name__ in ("__rdiv__", "__rtruediv__") else args
    if isinstance(second, (int, float)):
        return _multiply(func, (first, 1 / second), {}) if second else None
    if isinstance(second, LazyMessages):
        second = _change(torch.reciprocal, (second,), {})
    elif isinstance(second, Tensor):
        second = second.reciprocal()
    return None if second is None else _multiply(func, (first, second), {})


def _add(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    """A sum or a difference."""
    if kwargs or len(args) != 2:
        return None
    first, second = args[::-1] if func.__name__ == "__rsub__" else args
    return _sum(first, second, -1 if "sub" in func.__name__ else 1)


def _sum(first: Any, second: Any, sign: int) -> LazyMessages | None:
    pair = _pair(first, second)
    if pair is None:
        return None
    like, one, two = pair
    if sign < 0:
        negated = _product(like, two, cast("tuple[Term, ...]", _terms(-1, like)))
        if negated is None:
            return None
        two = negated.terms
    return lazy(like.edges, total(one, two), like)


# ---- maps and functions of rows -------------------------------------------------------------------------------------


def _linear(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    return _mapped(*_bound(args, kwargs, "input", "weight", "bias"))


def _matmul(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    if kwargs or len(args) != 2 or isinstance(args[1], LazyMessages) or args[1].dim() != 2:
        return None
    return _mapped(args[0], args[1].t(), None)


def _mapped(x: LazyMessages, weight: Tensor, bias: Tensor | None) -> LazyMessages | None:
    if not isinstance(x, LazyMessages) or isinstance(weight, LazyMessages) or weight.dtype != x.dtype:
        return None
    if x.parts is not None:
        return _mapped_parts(x, weight, bias)
    terms = linear(x.terms, weight, x.edges)
    if terms is None:
        return None
    result = lazy(x.edges, terms, x)
    return result if bias is None else _sum(result, bias, 1)


def _mapped_parts(x: LazyMessages, weight: Tensor, bias: Tensor | None) -> LazyMessages | None:
    """The sum of the maps of concatenated parts, each by its columns of the weight."""
    result: Any = bias
    parts = cast("tuple[Any, ...]", x.parts)
    for part, columns in zip(parts, weight.split([part.shape[-1] for part in parts], 1), strict=True):
        if not isinstance(part, LazyMessages):
            part = lazy(x.edges, (Term(edge=part),), part)
        found = _mapped(part, columns, None)
        if found is None:
            return None
        result = found if result is None else _sum(result, found, 1)
        if result is None:
            return None
    return result


def _concatenate(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    parts, dim = _bound(args, kwargs, "tensors", "dim")
    first = next(each for each in parts if isinstance(each, LazyMessages))
    dims, shape, edges = first.dim(), first.shape, first.edges
    if dim not in (-1, dims - 1) or dims < 2:
        return None
    for each in parts:
        if each.dim() != dims or each.shape[:-1] != shape[:-1] or each.dtype != first.dtype:
            return None
        if isinstance(each, LazyMessages) and (each.edges is not edges or each.parts is not None):
            return None
    return LazyMessages(edges, (), (*shape[:-1], sum(each.shape[-1] for each in parts)), first, tuple(parts))


def _change(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    """A function of each element, or of each row."""
    x, *others = args if args else (None,)
    if type(x) is not LazyMessages or x.parts is not None or kwargs.get("inplace"):
        return None
    if any(isinstance(each, Tensor) for each in (*others, *kwargs.values())):
        return None
    if _is_steep(func.__name__, others) and any(term.requires_grad for term in x.terms):
        return None
    terms = changed(x.terms, x.edges, lambda values: func(values, *others, **kwargs))
    return None if terms is None else lazy(x.edges, terms, x)


def _is_steep(name: str, others: list[Any]) -> bool:
    return name in STEEP or (name in ("pow", "__pow__") and not (others and others[0] >= 1))


def _along_columns(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    """A function along a dimension other than the first, of edges."""
    name = func.__name__
    place = {"norm": 2, "normalize": 2}.get(name, 1)
    dim = kwargs.get("dim", args[place] if len(args) > place else None)
    if not isinstance(dim, int) or kwargs.get("dtype") is not None:
        return None
    dims = args[0].dim() + (name == "unsqueeze")
    return _reshaped(func, args, kwargs) if dim % dims else None


def _view(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    x, *shape = args
    shape = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if kwargs or not shape or not all(isinstance(size, int) for size in shape):
        return None
    if shape[0] not in (-1, x.shape[0]) or math.prod(shape[1:]) == 0:
        return None
    before, after = x.shape[1:], torch.Size(shape[1:])
    if -1 in after:
        after = torch.Size(before.numel() // -math.prod(after) if size == -1 else size for size in after)
    if x.parts is not None or before.numel() != after.numel():
        return None
    terms = [viewed(term, x.edges, before, after) for term in x.terms]
    return None if None in terms else lazy(x.edges, cast("tuple[Term, ...]", tuple(terms)), x)


def _index(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    x, index = args
    index = index if isinstance(index, tuple) else (index,)
    whole = index and (index[0] is Ellipsis or (isinstance(index[0], slice) and index[0] == slice(None)))
    if not whole or any(not isinstance(each, (slice, int)) and each is not None for each in index[1:]):
        return None
    if index[0] is Ellipsis and len([each for each in index if each is not None]) > x.dim():
        return None
    return _reshaped(lambda values: values[index], (x,), {})


def _reshaped(func: Callable[..., Any], args: Any, kwargs: Any) -> LazyMessages | None:
    """A function of whole rows."""
    shape = args[0].shape[1:]

    def of_rows(values: Tensor, *others: Any, **kwargs: Any) -> Any:
        return func(values.expand(values.shape[0], *shape), *others, **kwargs)

    return _change(of_rows, args, kwargs)


def _same(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    return None if args[0].parts is not None or kwargs else lazy(args[0].edges, args[0].terms, args[0])


def _dropout(func: Any, args: Any, kwargs: Any) -> LazyMessages | None:
    x, p, training = _bound(args[:3], kwargs, "input", "p", "training")
    return _same(func, (x,), {}) if p == 0 or training is False else None


def _bound(args: Any, kwargs: Any, *names: str) -> list[Any]:
    """The arguments of some names, None for missing ones."""
    return [*args, *map(kwargs.get, names[len(args) :])]


_HANDLERS: dict[str, Callable[[Any, Any, Any], LazyMessages | None]] = {
    **dict.fromkeys(("mul", "multiply", "__mul__", "__rmul__"), _multiply),
    **dict.fromkeys(("div", "divide", "true_divide", "__truediv__", "__rdiv__", "__rtruediv__"), _divide),
    **dict.fromkeys(("add", "__add__", "__radd__", "sub", "subtract", "__sub__", "__rsub__"), _add),
    **dict.fromkeys(("matmul", "__matmul__", "mm"), _matmul),
    **dict.fromkeys(("cat", "concat", "concatenate"), _concatenate),
    **dict.fromkeys(("view", "reshape"), _view),
    **dict.fromkeys(ELEMENTWISE, _change),
    **dict.fromkeys(OF_ROWS, _along_columns),
    **dict.fromkeys(("contiguous", "clone"), _same),
    "linear": _linear,
    "__getitem__": _index,
    "dropout": _dropout,
}
