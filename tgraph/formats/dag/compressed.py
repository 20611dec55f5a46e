"""Base class of the layouts whose rows are a linear DAG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.formats.checks import check_names, count_option
from tgraph.formats.dag import evaluation
from tgraph.formats.dag.transpose import transposed
from tgraph.formats.layout import Layout
from tgraph.kernels.affine import AffineStep, StepResult
from tgraph.kernels.dag import Dag

if TYPE_CHECKING:
    from typing_extensions import Self


class Compressed(Layout):
    """A layout whose rows refer to shared rows.

    dag : the rows as a linear DAG. num_arcs : the number of arcs of the graph.

    The transpose is the adjoint DAG, not compressed anew.
    """

    dag: Dag
    num_arcs: int
    num_vertices: int

    OPTIONAL: ClassVar[tuple[str, ...]] = ("weights", "order", "tasks")  # names of optional tensors

    def __init__(self, dag: Dag, num_arcs: int):
        self.dag, self.num_arcs, self.num_vertices = dag, num_arcs, dag.num_vertices

    def to_csr(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Layout.to_csr`."""
        return self.rows(torch.arange(self.num_vertices, device=self.device))

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Layout.rows`."""
        return evaluation.rows(self.dag, vertices.long())

    def out_degree(self) -> Tensor:
        """See `Layout.out_degree`."""
        return evaluation.degrees(self.dag)

    def tensors(self) -> dict[str, Tensor]:
        """See `Layout.tensors`."""
        return self.dag.tensors()

    def options(self) -> dict[str, Any]:
        """See `Layout.options`."""
        return {
            "num_vertices": self.num_vertices,
            "num_arcs": self.num_arcs,
            "phases": list(self.dag.phases),
            "weighted": self.dag.weighted,
        }

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], options: dict[str, Any]) -> Self:
        """See `Layout.from_tensors`."""
        tensors = check_names(cls.name, tensors, ("offset", "children"), cls.OPTIONAL)
        if options.get("weighted") not in ("inputs", "outputs") or "phases" not in options:
            raise ArgumentError(f"options: a layout {cls.name!r} has phases, and is weighted at 'inputs' or 'outputs'")
        held: dict[str, Any] = {"weights": None, "order": None, "tasks": None, **tensors}
        built = Dag(
            num_vertices=count_option(options, "num_vertices"),
            phases=tuple(int(bound) for bound in options["phases"]),
            weighted=options["weighted"],
            **held,
        )
        layout = cls(built.checked, count_option(options, "num_arcs"))
        if (found := int(layout.out_degree().sum())) != layout.num_arcs:
            raise ArgumentError(f"num_arcs: the rows stand for {found} arcs, not {layout.num_arcs}")
        return layout

    def to(self, device: torch.device) -> Self:
        """The same layout on another device."""
        return type(self)(self.dag.to(device), self.num_arcs)

    def transposed(self) -> Self:
        """See `Layout.transposed`: the adjoint DAG, not compressed anew."""
        return type(self)(transposed(self.dag), self.num_arcs)

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None:
        """See `Layout.refuses`."""
        return evaluation.refuses(self.dag, reduce, edge)

    def pull(self, data: Tensor, reduce: str, edge: str = "copy") -> Tensor:
        """See `Layout.pull`. Raises ArgumentError for calls that `refuses` rejects."""
        if reason := self.refuses(reduce, edge, data.dtype):
            raise ArgumentError(reason)
        return evaluation.evaluate(self.dag, data, reduce, edge)

    def multiply(self, data: Tensor, left: Tensor | None = None, right: Tensor | None = None) -> Tensor:
        """diag(left) A diag(right) data in one pass, [n, F]: the products A D X and D A D X of a GCN.

        data : [n, F]. left, right : [n] of its dtype, or None for ones. Not differentiable.

        >>> layout = tg.generators.star(3).to_format("virtual").layout
        >>> root = torch.tensor([3.0, 1.0, 1.0, 1.0]).rsqrt()
        >>> layout.multiply(torch.ones(4, 1), root, root).flatten().round(decimals=3)
        tensor([1.7320, 0.5770, 0.5770, 0.5770])
        """
        return evaluation.evaluate(self.dag, data, "sum", "copy", left, right)

    def affine_step(self, step: AffineStep) -> StepResult:
        """See `Layout.affine_step`: fused with the evaluation of the DAG."""
        return evaluation.affine_step(self.dag, step)
