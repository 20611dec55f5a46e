"""A CSR whose tensors are read or made when they are first used."""

from __future__ import annotations

from typing import Any, cast

from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.derived import AtFirstUse, Cache


class DeferredCsr(Csr):
    """The CSR of a graph whose tensors `_at_first_use(name)` gives. Sizes and dtypes that a subclass knows without them
    are its properties."""

    offset: Tensor = cast(Tensor, AtFirstUse())
    neighbors: Tensor = cast(Tensor, AtFirstUse())
    weights: Tensor | None = cast("Tensor | None", AtFirstUse())

    def __init__(self, num_vertices: int, **fields: Any):
        """fields : further attributes of the subclass."""
        self.__dict__.update(permutation=None, num_columns=num_vertices, _cache=Cache(), **fields)

    def _at_first_use(self, name: str) -> Tensor | None:
        raise NotImplementedError

    @property
    def csr_tensors(self) -> dict[str, Tensor | None]:
        """None: reading them costs something."""
        return {}

    @property
    def num_vertices(self) -> int:
        """n, the rows."""
        return self.num_columns
