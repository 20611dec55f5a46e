"""Fusion of COMPUTE: a sum over all arcs and the element-wise operations around it become one affine step.

While a Program computes, element-wise operations on its vertex data are recorded instead of executed. A tensor is
computed once something reads its elements, at the latest when COMPUTE returns. An expression such as

    alpha * aggregate(scale * x, "sum") + beta * bias

is then one step of an `AffineMap`: a single pass over the arcs that also gives the sum of the new values and their L1
distance to the old ones. All other operations are executed as written and in order. COMPUTE runs in each iteration, so
side effects, branches and numbers that differ between iterations have their usual meaning; an operation that writes to
memory, or is not known to be pure, flushes all recorded operations first.

Functions of constants alone, such as 1 / out_degree, are computed once for a run (of the degrees alone, once for a
graph) and cached under their operands and the version counters of these. Tensors that share memory with numpy, a file
or a process are never constants, and a write by another name (`.data`) drops all constants. Writes through DLPack or
raw addresses are not detected.
"""

from __future__ import annotations

import contextlib
import copy
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, cast

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tgraph.core.derived import is_kept
from tgraph.core.dispatch import is_available
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Received, Subgraph, whole
from tgraph.core.system.library import in_functorch
from tgraph.engine.expressions import FUNCTIONS, Node, Operand, Sum, contains_sum, factors, grouped, terms
from tgraph.model import operators
from tgraph.model.program import Program, Relaxation
from tgraph.primitives.linear import AffineMap

LEAST_ARCS = 1 << 18  # on smaller graphs, recording takes longer than it saves
LARGEST = 64  # operations of one expression
NUMBERS = 2.0**-60, 2.0**60  # absolute values of factors, whose products with data neither overflow nor vanish
CACHED_VERTICES = 1 << 22  # on larger graphs, constants are cached for one run only
FLOATS = (torch.float32, torch.float64)

# Recorded operations: {name: (function, whether its operands are reversed)}.
RECORDED = {name: (name.strip("_"), False) for name in ("add", "sub", "mul", "div", "neg", "abs", "__add__", "__sub__")}
RECORDED |= {"__mul__": ("mul", False), "__truediv__": ("div", False), "true_divide": ("div", False)}
RECORDED |= {"__radd__": ("add", False), "__rmul__": ("mul", False), "rsub": ("sub", True), "__rsub__": ("sub", True)}
RECORDED |= {"__rdiv__": ("div", True), "__rtruediv__": ("div", True)}

# Operations computed once on constants; all return new tensors.
FOLDED = set(RECORDED) | {"clamp", "clamp_min", "reciprocal", "sqrt", "rsqrt", "pow", "to", "float", "double"}
FOLDED |= {
    "logical_not",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
}

# Operations without side effects that return new tensors or no tensors.
PURE = FOLDED | {"sum", "mean", "max", "min", "amax", "amin", "norm", "dot", "matmul", "any", "all", "argmax", "argmin"}
PURE |= {"count_nonzero", "exp", "log", "square", "isnan", "isfinite", "isinf", "logical_and", "logical_or", "where"}
PURE |= {"maximum", "minimum", "index_select", "gather", "clone", "tensor", "zeros", "ones", "full", "arange"}
PURE |= {"empty", "zeros_like", "ones_like", "full_like", "empty_like", "__float__", "__int__", "__bool__", "item"}
PURE |= {"tolist", "can_cast", "result_type", "promote_types"}

# Operations that expose memory to undetected writes: recording ends there.
EXPOSES = {"data", "numpy", "__array__", "__dlpack__", "untyped_storage", "storage", "data_ptr", "share_memory_"}

# Attributes of a Deferred that do not need its elements.
KNOWN = {"shape", "dtype", "device", "ndim", "requires_grad", "is_cpu", "is_cuda", "layout", "size", "dim", "numel"}
KNOWN |= {"nelement", "__len__", "is_floating_point", "is_complex", "element_size"}


