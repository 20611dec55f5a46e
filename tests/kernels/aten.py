"""Which ATen operators a device of torch has, and which of them a piece of code uses.

MPS, CUDA and ROCm (whose build is that of CUDA): from `native_functions.yaml`, the list from which torch is built. It
lies in every torch wheel, in torchgen, and so is always that of the torch at hand. An operator is there where it has a
kernel under the device's key, is composed of others, or delegates to one that is there.

XPU: its kernels are registered by intel/torch-xpu-ops. The list below holds the operators used by the portable backend
that its `yaml/native/native_functions.yaml` gives a key XPU, as of 2026-06-30, for torch 2.13. An operator that is not
in it has to be looked up there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

KEYS = {"mps": "MPS", "rocm": "CUDA"}
COMPOSITE = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd")

# What MPS has by the list, and yet not for every dtype.
MPS_LACKS = {
    "float64": "Metal has no float64 (as of 2026-11, always so)",
    "scatter_reduce of int64 by prod": "no 64-bit compare-and-swap in Metal (pytorch#184028, 2026-05)",
}

# fmt: off
XPU = {
    "_local_scalar_dense", "_unique2", "add.out", "any.all_out", "bincount", "cat.out", "clamp.out", "cumsum.out",
    "div.out", "empty.memory_format", "eq.Scalar_out", "eq.Tensor_out", "equal", "fill_.Tensor", "floor_divide",
    "ge.Scalar_out", "gt.Scalar_out", "gt.Tensor_out", "index.Tensor_out", "index_select", "isnan", "le.Scalar_out",
    "lt.Scalar_out", "lt.Tensor_out", "masked_fill_.Scalar", "max", "min", "mul.out", "ne.Scalar_out",
    "ne.Tensor_out", "nonzero", "pow.Tensor_Scalar_out", "repeat_interleave.Tensor", "searchsorted.Scalar",
    "searchsorted.Tensor", "sign.out", "sort.values_stable", "sub.out", "view", "where.self",
}
# fmt: on


def operators() -> dict[str, dict[str, set[str] | str | None]]:
    """{name.overload: its dispatch keys and the operator that it delegates to}."""
    torchgen = pytest.importorskip("torchgen")
    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    if not path.exists():
        pytest.skip("this torch brings no native_functions.yaml")
    return dict(_entries(path.read_text()))


def _entries(text: str) -> Iterator[tuple[str, dict[str, set[str] | str | None]]]:
    for entry in re.split(r"(?m)^- func: ", text)[1:]:
        delegate = re.search(r"(?m)^  structured_delegate: (\S+)", entry)
        dispatch = re.search(r"(?m)^  dispatch:.*\n((?:    .*\n|\s*#.*\n)*)", entry)
        keys = re.findall(r"(?m)^    ([\w, ]+):", dispatch[1]) if dispatch else ()
        found = {key.strip() for several in keys for key in several.split(",")}
        if "ufunc_inner_loop" in entry:  # from which the kernels of both are generated
            found |= {"CPU", "CUDA"}
        base = {"keys": found or set(COMPOSITE[-1:]), "delegate": delegate[1] if delegate else None}
        yield entry[: entry.index("(")], base
        for generated in re.findall(r"(?m)^  autogen: (.+)", entry):  # made of the functional one
            for name in generated.split(","):
                yield name.strip(), base


@functools.cache
def _table() -> dict[str, dict[str, set[str] | str | None]]:
    return operators()


def lacks(device: str, operator: str) -> bool:
    """True where the device has no kernel for an operator such as "index_add.out"."""
    if operator.partition(".")[0] == "detach" or "::" in operator:
        return False
    entry = _table()[operator]
    keys = entry["keys"]
    assert isinstance(keys, set)
    if keys & set(COMPOSITE):
        return False
    delegate = entry["delegate"]
    if isinstance(delegate, str):
        return lacks(device, delegate)
    if device == "xpu":
        return "XPU" not in keys and operator not in XPU
    return KEYS[device] not in keys


class Recorder(TorchDispatchMode):
    """What runs within: the operators by name, those with a float64 result, and the scatters by reduction and dtype."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: set[str] = set()
        self.wide: set[str] = set()
        self.scatters: set[tuple[str, torch.dtype]] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.removeprefix("aten::") + (
            f".{func._schema.overload_name}" if func._schema.overload_name else ""
        )
        self.operators.add(name)
        for tensor in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float64:
                self.wide.add(name)
        if name.startswith("scatter_reduce"):
            self.scatters.add((args[4], args[0].dtype))
        return result
