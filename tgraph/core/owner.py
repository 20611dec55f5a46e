"""The object that a tensor belongs to: registered operators are given tensors, and find what is cached beside them.

The reference is a weak one, an attribute of the tensor; copying or saving the tensor drops it.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any

from torch import Tensor

ATTRIBUTE = "_tgraph_owner"


class _Owner(weakref.ref[Any]):
    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are empty, and of a type that torch.load(weights_only=True) accepts."""
        return OrderedDict, ()

    def __deepcopy__(self, memo: Any) -> None:
        return None


def set_owner(tensor: Tensor, owner: Any) -> None:
    """Make `owner_of(tensor)` return the owner, for as long as both live, unless it has one."""
    if owner_of(tensor) is None:
        tensor.__dict__[ATTRIBUTE] = _Owner(owner)


def owner_of(tensor: Tensor) -> Any:
    """The owner of the tensor, None without one."""
    known = tensor.__dict__.get(ATTRIBUTE)
    return known() if isinstance(known, _Owner) else None