class Deferred(Tensor):
    """A tensor [n] that is computed when its elements are read."""

    node: Node
    evaluate: Callable[[Node], Tensor]
    holds_constant: bool  # sharing memory with other tensors

    @staticmethod
    def __new__(cls, node: Node, like: Tensor, evaluate: Callable[[Node], Tensor]) -> Deferred:
        made = Tensor._make_wrapper_subclass(cls, like.shape, dtype=node.dtype, device=like.device)
        made.node, made.evaluate, made.holds_constant = node, evaluate, False
        return made

    def computed(self, owned: bool = False) -> Tensor:
        """The tensor; if `owned`, in memory of its own."""
        value = self.evaluate(self.node)
        if owned and self.holds_constant:
            self.node.value, self.holds_constant = value.clone(), False
        return self.node.value  # type: ignore[return-value]

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Outside of COMPUTE, or in kernels: on the computed tensors."""
        return function(*computed(args, True), **computed(kwargs or {}, True))

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore
        return function(*computed(args, True), **computed(kwargs or {}, True))


def computed(tree: Any, owned: bool = False) -> Any:
    """A tree of arguments with its deferred tensors computed."""
    if isinstance(tree, Deferred):
        return tree.computed(owned)
    if type(tree) in (tuple, list):
        return type(tree)(computed(each, owned) for each in tree)
    if isinstance(tree, dict) and tree:
        tree = copy.copy(tree)
        tree.update({name: computed(each, owned) for name, each in tree.items()})
    return tree


class FusedStep(AffineMap):
    """An affine map with a varying bias, whose memory is reused only where nothing else refers to it."""

    _version = _version_before = 0

    def next(self, sub: Subgraph, x: Tensor, alpha: float, beta: float, bias: Tensor | float, before: Tensor) -> Tensor:
        """The values after a step."""
        if self._last is not None and self._last.values._version != self._version:
            self._last = None  # written to since: sums cached with it are invalid
        self._before = None
        if self._scale is None:
            self._spare = (self._spare[0], None)
        if self._spare[0] is not None and _is_held(self._spare[0]):
            self._spare = (None, self._spare[1])
        if bias is not self._bias:
            self._bias, self._graph = bias, None
            self._vectors = {name: value for name, value in self._vectors.items() if name != "bias"}
            if isinstance(bias, Tensor):
                self._vectors["bias"] = bias
        values = self.step(sub, x, alpha=alpha, beta=beta, before=before)
        self._version, self._version_before = values._version, before._version
        return values

    def gave(self, values: Tensor) -> bool:
        """Whether `values` are the unchanged result of the last step."""
        return self._last is not None and values is self._last.values and values._version == self._version

    def moved(self, before: Tensor, after: Tensor) -> float | None:
        """The L1 distance of the last step, None unless it led from `before` to `after`."""
        same = before is self._before and before._version == self._version_before
        return float(self.change(before, after)) if same and self.gave(after) else None


def _is_held(tensor: Tensor) -> bool:
    """Whether anything but its step refers to a tensor; HOLDERS counts a tuple, a local variable and an argument."""
    storage = tensor.untyped_storage()
    return sys.getrefcount(tensor) > HOLDERS or torch._C._storage_Use_Count(storage._cdata) > STORAGE_HOLDERS


HOLDERS, STORAGE_HOLDERS = 3, 2


class Deferral(TorchFunctionMode):
    """Records the COMPUTE of one run."""

    iterations: int
    like: Tensor

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.steps: dict[Any, tuple[FusedStep, Any]] = {}  # of the last iteration, with the objects in their keys
        self.taken: dict[Any, tuple[FusedStep, Any]] = {}  # of this iteration
        self.constants: dict[Any, tuple[Tensor, Any]] = dict(graph.kept("constants", dict))
        self.used: dict[Any, tuple[Tensor, Any]] = {}  # the constants of this iteration
        self.variables: dict[int, Tensor] = {}
        self.pending: list[weakref.ref[Deferred]] = []
        self.made: list[weakref.ref[Deferred]] = []  # in this iteration
        self.versions: dict[int, int] = {}  # of the variables, after the last intercepted operation
        self.is_exposed = False
        self.iterations = 0

    # ---- called by the engine ----------------------------------------------------------------------------------------

    @classmethod
    def of(cls, program: Program, graph: Graph, backend: str) -> Deferral | None:
        """The recorder of a program, None where fusion would save nothing."""
        names = _names(getattr(type(program).compute, "__code__", None))
        if isinstance(program, Relaxation) or "aggregate" not in names or {"primitives", "run", "run_each"} & names:
            return None
        if graph.num_arcs < LEAST_ARCS or graph.device.type != "cpu" or not is_available("native"):
            return None
        if graph.layout is not None and graph.layout.streams:
            return None  # constants would take memory from the blocks
        return cls(graph) if backend in ("auto", "native", "layout") else None

    def serves(self, sub: Subgraph, values: Any) -> bool:
        """Whether an iteration may be recorded: all vertices receive, and no gradient is recorded."""
        if not (sub.is_whole and sub.mode == "pull" and sub.active.is_everything):
            return False
        if self.is_exposed or (self.iterations and not self.is_in_use):
            return False
        if torch._C._len_torch_function_stack() or torch.compiler.is_compiling():
            return False
        tensors = _tensors(values)
        return any(each.dim() == 1 for each in tensors) and all(
            type(each) is Tensor and each.dtype in FLOATS and not each.requires_grad and not each.is_inference()
            for each in tensors
        )

    def compute(self, program: Program, sub: Subgraph, values: Any, active: Frontier) -> Any:
        """The result of `program.compute`."""
        result = self._recorded(values, lambda: program.compute(sub, values, active))
        if not self.iterations and self.graph.num_vertices <= CACHED_VERTICES:
            self._cache_constants()
        self.constants, self.used = self.used, {}
        self.steps, self.taken = self.taken, {}
        self.iterations += 1
        return result

    def _cache_constants(self) -> None:
        """Cache functions of the degrees alone with the graph, for the next run."""
        cache: dict[Any, Any] = self.graph.kept("constants", dict)
        roots = {id(self.graph.out_degree)}
        cache.clear()
        for key, (value, (version, held)) in self.used.items():
            if held and all(id(each) in roots for each in held if isinstance(each, Tensor)):
                cache[key] = value, (version, held)
                roots.add(id(value))

    @property
    def is_in_use(self) -> bool:
        """Whether the last iteration took a fused step."""
        return len(self.steps) > 0

    def residual(self, program: Program, before: Any, after: Any) -> Any:
        """The result of `program.residual`."""
        if self.is_exposed or not any(each.dim() == 1 for each in (*_tensors(before), *_tensors(after))):
            return program.residual(before, after)
        return self._recorded({"before": before, "after": after}, lambda: program.residual(before, after))

    def _recorded(self, values: Any, function: Callable[[], Any]) -> Any:
        self.variables = {id(each): each for each in _tensors(values)}
        self._note_versions()
        self.like, self.pending = next(each for each in self.variables.values() if each.dim() == 1), []
        self.made = []
        token = operators.recording.set(self)
        try:
            with self:
                result = function()
            if isinstance(result, tuple) and len(result) == 2:
                result = (computed(result[0], True), result[1])
            else:
                result = computed(result, True)
            return result
        finally:
            try:
                self._flush(owned=True)
                self._materialize([made for reference in self.made if (made := reference()) is not None])
            finally:
                operators.recording.reset(token)
                self.variables = {}

    # ---- called by the operators -------------------------------------------------------------------------------------

    def aggregate(self, sub: Any, data: Tensor, reduce: str, edge: str, weights: Any, dtype: Any) -> Any:
        """`tg.aggregate`: a sum over all arcs is recorded."""
        with torch._C.DisableTorchFunction():
            if (node := self._sum(sub, data, reduce, edge, weights, dtype)) is not None:
                received = self._deferred(node)
                return received if isinstance(sub, Graph) else Received(received)
            token = operators.recording.set(None)
            try:
                return operators.aggregate(
                    sub, computed(data), reduce, edge=edge, weights=computed(weights), dtype=dtype
                )
            finally:
                operators.recording.reset(token)

    def _sum(self, sub: Any, data: Tensor, reduce: str, edge: str, weights: Any, dtype: Any) -> Sum | None:
        """The node of a sum over all arcs, None for other aggregations."""
        graph, operand = sub if isinstance(sub, Graph) else sub.graph, self._operand(data)
        if self.is_exposed or not _records() or reduce != "sum" or edge not in ("copy", "mul") or dtype is not None:
            return None
        if not isinstance(operand, (Node, Tensor)) or data.dtype not in FLOATS:
            return None
        if not self._fits(sub, weights, graph, edge, data.dtype):
            return None
        selected = whole(graph, graph.everything(), "pull") if isinstance(sub, Graph) else sub
        own = weights if edge == "mul" else None
        return Sum("sum", (operand,), data.dtype, sub=selected, edge=edge, weights=own)

    def _fits(self, sub: Any, weights: Any, graph: Graph, edge: str, dtype: torch.dtype) -> bool:
        if graph.num_vertices != len(self.like):
            return False
        if not isinstance(sub, Graph) and not (sub.is_whole and sub.mode == "pull" and sub.active.is_everything):
            return False
        if isinstance(weights, Tensor):
            plain = type(weights) is Tensor and not weights.requires_grad and not weights.is_inference()
            counted = plain and self._counts_writes(weights)
            return counted and weights.shape == (graph.num_arcs,) and weights.dtype == dtype
        if edge == "mul" and weights is None and graph.weight_dtype != dtype:
            return False
        own = graph.weights if graph.layout is None else None
        return not isinstance(weights, bool) and not (weights is None and own is not None and own.requires_grad)

    def changed(self, old: Tensor, new: Tensor) -> bool | None:
        """Whether the step from `old` to `new` changed any value; None where no step has computed it."""
        with torch._C.DisableTorchFunction():
            moved = self._moved(old, computed(new))
        return None if moved is None or moved != moved else moved > 0

    def version_of(self, tensor: Tensor) -> int | None:
        """`operators.version_of` of a tensor, deferred or not."""
        with torch._C.DisableTorchFunction():
            return operators.version_of(computed(tensor))

    # ---- called by the program ---------------------------------------------------------------------------------------

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        by_program = not self.is_exposed and _called_by_program() and _records()
        with torch._C.DisableTorchFunctionSubclass():
            return self._call(function, args, kwargs or {}, by_program)

    def _call(self, function: Any, args: Any, kwargs: Any, by_program: bool) -> Any:
        name = getattr(function, "__name__", "")
        if name == "__get__":
            name = getattr(function.__self__, "__name__", name)
        if args and isinstance(args[0], Deferred) and name in KNOWN and args[0].node.value is None:
            return function(*args, **kwargs)
        if _writes(name):
            self._materialize([each for each in (*args, kwargs.get("out")) if isinstance(each, Deferred)])
        if by_program:
            found = self._record(name, args, kwargs)
            if found is None and name in FOLDED:
                found = self._fold(name, function, args, kwargs)
            if found is not None:
                return found
        is_pure = (name in PURE and "out" not in kwargs) or name in KNOWN
        is_pure = is_pure or (name == "__getitem__" and isinstance(args[1], Tensor) and args[1].dim() > 0)
        if not is_pure:
            self._flush()
            self.is_exposed = self.is_exposed or name in EXPOSES
        plain = computed(args, not is_pure)
        roots = self._roots() if (_writes(name) or "out" in kwargs) and _records() else {}
        result = function(*plain, **computed(kwargs, not is_pure))
        if not is_pure:
            self._note_versions()
        if roots:
            self._drop_written((plain, kwargs.get("out")), roots)
        return args[0] if args and isinstance(args[0], Deferred) and result is plain[0] else result

    def _note_versions(self) -> None:
        """Note the versions of the variables, to detect writes before recorded operations read them."""
        self.versions = {key: each._version for key, each in self.variables.items() if not each.is_inference()}

    def _drop_written(self, written: Any, before: dict[int, list[tuple[Tensor, int]]]) -> None:
        """Drop all constants where one was written to by another name, such as its `.data`, without a new version.
        `before` : the constants at each address, with their versions from before the operation."""
        for each in flat(written):
            found = before.get(_address(each), ()) if type(each) is Tensor else ()
            if any(root is not each and root._version == version for root, version in found):
                for names in (self.constants, self.used, self.steps, self.taken):
                    names.clear()
                return

    def _roots(self) -> dict[int, list[tuple[Tensor, int]]]:
        """The operands of constants, and their versions, by address."""
        found: dict[int, list[tuple[Tensor, int]]] = {}
        for _, held in (*self.constants.values(), *self.used.values(), *self.steps.values(), *self.taken.values()):
            for each in flat(held):
                if isinstance(each, Tensor):
                    found.setdefault(_address(each), []).append((each, each._version))
        return found

    def _check_unchanged(self) -> None:
        """Raise RuntimeError where a variable was written to by an undetected operation."""
        for key, version in self.versions.items():
            if self.variables[key]._version != version:
                raise RuntimeError(
                    "compute: vertex data was written to outside of recorded operations, such as by torch.jit or "
                    "another thread; use tg.run(fuse=False)"
                )

    def _record(self, name: str, args: Any, kwargs: Any) -> Any:
        """The deferred or known result of a function, None if it must be executed."""
        if kwargs or not args:
            return None
        if name in RECORDED:
            recorded, reverse = RECORDED[name]
            if len(args) != (1 if recorded in ("neg", "abs") else 2):
                return None
            found = [self._operand(each) for each in args]
            operands = [each for each in found if each is not None]
            if len(operands) < len(found) or all(
                each.is_constant if isinstance(each, Node) else id(each) not in self.variables for each in operands
            ):
                return None
            operands = operands[::-1] if reverse else operands
            if recorded == "div" and isinstance(operands[1], (int, float)) and not operands[1]:
                return None
            dtypes = [each.dtype for each in operands if isinstance(each, (Node, Tensor))]
            dtype = dtypes[0] if len(dtypes) == 1 else torch.promote_types(*dtypes)
            return self._deferred(Node(recorded, tuple(operands), dtype))
        if name == "sum" and len(args) == 1 and isinstance(args[0], Deferred):
            total = self._total(args[0].node)
            return None if total is None else torch.tensor(total, dtype=args[0].node.dtype, device=self.like.device)
        if name == "__getitem__" and isinstance(args[1], Tensor) and args[1].dtype == torch.bool:
            mask = computed(args[1])
            if self._operand(mask) is not None and self._operand(args[0]) is not None:
                where = self._constant(("nonzero", self._key(mask)), lambda: mask.nonzero()[:, 0], (mask,))
                return computed(args[0]).index_select(0, where)
        return None

    def _operand(self, each: Any) -> Operand | None:
        """An argument as an operand; None if recording does not support it."""
        if isinstance(each, (int, float)):
            return each if type(each) is not bool and (each == 0 or NUMBERS[0] < abs(each) < NUMBERS[1]) else None
        known = type(each) is Deferred
        if known and each.node.value is None:
            return each.node
        tensor = each.node.value if known else each
        if type(tensor) is not Tensor or tensor.requires_grad or tensor.is_inference():
            return None
        if tensor.device != self.like.device:
            return None
        if tensor.dim() == 0:
            return self._operand(float(tensor)) if tensor.dtype in FLOATS else None
        return tensor if tensor.shape == self.like.shape and (known or self._counts_writes(tensor)) else None

    def _counts_writes(self, tensor: Tensor) -> bool:
        """Whether a tensor's version counts all writes: its memory is torch's alone, or the graph's, never written."""
        storage = _storage(tensor)
        if storage is not None and storage.resizable() and not storage.is_shared():
            return True
        return is_kept(self.graph, tensor) or (self.graph.layout is None and tensor is self.graph.weights)

    def _deferred(self, node: Node) -> Deferred:
        for each in node.operands:
            if isinstance(each, Node):
                node.size += each.size
        made = self._made(node)
        self.pending.append(weakref.ref(made))
        if node.size > LARGEST:
            made.computed()
        return made

    def _fold(self, name: str, function: Any, args: Any, kwargs: Any) -> Any:
        """The value of a function of constants, None for any other."""
        if any(isinstance(each, Deferred) and not each.node.is_constant for each in args):
            return None
        if name == "to" and not (len(args) == 2 and isinstance(args[1], torch.dtype)):
            return None
        plain = computed(args)
        tensors = [each for each in plain if isinstance(each, Tensor)]
        fits = all(self._operand(each) is not None and id(each) not in self.variables for each in tensors)
        if not fits or not any(each.dim() for each in tensors) or any(isinstance(v, Tensor) for v in kwargs.values()):
            return None
        try:
            named = tuple((each, self._key(kwargs[each])) for each in sorted(kwargs))
            key = name, tuple(map(self._key, plain)), named, torch.get_default_dtype()
            hash(key)
        except TypeError:
            return None
        value = self._constant(key, lambda: function(*plain, **kwargs), tensors)
        if not isinstance(value, Tensor):
            return value
        for argument, each in zip(args, plain, strict=True):
            if value is each:
                return argument
        made = self._made(Node(name, (), value.dtype, is_constant=True, value=value))
        made.holds_constant = True
        return made

    def _made(self, node: Node) -> Deferred:
        made = Deferred(node, self.like, self.evaluate)
        self.made.append(weakref.ref(made))
        return made

    # ---- evaluation --------------------------------------------------------------------------------------------------

    def evaluate(self, node: Node) -> Tensor:
        """The value of a node."""
        if node.value is None:
            with torch._C.DisableTorchFunction(), torch.inference_mode(False), torch._C._DisableFuncTorch():
                if not node.is_constant:
                    self._check_unchanged()
                node.value = self._value(node)
        return node.value

    def _value(self, operand: Operand) -> Any:
        if not isinstance(operand, Node):
            return operand
        if operand.value is None:
            if operand.is_constant:
                function = FUNCTIONS[operand.function]
                held = [self._value(each) for each in operand.operands]
                held = [self._cast(each, torch.float64) if isinstance(each, Tensor) else each for each in held]
                operand.value = self._constant((operand.function, *map(self._key, held)), lambda: function(*held), held)
            else:
                operand.value = self._fused(operand)
        if operand.value is None:
            operand.value = FUNCTIONS[operand.function](*map(self._value, operand.operands))
        return operand.value

    def _fused(self, node: Node) -> Tensor | None:
        """The value of an expression with exactly one sum over arcs, None for any other."""
        if not contains_sum(node):
            return None
        parts = terms(node)
        sums = [(factor, base) for factor, base in parts if isinstance(base, Sum)]
        rest = [(factor, base) for factor, base in parts if not isinstance(base, Sum)]
        if len(sums) != 1 or any(contains_sum(base) for _, base in rest) or sums[0][1].dtype != node.dtype:
            return self._step(node, 1.0, 0.0, 0.0) if isinstance(node, Sum) else None
        beta, bias = rest[0] if len(rest) == 1 else (1.0, grouped(rest, self._is_variable, node.dtype) if rest else 0.0)
        constant = self._value(1.0 if bias is None else bias)
        if isinstance(constant, Tensor):
            constant = self._cast(constant, node.dtype)
        factor, total = sums[0]
        node.value = self._step(total, factor, beta, constant)
        node.origin = total.origin
        return node.value

    def _step(self, node: Sum, alpha: float, beta: float, bias: Tensor | float) -> Tensor:
        """alpha * node + beta * bias by a step of an affine map, the same map in each iteration."""
        x, scale = node.operands[0], None
        parts = terms(x)
        if len(parts) == 1 and parts[0][1] is not None:
            variable, constant = factors(parts[0][1], self._is_variable)
            if variable is not None and isinstance(variable, (Node, Tensor)) and variable.dtype == node.dtype:
                x, scale, alpha = variable, constant, alpha * parts[0][0]
        scale = None if scale is None else self._value(scale)
        if isinstance(scale, (int, float)):
            alpha, scale = alpha * scale, None
        elif scale is not None:
            scale = self._cast(scale, node.dtype)
        sub, values, weights = cast(Subgraph, node.sub), self._value(x), node.weights
        key = id(sub.graph), sub.mirrored, sub.backend, node.edge, self._key(weights), self._key(scale), values.dtype
        held = self.taken.get(key) or self.steps.get(key)
        if held is None:
            held = FusedStep(scale=scale, bias=bias, edge=node.edge, weights=weights), (sub.graph, weights, scale)
        self.taken[key] = held
        node.origin = held[0]
        before = self.like if self.like.dtype == values.dtype else values
        result = node.origin.next(sub, values, alpha, beta, bias, before)
        self.variables[id(result)], self.versions[id(result)] = result, result._version
        return result

    def _total(self, node: Node) -> float | None:
        """The sum of the values of a node, None where no step has computed it or a gradient is recorded."""
        if node.value is not None and node.value.requires_grad:
            return None
        inner = node.operands[0] if node.function == "abs" and node.operands else None
        if isinstance(inner, Node) and inner.function == "sub":
            one, other = inner.operands
            moved = self._moved(one, other)
            return self._moved(other, one) if moved is None else moved
        if node.value is None and contains_sum(node):
            self.evaluate(node)
        if isinstance(node.origin, FusedStep) and node.value is not None and node.origin.gave(node.value):
            with torch._C.DisableTorchFunction():
                return float(node.origin.total(node.value))
        return None

    def _moved(self, before: Any, after: Any) -> float | None:
        """The L1 distance, None where no step has computed it."""
        for step, _ in (*self.taken.values(), *self.steps.values()):
            if (moved := step.moved(before, after)) is not None:
                return moved
        return None

    def _flush(self, owned: bool = False) -> None:
        """Compute all recorded tensors that are still referenced."""
        for each in [made for reference in self.pending if (made := reference()) is not None]:
            each.computed(owned)
        self.pending.clear()

    def _materialize(self, tensors: list[Deferred]) -> None:
        """Turn tensors that are written to or outlive the iteration into ordinary ones."""
        for each in tensors:
            value = each.computed(owned=True).detach()  # the same memory, with the same version
            for references in (self.pending, self.made):
                references[:] = [reference for reference in references if reference() is not each]
            with torch._C.DisableTorchFunction(), contextlib.suppress(RuntimeError):  # of tensors with weak references
                torch.utils.swap_tensors(each, value)
                self.variables[id(each)] = each

    # ---- constants ---------------------------------------------------------------------------------------------------

    def _is_variable(self, tensor: Tensor) -> bool:
        return id(tensor) in self.variables

    def _key(self, argument: Any) -> Any:
        if isinstance(argument, Tensor):
            return id(argument), argument._version
        return type(argument), argument.hex() if isinstance(argument, float) else argument  # 0.0 is not -0.0

    def _constant(self, key: Any, function: Callable[[], Tensor], held: Any = ()) -> Tensor:
        """The value of a key (function and operands), cached in this iteration or the last, or computed."""
        known = self.used.get(key) or self.constants.get(key)
        if known is None or known[0]._version != known[1][0]:
            value = function()
            if not isinstance(value, Tensor):  # NotImplemented
                return value
            known = value, (value._version, held)
        self.used[key] = known
        return known[0]

    def _cast(self, tensor: Tensor, dtype: torch.dtype) -> Tensor:
        if tensor.dtype == dtype:
            return tensor
        return self._constant(("to", self._key(tensor), dtype), lambda: tensor.to(dtype), (tensor,))


