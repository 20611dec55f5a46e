"""Dates and times as numbers: nanoseconds since 1970, in UTC."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from tgraph.errors import ArgumentError


def nanoseconds(values: Any, name: str) -> Any:
    """Dates and times of numpy, pandas, Arrow or the standard library as nanoseconds since 1970, int64 [k]; other
    values unchanged. Times with a time zone are converted to UTC, others taken as UTC.

    Raises ArgumentError, with the position, for one that is missing, or that int64 does not hold in nanoseconds.
    """
    moments = _moments(values)
    if moments is None:
        return values
    if (missing := np.isnat(moments)).any():
        raise ArgumentError(f"{name}: there is no time at position {int(missing.argmax())}; fill it, or drop the arc")
    found = moments.astype("datetime64[ns]")
    if (wrong := found.astype(moments.dtype) != moments).any():  # numpy wraps
        place = int(wrong.argmax())
        raise ArgumentError(
            f"{name}: {moments[place]} at position {place} is no whole number of nanoseconds in int64, from 1677 to "
            "2262; pass numbers, of a unit of your own"
        )
    return found.astype(np.int64)


def moment(value: Any, name: str) -> Any:
    """A date or time as nanoseconds since 1970; another value as it is."""
    return int(nanoseconds([value], name)[0]) if isinstance(value, (datetime.date, np.datetime64)) else value


def _moments(values: Any) -> Any:
    """Dates and times as an array of datetime64 [k], None for other values."""
    if isinstance(values, np.ndarray) and values.dtype == object and values.ndim == 1:
        values = values.tolist()
    if isinstance(values, (list, tuple)):
        first = values[0] if len(values) else None
        if not isinstance(first, (datetime.date, np.datetime64)):
            return None
        values = np.asarray(values) if isinstance(first, np.datetime64) else _of_arrow(values)
    elif hasattr(values, "to_pylist"):  # of Arrow
        values = np.asarray(values)
    elif getattr(getattr(values, "dtype", None), "kind", None) == "M" and hasattr(values, "to_numpy"):  # of pandas
        kind = (
            values.dtype if isinstance(values.dtype, np.dtype) else getattr(values.dtype, "pyarrow_dtype", values.dtype)
        )
        values = values.to_numpy(kind if isinstance(kind, np.dtype) else f"datetime64[{getattr(kind, 'unit', 'ns')}]")
    return values if isinstance(values, np.ndarray) and values.dtype.kind == "M" else None


def _of_arrow(values: Any) -> Any:
    import pyarrow

    try:
        return np.asarray(pyarrow.array(values))
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        return None
