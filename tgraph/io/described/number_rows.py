"""Lines of two whole numbers, and perhaps a third number, as arrays: by pyarrow's CSV reader."""

from __future__ import annotations

import numpy as np
import torch

from tgraph.io.columns import EXACT
from tgraph.io.text.columns import joined

_FEWEST = 1 << 12  # characters: fewer are not worth pyarrow's import
_UNLIKE = "xX%#*\"'"  # of comments, text, and numbers that are none here


def number_rows(text: str) -> tuple[np.ndarray, np.ndarray, torch.Tensor | None] | None:
    """(the first numbers, the second, int64 [k]; the third, int64 or float64 [k], or None where lines have two); None
    for anything else, for few lines, and where numbers are infinite or would be rounded."""
    if len(text) < _FEWEST or not text.isascii() or any(sign in text for sign in _UNLIKE):
        return None
    import pyarrow as pa
    from pyarrow import csv

    text = text.replace("\t", " ")
    for old, new in (("  ", " "), (" \n", "\n"), ("\n ", "\n")):
        while old in text:
            text = text.replace(old, new)
    text = text.strip()
    count = text.partition("\n")[0].count(" ") + 1
    if count not in (2, 3):
        return None
    for kind in (pa.int64(), pa.float64()):
        types = dict(zip("012", (pa.int64(), pa.int64(), kind), strict=True))
        try:
            table = csv.read_csv(
                pa.BufferReader(text.encode()),
                csv.ReadOptions(column_names=list(types)[:count]),
                csv.ParseOptions(delimiter=" ", quote_char=False),
                csv.ConvertOptions(column_types=types, null_values=[]),
            )
        except pa.ArrowInvalid:
            continue
        src, dst, *others = map(joined, table.columns)
        if kind == pa.float64() and not (np.abs(others[0]) < EXACT).all():
            return None
        return src, dst, torch.from_numpy(others[0]) if others else None
    return None
