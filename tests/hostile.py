"""Calls of public functions with tensors and graphs that have no sound memory or entries, in processes forked for it:
an answer or a TGraphError is right, a signal, a hang or another exception is a fault.

A function is called with small valid arguments, found by trying those that suit the names and types of its parameters;
then with each of its tensors, or its graph, replaced by hostile ones of the same shape and dtype.
"""

import inspect
import itertools
import os
import signal
import sys
import tempfile
import warnings

import torch
from public_interface import documented
from torch._subclasses import FakeTensorMode
from torch.utils._pytree import tree_map

import tgraph as tg
from tgraph.errors import TGraphError

N = 8

# ---- hostile tensors ------------------------------------------------------------------------------------------------


class Plain(torch.Tensor):
    """A subclass with the ordinary __torch_function__."""


class Silent(torch.Tensor):
    """A subclass without __torch_function__."""

    __torch_function__ = torch._C._disabled_torch_function_impl


class Wrapper(torch.Tensor):
    """A tensor without memory that computes on the one that it wraps."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), named=None):
        def inner(value):
            return value.inner if isinstance(value, Wrapper) else value

        return function(*tree_map(inner, arguments), **tree_map(inner, named or {}))


class Flattened(Wrapper):
    """The same, which says how it is taken apart."""

    def __tensor_flatten__(self):
        return ["inner"], None


def freed(tensor):
    own = tensor.clone()
    own.untyped_storage().resize_(0)
    return own


def cut(tensor):
    own = torch.cat((tensor.flatten()[:1].repeat(4), tensor.flatten()))[4:].view(tensor.shape)
    own.untyped_storage().resize_(5 * own.element_size())
    return own


def swapped(tensor):
    own = torch.empty(0, dtype=tensor.dtype)
    return own.set_(tensor.flatten()[:1].clone().untyped_storage(), 0, tensor.shape, [0] * tensor.dim())


def faked(tensor):
    with FakeTensorMode() as mode:
        return mode.from_tensor(tensor)


def batched(tensor):
    escaped = []
    torch.vmap(lambda row: escaped.append(row) or row)(torch.stack((tensor, tensor)))
    return escaped[0]


def quantised(tensor):
    return torch.quantize_per_tensor(tensor.float(), 0.5, 0, torch.qint8)


def nested(tensor):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([tensor.flatten(), tensor.flatten()[:2]])


def inferred(tensor):
    with torch.inference_mode():
        return tensor.clone()


HOSTILE = {
    "plain subclass": lambda tensor: tensor.as_subclass(Plain),
    "silent subclass": lambda tensor: tensor.as_subclass(Silent),
    "wrapper": Wrapper,
    "flattened": Flattened,
    "freed": freed,
    "freed subclass": lambda tensor: freed(tensor).as_subclass(Plain),
    "cut": cut,
    "set": swapped,
    "fake": faked,
    "batched": batched,
    "meta": lambda tensor: tensor.to("meta"),
    "sparse": lambda tensor: tensor.to_sparse(),
    "nested": nested,
    "quantised": quantised,
    "expanded": lambda tensor: tensor.flatten()[:1].expand(tensor.numel()).view(tensor.shape),
    "strided": lambda tensor: torch.stack((tensor, tensor), -1)[..., 0],
    "resized": lambda tensor: tensor.clone().resize_(2 * tensor.numel() + 3),
    "shrunk": lambda tensor: tensor.clone().resize_(1),
    "negated": lambda tensor: torch._neg_view(tensor.double()),
    "complex": lambda tensor: tensor.to(torch.complex64).conj(),
    "inferred": inferred,
    "gradient": lambda tensor: tensor.double().requires_grad_(),
    "wild": lambda tensor: torch.full_like(tensor, 1 if tensor.dtype == torch.bool else 10**9),
    "negative": lambda tensor: torch.full_like(tensor, 1 if tensor.dtype == torch.bool else -(10**9)),
    "few": lambda tensor: tensor[:1],
    "none": lambda tensor: tensor[:0],
    "scalar": lambda tensor: tensor.flatten()[0],
    "more": lambda tensor: torch.stack((tensor, tensor)),
}

# ---- hostile graphs -------------------------------------------------------------------------------------------------


def arcs(seed=1, size=4 * N):
    random = torch.Generator().manual_seed(seed)
    return torch.randint(N, (2, size), generator=random)


def graph_of(directed=True, weighted=True):
    ends = arcs()
    weights = torch.arange(1, ends.shape[1] + 1) % 5 + 1.0 if weighted else None
    return tg.Graph.from_edges(*ends, weights, num_vertices=N, directed=directed, multi="first", self_loops="drop")


def changed(graph, name, place, value):
    """The graph with one entry of its tensors changed."""
    parts = {"offset": graph.offset.clone(), "neighbors": graph.neighbors.clone()}
    parts[name][place] = value
    return tg.Graph(parts["offset"], parts["neighbors"], graph.weights, directed=graph.directed)


WILD = [
    *(("neighbors", 3, value) for value in (N, N + 5, -1, 10**9, -(10**9), 2**31 - 1)),
    *(("offset", 2, value) for value in (2**40, -(2**40), 0, 10**6)),
]

# ---- arguments ------------------------------------------------------------------------------------------------------

TENSORS = (
    lambda: torch.zeros(N, dtype=torch.int64),
    lambda: torch.rand(N, dtype=torch.float64),
    lambda: torch.rand(N, 2),
    lambda: torch.tensor([0, 2, 1]),
    lambda: torch.tensor([[0, 1], [2, 3], [1, 0]]),
    lambda: torch.tensor([[0, 1, 2], [2, 3, 4]]),
    lambda: torch.arange(N) < 3,
    lambda: torch.rand(graph_of().num_arcs, dtype=torch.float64),
    lambda: torch.arange(N),
    lambda: torch.rand(2, N, dtype=torch.float64),
)
NAMED = {
    **{"source": [0], "target": [3], "reduce": ["sum"], "k": [2], "count": [2], "parts": [2], "length": [3]},
    **{"size": [N], "num_vertices": [N], "n": [N], "edge": ["copy"], "mode": ["push"], "name": ["out_degree"]},
    **{"position": [0], "fanouts": [[2, 2]], "num_neighbors": [[2, 2]], "src": [arcs()[0]], "dst": [arcs()[1]]},
    **{"edge_index": [arcs()], "offset": [graph_of().offset], "neighbors": [graph_of().neighbors], "device": ["cpu"]},
    **{"key": [7], "first": [0], "num_nodes": [N], "num_columns": [N], "permutation": [None], "root": [0], "seed": [0]},
    **{"layout": ["sell"], "vertices": [torch.tensor([0, 2, 1])], "order": [torch.arange(N)], "active": ["active"]},
    **{"community": [torch.zeros(N, dtype=torch.int64)], "left": [torch.arange(N) < 3]},
}
SKIPPED = ("torch.compile", "path", "folder", "url", "file", "process_group")


def values_of(parameter, graph):
    """Arguments for a parameter, best first; none for one that nothing suits."""
    kind, name = str(parameter.annotation), parameter.name
    if name == "active":
        return [graph.everything()]
    if name in NAMED:
        return NAMED[name]
    if "Graph" in kind:
        return [graph]
    if "Tensor" in kind or kind == "Any":
        return [make() for make in TENSORS]
    return [2] if "int" in kind else [0.5] if "float" in kind else []


def valid_arguments(function, graph):
    """(arguments by name that the function accepts, the names of its tensors), None where none are found."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind not in (p.VAR_POSITIONAL, 2 + 2)]
    if any(p.name in SKIPPED for p in parameters):
        return None
    needed = [p for p in parameters if p.default is p.empty]
    choices = [values_of(p, graph) for p in needed]
    for chosen in itertools.islice(itertools.product(*choices), 30):
        given = dict(zip((p.name for p in needed), chosen, strict=True))
        try:
            call(function, given)
        except Exception:
            continue
        tensors = [name for name, value in given.items() if isinstance(value, torch.Tensor)]
        optional = [p for p in parameters if p.default is None and "Tensor" in str(p.annotation)]
        return given, tensors, optional
    return None


