"""Full-batch training of networks whose features and activations are in files.

A layer is a sum over the neighbours, which `aggregate` computes from file to file, and a function of single vertices,
which rows go through, some at a time. A backward pass goes through the same functions again, on the stored sums, so
that no graph of operations outlives a few rows (Chen et al., "Training deep nets with sublinear memory cost", 2016);
gradients of sums are sums along the reversed arcs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from tgraph.core import random
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, MemoryBudgetError
from tgraph.files import PathLike
from tgraph.stream.features.aggregation import aggregate, budget_of
from tgraph.stream.features.applying import apply
from tgraph.stream.features.column_slabs import slices
from tgraph.stream.features.matrix import FeatureFile, Source, TensorFeatures, create_features, open_matrix
from tgraph.stream.memory import trim_heap
from tgraph.stream.run.budget import budget_for, runtime_bytes

ROWS = 1 << 14  # the most at a time
TRIED = 4  # rows, of which the last is changed, to see that no other depends on it
KEPT = "; compute it from them in torch, without detach, item or numpy"

Features = FeatureFile | TensorFeatures
Loss = Callable[[Tensor, slice], Tensor]


@dataclass
class Sums:
    """The input of a layer from neighbours: scale * A (scale * x) * inverse + own * x, each [n, 1], or None for 1, and
    for `own` 0; A has the weights of the graph where `weighted`. are_all : whether the layer takes nothing else."""

    scale: Tensor | None = None
    inverse: Tensor | None = None
    own: Tensor | None = None
    weighted: bool = False
    are_all: bool = False

    def received(self, x: Tensor, sums: Tensor, rows: slice) -> Tensor:
        """The rows that some vertices receive, from A (scale * x)."""
        for factor in self.after:
            sums = sums * factor[rows].to(sums.dtype)
        return sums if self.own is None else sums + x * self.own[rows].to(x.dtype)

    @property
    def after(self) -> list[Tensor]:
        """Factors of the sums of each vertex."""
        return [factor for factor in (self.scale, self.inverse) if factor is not None]

    @property
    def nbytes(self) -> int:
        """Bytes of the factors."""
        return sum(each.nbytes for each in (*self.after, self.own) if each is not None)


@dataclass
class Stage:
    """A layer that sums over neighbours, None for the first stage, and modules on single vertices after it. first : the
    number of the first module among all."""

    layer: Any
    sums: Sums
    modules: list[Callable[[Tensor], Tensor]]
    first: int = 0

    def __call__(self, x: Tensor, received: Tensor | None) -> Tensor:
        """The output of some vertices: the layer gets what they receive as from one neighbour each."""
        for _, out in self.outputs(x, received):
            x = out
        return x

    def outputs(self, x: Tensor, received: Tensor | None) -> Iterator[tuple[str, Tensor]]:
        """The outputs of the layer and of each module, with their names. Raises ArgumentError for other than rows."""
        if received is not None:
            arcs = torch.arange(len(x)).expand(2, -1)
            x = self.layer(received if self.sums.are_all else (received, x), arcs)
            yield _named(self.first - 1, self.layer), x
        for number, module in enumerate(self.modules, self.first):
            name, count, x = _named(number, module), len(x), module(x)
            is_last = number + 1 == self.first + len(self.modules)
            if not isinstance(x, Tensor) or x.shape[:1] != (count,) or (is_last and x.dim() != 2):
                got = list(x.shape) if isinstance(x, Tensor) else type(x).__name__
                raise ArgumentError(f"{name} makes {got} of {count} rows; between layers each row becomes a row")
            yield name, x

    def check(self, x: Tensor, received: Tensor | None) -> None:
        """Raise ArgumentError for a module by which the output of some row depends on the last row."""
        given = [each for each in (x, received) if each is not None]
        changed = [torch.cat([each[:-1], 2 * each[-1:].abs() + 1]) for each in given]
        found: list[list[tuple[str, Tensor]]] = []
        for own, *rest in (given, changed):
            torch.default_generator.manual_seed(0)
            found.append([(name, out[:-1].clone()) for name, out in self.outputs(own.clone(), *rest or (None,))])
        for (name, one), (_, other) in zip(*found, strict=True):
            rounding = 16 * torch.finfo(one.dtype).eps if one.is_floating_point() else 0  # of sums whose terms cancel
            largest = float(one.abs().nan_to_num(posinf=0).amax()) if one.numel() else 0
            if not torch.allclose(one, other, atol=rounding * largest, equal_nan=True):
                raise ArgumentError(
                    f"{name} makes rows depend on each other, or on draws without torch's seed; between layers each "
                    "row is computed from itself, in parts that differ from run to run"
                )


class Network:
    """Layers in sequence, with features and activations in files, for training on all vertices at once.

    Parameters
    ----------
    layers : modules, such as a torch.nn.Sequential: GCNConv, SAGEConv, GINConv and GraphConv of `tgraph.nn` that sum or
        take means, and between them modules that compute each row for itself (linear layers, activations, dropout).
    graph : opened by `tgraph.open`, or in memory, where it does not count against the budget.
    folder : where activations are kept, made where there is none: the inputs of the layers and the sums over
        neighbours, and in a backward pass three more matrices; each call overwrites those of the last.
    memory : the memory budget, as for `tgraph.stream.aggregate`: for some columns of all vertices, or the operations
        on some rows. Parameters, and vectors such as degrees in GCNConv, count; by default that of the opened graph.

    Raises ArgumentError for layers that are not sums of features of neighbours, and for batch normalisation in training
    mode, which is no function of a row; as `forward` and `backward` do for other modules that are none, tried on a few.

    >>> graph, x = tg.generators.cycle(6), torch.rand(6, 4)
    >>> layers = torch.nn.Sequential(tg.nn.SAGEConv(4, 8), torch.nn.ReLU(), tg.nn.GCNConv(8, 2))
    >>> network = tg.stream.Network(layers, graph, ".", memory="1MB")
    >>> loss = network.backward(x, lambda out, rows: out.square().sum() / 6)
    >>> layers[0].lin_l.weight.grad.shape
    torch.Size([8, 4])
    """

    def __init__(self, layers: Iterable[Any], graph: Graph, folder: PathLike, *, memory: str | int | None = None):
        self._graph, self._folder = graph, Path(folder)
        if self._folder.exists() and not self._folder.is_dir():
            raise ArgumentError(f"folder: {str(folder)!r} is a file; name a folder, which is made where there is none")
        self._folder.mkdir(parents=True, exist_ok=True)
        self.stages: list[Stage] = [Stage(None, Sums(), [])]
        modules = list(layers)
        for number, module in enumerate(modules):
            _check_rows(module, number)
            if hasattr(module, "propagate"):
                self.stages.append(Stage(module, _sums_of(module, graph, number), [], number + 1))
            else:
                self.stages[-1].modules.append(module)
        parameters = [each for module in modules if isinstance(module, torch.nn.Module) for each in module.parameters()]
        self._parameters = {each.untyped_storage().data_ptr() for each in parameters}
        held = sum(stage.sums.nbytes for stage in self.stages) + 2 * sum(each.nbytes for each in parameters)
        budget = budget_of(graph, memory)
        self._memory = budget - held
        if self._memory < 1:
            raise MemoryBudgetError("the parameters, and the degrees of the vertices", held, budget, "give more")

    def forward(self, source: Source, path: PathLike) -> FeatureFile:
        """Write the output [n, C] to a file, and open it; without gradients.

        source : the features [n, F], as for `tgraph.stream.aggregate`. path : the file that is written.
        Raises the errors of `tgraph.stream.aggregate`.

        >>> layers = [tg.nn.GCNConv(4, 2)]
        >>> network = tg.stream.Network(layers, tg.generators.cycle(6), ".", memory="1MB")
        >>> network.forward(torch.rand(6, 4), "out.npy").shape
        (6, 2)
        """
        inputs, sums = self._activations(source, 0)
        self._through(len(self.stages) - 1, inputs[-1], sums[-1], path, 0)
        return FeatureFile(path)

    def backward(self, source: Source, loss: Loss, *, seed: int | None = None) -> float:
        """Compute the loss, and add its gradients to those of the parameters: as loss.backward() does in memory, up to
        rounding.

        source : the features [n, F], as for `tgraph.stream.aggregate`.
        loss : a function of the outputs [r, C] of some vertices, and of their rows, a slice; the loss is the sum of its
            results. `F.cross_entropy(out, y[rows], reduction="sum") / n` gives a mean.
        seed : of dropout and other draws, by default drawn anew; both passes draw the same.

        Raises ArgumentError for a loss that is no number, or of no outputs; MemoryBudgetError where a row, or a column
        of all vertices, does not fit; and the errors of `tgraph.stream.aggregate`.

        >>> layers = [tg.nn.GCNConv(4, 2)]
        >>> network = tg.stream.Network(layers, tg.generators.cycle(6), ".", memory="1MB")
        >>> network.backward(torch.zeros(6, 4), lambda out, rows: out.sum())
        0.0
        """
        seed = int(torch.randint(2**62, ())) if seed is None else seed
        inputs, sums = self._activations(source, seed)
        total, gradient = 0.0, None
        first = 0 if self.stages[0].modules else 1
        for number in range(len(self.stages) - 1, first - 1, -1):
            needed = number > first
            total += self._back(number, inputs[number], sums[number], gradient, loss, needed, seed)
            gradient = self._gradient(self.stages[number].sums) if needed else None
        return total

    # ---- passes ------------------------------------------------------------------------------------------------------

    def _activations(self, source: Source, seed: int) -> tuple[list[Features], list[Features | None]]:
        """The input of each stage, and the sums A (scale * x) of it, None for the first."""
        inputs: list[Features] = [open_matrix(source)]
        sums: list[Features | None] = [None]
        for number, stage in enumerate(self.stages):
            if number:
                sums.append(self._summed(inputs[-1], stage.sums, self._graph, f"sums{number}", stage.sums.scale))
            if number + 1 < len(self.stages):
                path, changes = self._path(f"input{number + 1}"), number or stage.modules
                inputs.append(self._through(number, inputs[-1], sums[-1], path, seed) if changes else inputs[-1])
        return inputs, sums

    def _summed(self, x: Features, sums: Sums, graph: Graph, name: str, scale: Tensor | None) -> FeatureFile:
        """The sums of scale * x over the in-arcs of a graph, in a file."""
        given: Any = x if isinstance(x, FeatureFile) else x.values
        if scale is not None:
            memory = self._memory
            given = apply((given, scale), lambda x, scale: x * scale.to(x.dtype), self._path("scaled"), memory=memory)
        edge = "mul" if sums.weighted else "copy"
        return aggregate(graph, given, self._path(name), "sum", edge=edge, memory=self._memory)

    def _through(self, number: int, x: Features, sums: Features | None, path: PathLike, seed: int) -> FeatureFile:
        """The output of a stage, in a file."""
        with torch.no_grad(), self._rows(number, x, sums, seed) as parts, ExitStack() as stack:
            writer = None
            for rows, own, received in parts:
                out = self.stages[number](own, received)
                if writer is None:
                    shape = (x.shape[0], out.shape[1])
                    writer = stack.enter_context(create_features(path, shape, out.dtype))
                writer.write(out, rows.start)
                del own, received, out  # before the next ones are read
        return FeatureFile(path)

    def _back(
        self,
        number: int,
        x: Features,
        sums: Features | None,
        gradient: Callable[[slice], Tensor] | None,
        loss: Loss,
        needed: bool,
        seed: int,
    ) -> float:
        """Add the gradients of the parameters of a stage, by the `gradient` of its output, None where that is the loss,
        which is returned; where `needed`, write what vertices send to their neighbours, and what they keep, of the
        gradient of its input."""
        stage, total, writers, recorded = self.stages[number], 0.0, None, set[bool]()
        with torch.enable_grad(), self._rows(number, x, sums, seed) as parts, ExitStack() as stack:
            for rows, own, received in parts:
                for leaf in (own, received) if needed else ():
                    leaf.requires_grad_()  # type: ignore[union-attr]
                out = stage(own, received)
                if gradient is None:
                    trains, out = out.requires_grad, _checked(loss(out, rows))
                    recorded.add(out.requires_grad or not trains)
                    total += float(out.detach())
                if out.requires_grad:
                    out.backward(None if gradient is None else gradient(rows))
                if not needed or received is None:
                    del own, received, out
                    continue
                if writers is None:
                    files = [(self._path(name), (x.shape[0], own.shape[1]), own.dtype) for name in ("sent", "kept")]
                    writers = [stack.enter_context(create_features(*each)) for each in files]
                for writer, part in zip(writers, self._adjoint(stage.sums, own, received, rows), strict=True):
                    writer.write(part, rows.start)
                del own, received, out, part, leaf
        if recorded == {False}:
            raise ArgumentError(f"loss: does not depend on the outputs{KEPT}")
        return total

    def _gradient(self, sums: Sums) -> Callable[[slice], Tensor]:
        """The gradient of the input of a stage, as a function of rows, from what was sent and kept."""
        sent, kept = FeatureFile(self._path("sent")), FeatureFile(self._path("kept"))
        back = self._summed(sent, sums, self._graph.transpose(), "back", None)

        def of_rows(rows: slice) -> Tensor:
            found = back.read(rows)
            return kept.read(rows) + (found if sums.scale is None else found * sums.scale[rows].to(found.dtype))

        return of_rows

    @staticmethod
    def _adjoint(sums: Sums, own: Tensor, received: Tensor, rows: slice) -> tuple[Tensor, Tensor]:
        """The gradient that vertices send to their neighbours, and what they keep."""
        kept = torch.zeros_like(own) if own.grad is None else own.grad
        sent = torch.zeros_like(received) if received.grad is None else received.grad
        if sums.own is not None:
            kept = kept + sent * sums.own[rows].to(sent.dtype)
        for factor in sums.after:
            sent = sent * factor[rows].to(sent.dtype)
        return sent, kept

    # ---- rows --------------------------------------------------------------------------------------------------------

    @contextmanager
    def _rows(
        self, number: int, x: Features, sums: Features | None, seed: int
    ) -> Iterator[Iterator[tuple[slice, Tensor, Tensor | None]]]:
        """(rows, their input, what they receive), some rows after others; the draws within depend on the seed."""
        trim_heap()
        step = self._rows_at_a_time(number, x, sums)

        def read(rows: slice) -> tuple[Tensor, Tensor | None]:
            own = x.read(rows).contiguous().clone() if isinstance(x, TensorFeatures) else x.read(rows).contiguous()
            return own, None if sums is None else self.stages[number].sums.received(own, sums.read(rows), rows)

        def parts() -> Iterator[tuple[slice, Tensor, Tensor | None]]:
            for rows in slices(x.shape[0], step):
                torch.default_generator.manual_seed(random.key(seed, number * x.shape[0] + rows.start) % 2**63)
                yield (rows, *read(rows))

        with torch.random.fork_rng(devices=[]):
            yield parts()

    def _rows_at_a_time(self, number: int, x: Features, sums: Features | None) -> int:
        """Rows whose inputs and outputs, what is kept of them for a backward pass, and their gradients fit; measured on
        two of them."""
        kept, rows = 0, slice(0, min(2, x.shape[0]))
        if not x.shape[0]:
            return 1

        def count(tensor: Tensor) -> Tensor:
            nonlocal kept
            if tensor.untyped_storage().data_ptr() not in self._parameters:
                kept += tensor.nbytes
            return tensor

        own = x.read(rows).clone().requires_grad_()
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            tried = slice(0, min(TRIED, x.shape[0]))
            self.stages[number].check(x.read(tried), None if sums is None else sums.read(tried))
        with (
            torch.enable_grad(),
            torch.random.fork_rng(devices=[]),
            torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor),
        ):
            out = self.stages[number](own, None if sums is None else sums.read(rows).clone().requires_grad_())
        per_row = (3 * (kept + out.nbytes) + 12 * own.nbytes) // (rows.stop - rows.start) + 1
        available = self._memory - runtime_bytes(self._memory)
        if per_row > available:
            raise MemoryBudgetError("the operations on a row", budget_for(per_row), self._memory, "give more")
        return min(available // per_row, ROWS)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.safetensors"


def _sums_of(layer: Any, graph: Graph, number: int) -> Sums:
    """The sums that a layer receives. Raises ArgumentError for one that is no sum over neighbours."""
    from tgraph import nn  # imports PyTorch Geometric, which takes seconds

    name = f"layers[{number}]"
    if not isinstance(layer, (nn.GCNConv, nn.SAGEConv, nn.GINConv, nn.GraphConv)) or getattr(layer, "project", False):
        known = "GCNConv, SAGEConv without project, GINConv and GraphConv of tgraph.nn"
        raise ArgumentError(f"{name}: {type(layer).__name__} is not computed in files; {known} are")
    if layer.aggr not in ("sum", "add", "mean") or layer.flow != "source_to_target":
        raise ArgumentError(f"{name}: expected aggr 'sum' or 'mean' along the arcs, got {layer.aggr!r}, {layer.flow!r}")
    weighted = graph.weight_dtype is not None and isinstance(layer, (nn.GCNConv, nn.GraphConv))
    sums = Sums(weighted=weighted, are_all=isinstance(layer, nn.GCNConv))
    if layer.aggr == "mean":
        sums.inverse = graph.in_degree.clamp(min=1).to(torch.get_default_dtype()).reciprocal()[:, None]
    if isinstance(layer, nn.GCNConv) and layer.normalize:
        held = graph if graph.layout is not None else graph.to_format("csr", narrow=False)
        loops = "remaining" if layer.add_self_loops else None
        adjacency = nn.adjacency.GraphAdjacency(held)
        scale: Any = nn.normalisation.gcn_norm(adjacency, None, layer.improved, loops, layer.lin.weight.dtype)[1]
        sums.scale, own = scale.values[:, None], scale.own
        own = own[:, None] if isinstance(own, Tensor) else own
        sums.own = None if isinstance(own, float) and not own else own * sums.scale.square()
    return sums


def _named(number: int, module: Any) -> str:
    return f"layers[{number}]: {getattr(module, '__name__', type(module).__name__)}"


def _check_rows(module: Any, number: int) -> None:
    for part in module.modules() if isinstance(module, torch.nn.Module) else ():
        if isinstance(part, _BatchNorm) and part.training:
            raise ArgumentError(
                f"layers[{number}]: {type(part).__name__} in training mode needs all rows at once; use LayerNorm, or "
                "its eval() with statistics that are known"
            )


def _checked(loss: Any) -> Tensor:
    tensor = isinstance(loss, Tensor)
    if not tensor or loss.numel() != 1:
        got = f"a tensor {list(loss.shape)}" if tensor else type(loss).__name__
        raise ArgumentError(f"loss: expected one number for the rows, got {got}{'; sum it' if tensor else KEPT}")
    return loss
