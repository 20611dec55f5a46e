"""Checkpoints of runs on distributed graphs: a part by each rank, and a manifest that makes them one.

A part is a file `name.NUMBER.RANK-of-RANKS` with the rows of its rank, in the order of the graph, so that any other
number of ranks finds its rows. The manifest has the name of the checkpoint, the data that all ranks have in common, and
the checksum of each part. Rank 0 writes it once all parts are on the disk, and then deletes the former parts: a rank
that is killed at any moment leaves one of the two checkpoints whole.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.distributed.data.sharded import Sharded
from tgraph.distributed.ranks.process_group import may_hear_the_dead
from tgraph.engine import checkpoint
from tgraph.engine.checkpoint import REMEDY, Checkpoint, Keeper
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike, checksummed
from tgraph.files.atomic_write import remove_leftovers
from tgraph.model.program import Program


class SpreadKeeper(Keeper):
    """The checkpoint of a run on several ranks, in a folder that all of them see. When to write one is decided by the
    clock of rank 0, in a number that travels while the next iteration is computed."""

    def __init__(self, checkpoint: Checkpoint | PathLike, program: Program, graph: Graph):
        super().__init__(checkpoint, program, graph)
        assert graph.layout is not None
        self._held = graph.layout.ownership  # type: ignore[attr-defined]
        self._decision: tuple[Tensor, Any] | None = None
        if self._held.rank == 0 and may_hear_the_dead():
            warnings.warn(RESTARTS, stacklevel=2)
        self._number = 0  # of the checkpoint that was written last: its parts are not overwritten

    def _exists(self) -> bool:
        found = self._held.gather(torch.tensor(self.path.exists(), device="cpu")).tolist()
        if any(found) and not all(found):
            raise ArgumentError(
                f"checkpoint: rank {found.index(True)} has {self.path}, rank {found.index(False)} has not; name a file "
                "in a folder that all ranks see"
            )
        return all(found)

    def _hashed(self, tensor: Tensor) -> str:
        return str(tensor.digest()) if isinstance(tensor, Sharded) else super()._hashed(tensor)

    # ---- when --------------------------------------------------------------------------------------------------------

    def _is_due(self) -> bool:
        """The decision of rank 0 at the previous call; it decides now for the next one."""
        due = self._decided()
        now = time.monotonic() >= self._due and not due
        decision = torch.tensor(now or self._seconds == 0, dtype=torch.uint8, device="cpu")
        group = self._held.group
        first = 0 if group is None else dist.get_global_rank(group, 0)
        self._decision = decision, dist.broadcast(decision, first, group=group, async_op=True)
        return due

    def _decided(self) -> bool:
        if self._decision is None:
            return self._seconds == 0
        decision, travelling = self._decision
        travelling.wait()
        self._decision = None
        return bool(decision)

    # ---- writing -----------------------------------------------------------------------------------------------------

    def _write(self, tensors: dict[str, Tensor], notes: dict[str, str]) -> None:
        spread = {name: tensor for name, tensor in tensors.items() if isinstance(tensor, Sharded)}
        for tensor in spread.values():
            if tensor.ownership != self._held:
                raise ArgumentError(
                    f"checkpoint: keeps data with a row for each of the {self._held.num_rows} vertices, got "
                    f"{list(tensor.shape)}, spread at other rows; gather it with full_tensor()"
                )
        self._number += 1
        ranks = self._held.num_ranks
        names = [f"{self.path.name}.{self._number}.{rank}-of-{ranks}" for rank in range(ranks)]
        part, fault = self.path.with_name(names[self._held.rank]), None
        try:
            checksummed.write(part, {name: tensor.local for name, tensor in spread.items()}, {"format": _PART})
            sealed = checksummed.contents(part, REMEDY).notes["checksum"]
        except OSError as found:
            sealed, fault = _NONE, found
        # From here on all parts are on the disk, or some rank reports none.
        gathered = self._held.gather(torch.tensor(list(bytes.fromhex(sealed)), dtype=torch.uint8, device="cpu"))
        seals = [bytes(each).hex() for each in gathered.tolist()]
        if fault is not None or _NONE in seals:
            raise fault or OSError(f"rank {seals.index(_NONE)} could not write its part")
        if self._held.rank == 0:
            parts = {
                "number": self._number,
                "names": names,
                "seals": seals,
                "starts": self._held.starts,
                "spread": list(spread),
            }
            whole = {name: tensor for name, tensor in tensors.items() if name not in spread}
            checksummed.write(self.path, whole, notes | {"parts": json.dumps(parts)})
            self._remove_parts(but=names)

    def _remove_parts(self, but: list[str]) -> None:
        """Delete parts of former checkpoints, and remains of killed ranks."""
        pattern = re.compile(re.escape(self.path.name) + r"\.\d+\.\d+-of-\d+")
        for path in self.path.absolute().parent.iterdir():
            if pattern.fullmatch(path.name) and path.name not in but:
                path.unlink(missing_ok=True)
            elif path.suffix == ".part" and (left := pattern.match(path.name[1:])):
                remove_leftovers(path.with_name(left[0]), "part")

    def finish(self) -> None:
        """Delete the checkpoint, once all ranks have finished the run."""
        self._decided()
        self._held.gather(torch.tensor(0, device="cpu"))
        if self._held.rank == 0:
            super().finish()
            self._remove_parts(but=[])

    def save(self) -> None:
        """Write the state that was offered last; to be called by all ranks."""
        self._decided()
        super().save()

    # ---- reading -----------------------------------------------------------------------------------------------------

    def _completed(self, tensors: dict[str, Tensor], notes: dict[str, str]) -> dict[str, Tensor]:
        """With the rows of this rank, out of the parts that hold them."""
        if "parts" not in notes:
            problem = "it is of a run in one process, and this one is spread over ranks"
            raise ArgumentError(f"checkpoint: {self.path}: {problem}; {REMEDY}")
        parts = json.loads(notes["parts"])
        self._number = parts["number"]
        pieces: dict[str, list[Tensor]] = {name: [] for name in parts["spread"]}
        bounds = list(zip(parts["starts"][:-1], parts["starts"][1:], strict=True))
        needed = [rank for rank, (first, end) in enumerate(bounds) if first < self._held.end and end > self._held.first]
        for rank in needed or [0]:
            rows = slice(*(max(row - bounds[rank][0], 0) for row in (self._held.first, self._held.end)))
            part = self._part(self.path.with_name(parts["names"][rank]), parts["seals"][rank])
            for name, held in pieces.items():
                held.append(part.load(name)[rows].clone())
        device = self._graph.device
        return tensors | {name: Sharded(torch.cat(held).to(device), self._held) for name, held in pieces.items()}

    def _part(self, path: Path, seal: str) -> checksummed.Contents:
        if not path.exists():
            raise FileFormatError(path, f"this part of the checkpoint {self.path} is missing", REMEDY)
        part = checksummed.contents(path, REMEDY)
        if part.notes.get("checksum") != seal:
            raise FileFormatError(path, f"it is no part of the checkpoint {self.path}", REMEDY)
        return part


RESTARTS = (
    "ranks that torchrun starts again find in its store the addresses of those that were killed, and fail or wait for "
    "them; make the group with tgraph.distributed.init_process_group, not with that of torch.distributed"
)
_PART = "tgraph checkpoint part"
_NONE = "0" * 16  # the seal of a part that was not written

checkpoint.spread_keeper = SpreadKeeper