def _writes(name: str) -> bool:
    """Whether a function may write into its first argument, or needs its class, as Parameter does."""
    own = name in ("__set__", "__setitem__", "detach") or name.startswith("__i")
    return own or (name.endswith("_") and not name.startswith("__"))


def _storage(tensor: Tensor) -> torch.UntypedStorage | None:
    """The storage of a tensor; None without one, as for sparse tensors."""
    try:
        return tensor.untyped_storage()
    except NotImplementedError:
        return None


def _address(tensor: Tensor) -> int:
    """The address of the storage of a tensor, shared with its views."""
    storage = _storage(tensor)
    return 0 if storage is None else storage.data_ptr()


def flat(tree: Any) -> Iterator[Any]:
    """The items of lists and tuples, however nested."""
    if isinstance(tree, (list, tuple)):
        for each in tree:
            yield from flat(each)
    else:
        yield tree


def _names(code: Any) -> set[str]:
    """The names that a function and its nested functions use."""
    inner = [_names(each) for each in getattr(code, "co_consts", ()) if isinstance(each, CodeType)]
    return set(getattr(code, "co_names", ())).union(*inner)


def _tensors(values: Any) -> list[Tensor]:
    """All tensors of nested vertex data."""
    if isinstance(values, dict):
        return [each for value in values.values() for each in _tensors(value)]
    return [values]


def _records() -> bool:
    """False in inference mode, where tensors have no version, and in functorch transforms."""
    return not torch.is_inference_mode_enabled() and not in_functorch()


def _called_by_program() -> bool:
    """Whether the program calls torch, not an operator or primitive of this package."""
    frame: Any = sys._getframe(2)
    while frame.f_globals.get("__name__", "").startswith("torch"):
        frame = frame.f_back
    name = frame.f_globals.get("__name__", "")
    return not name.startswith("tgraph.") or name.startswith("tgraph.algorithms.")
