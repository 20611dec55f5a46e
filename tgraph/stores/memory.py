"""Tensors in memory."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping, Sequence

from torch import Tensor

from tgraph.stores.blocks import BlockStore, ReplacedError, Stat, check_blocks, check_key, check_version, checked

_WRITING = threading.Lock()


class MemoryStore(BlockStore):
    """Tensors in memory, each of them one block. Puts and reads copy.

    >>> from tgraph import stores
    >>> store = stores.MemoryStore()
    >>> x = torch.arange(6.0).view(3, 2)
    >>> store.put("x", x)
    >>> x.zero_()
    tensor([[0., 0.],
            [0., 0.],
            [0., 0.]])
    >>> store.get_rows(store.stat("x"), torch.tensor([1]))
    tensor([[2., 3.]])
    """

    def __init__(self) -> None:
        self._held: dict[str, tuple[Stat, Tensor]] = {}

    def put(
        self, key: str, tensor: Tensor, notes: Mapping[str, str] | None = None, replacing: Stat | None = None
    ) -> None:
        tensor = checked(key, tensor).clone()
        shape = tuple(tensor.shape)
        stat = Stat(key, tensor.dtype, shape, max(1, shape[0]), uuid.uuid4().hex, dict(notes or {}))
        with _WRITING:
            present = self.stat(key)
            check_version(key, present.version if present else None, replacing)
            self._held[key] = stat, tensor

    def delete(self, key: str) -> bool:
        return self._held.pop(check_key(key), None) is not None

    def keys(self, beginning: str = "") -> list[str]:
        return sorted(key for key in self._held if key.startswith(beginning))

    def stat(self, key: str) -> Stat | None:
        held = self._held.get(check_key(key))
        return None if held is None else held[0]

    def get_blocks(self, stat: Stat, numbers: Sequence[int]) -> list[Tensor]:
        check_blocks(stat, numbers)
        return [self._tensor(stat).clone() for _ in numbers]

    def _rows(self, stat: Stat, index: Tensor | None) -> Tensor:
        tensor = self._tensor(stat)
        return tensor.clone() if index is None else tensor.index_select(0, index)

    def _tensor(self, stat: Stat) -> Tensor:
        held = self._held.get(stat.key)
        if held is None or held[0] != stat:
            raise ReplacedError(f"{stat.key}: replaced meanwhile; ask for its stat again")
        return held[1]

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._held)} tensors)"