def call(function, given):
    """Call a function, with what cannot be passed by name first."""
    positional, named = [], dict(given)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in named:
            positional.append(named.pop(parameter.name))
    return function(*positional, **named)


def functions():
    """(name, function) of the public functions, methods and properties of graphs, and classes of tensors."""
    for name, value in documented().items():
        if name.startswith(("tgraph.Graph.", "tgraph.algorithms.", "tgraph.primitives.")) or inspect.isfunction(value):
            value = value.fget if isinstance(value, property) else value
            if inspect.isfunction(value) and not any(part in name for part in ("progress", "distributed", "open")):
                yield name, value
    yield "Graph", tg.Graph
    yield "Csr", tg.sampling.Csr if hasattr(tg.sampling, "Csr") else tg.Graph


def with_hostile_tensors(function, graph, kinds):
    """(what is hostile, a call) for a function."""
    found = valid_arguments(function, graph)
    if found is None:
        return
    given, tensors, optional = found
    for name in tensors:
        for kind in kinds:
            yield f"{name} {kind}", given, name, given[name], kind
    for parameter in optional:
        for kind in kinds:
            for make in TENSORS[:3]:
                yield f"{parameter.name} {kind}", given, parameter.name, make(), kind


# ---- processes ------------------------------------------------------------------------------------------------------


def forked(work, seconds=600):
    """The faults of `work`, a generator of (name, call), in a process of its own: those that it met, and the call in
    which it ended before its time, after which another process goes on."""
    faults, done = [], 0
    while True:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            _run(work, writing, done, seconds)
        os.close(writing)
        with os.fdopen(reading) as said:
            lines = said.read().splitlines()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        faults += [line[1:] for line in lines if line.startswith("!")]
        begun = [line[1:] for line in lines if line.startswith(">")]
        if status == 0:
            return faults, done + len(begun)
        faults.append(f"{begun[-1] if begun else 'nothing'} ended the process: {status}")
        done += len(begun)


def _run(work, writing, done, seconds):
    signal.alarm(seconds)
    torch.set_num_threads(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    warnings.simplefilter("ignore")
    for name, function in itertools.islice(work(), done, None):
        os.write(writing, f">{name}\n".encode())
        signal.setitimer(signal.ITIMER_PROF, 10)
        try:
            function()
        except TGraphError:
            pass
        except BaseException as error:
            text = str(error).replace("\n", " ")[:90]
            os.write(writing, f"!{name}: {type(error).__name__}: {text}\n".encode())
    os._exit(0)


def tensor_calls(function, kinds):
    """The body of `forked`: the calls of a function with each of these kinds of hostile tensors."""

    def calls():
        for what, given, parameter, tensor, kind in with_hostile_tensors(function, graph_of(), kinds):
            yield what, lambda g=given, p=parameter, t=tensor, k=kind: _replaced(function, g, p, t, k)

    return calls


def graph_calls(function):
    """The calls of a function on graphs of wild entries: as they are built, and written into after a check."""

    def calls():
        for directed in (True, False):
            graph = graph_of(directed)
            found = valid_arguments(function, graph)
            places = () if found is None else [name for name, value in found[0].items() if value is graph]
            for name, at, value in WILD if places else ():
                for origin in ("tensors", "written into", "file"):
                    what = f"{'directed' if directed else 'undirected'} {name} {value} {origin}"
                    yield what, lambda g=found[0], p=places, w=(name, at, value, origin): _on_wild(function, g, p, w)

    return calls


def _on_wild(function, given, places, wild):
    name, at, value, origin = wild
    graph = given[places[0]]
    if origin == "written into":
        made = tg.Graph(graph.offset.clone(), graph.neighbors.clone(), graph.weights, directed=graph.directed)
        call(function, given | dict.fromkeys(places, made))
        getattr(made, name)[at] = value
    else:
        made = changed(graph, name, at, value)
    if origin == "file":
        with tempfile.TemporaryDirectory() as folder:
            tg.write(made, f"{folder}/wild.tg")
            tg.verify(f"{folder}/wild.tg")
            call(function, given | dict.fromkeys(places, tg.read(f"{folder}/wild.tg")))
    else:
        call(function, given | dict.fromkeys(places, made))


def _replaced(function, given, parameter, tensor, kind):
    try:
        made = HOSTILE[kind](tensor)
    except Exception:
        return
    call(function, {**given, parameter: made})


def main(kinds, step, *chosen):
    """Print the faults of every so-many-th function, or of those whose names hold one of the `chosen` texts.

    kinds : "graphs", "tensors", or the name of one kind of hostile tensors.
    """
    total = 0
    of_kind = [kind for kind in HOSTILE if kinds in ("tensors", kind)]
    for name, function in list(functions())[:: int(step)]:
        if not chosen or any(text in name for text in chosen):
            faults, count = forked(graph_calls(function) if kinds == "graphs" else tensor_calls(function, of_kind))
            total += count
            for fault in faults:
                print(f"{name} {fault}", flush=True)
    print(total, "calls", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
