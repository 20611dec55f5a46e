"""Dates and times as times of arcs."""

import datetime

import numpy as np
import pandas
import pyarrow
import pytest
import torch

import tgraph as tg
from tgraph.errors import ArgumentError

TEXT = ["1969-12-31T23:59:59", "2020-02-29T12:00:00", "2038-01-19T03:14:08"]
TRUE = [-1_000_000_000, 1_582_977_600_000_000_000, 2_147_483_648_000_000_000]
ARRAY = np.array(TEXT, "datetime64[s]")
AWARE = [datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC) for text in TEXT]
EAST = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
GIVEN = {
    **{unit: ARRAY.astype(f"datetime64[{unit}]") for unit in ("s", "ms", "us", "ns")},
    "list": list(ARRAY),
    "datetime": [each.replace(tzinfo=None) for each in AWARE],
    "aware": [each.astimezone(EAST) for each in AWARE],
    "objects": np.array(AWARE, object),
    "timestamps": [pandas.Timestamp(text) for text in TEXT],
    "series": pandas.Series(ARRAY),
    "series aware": pandas.Series(ARRAY).dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata"),
    "index aware": pandas.DatetimeIndex(ARRAY).tz_localize("UTC").tz_convert("America/New_York"),
    "arrow": pyarrow.array(ARRAY),
    "arrow aware": pyarrow.array(AWARE),
    "arrow chunks": pyarrow.chunked_array([pyarrow.array(ARRAY[:1]), pyarrow.array(ARRAY[1:])]),
    "arrow in pandas": pandas.Series(pandas.array(ARRAY, dtype=pandas.ArrowDtype(pyarrow.timestamp("us")))),
}
WRONG = [np.datetime64("NaT"), "2300-01-01", "0001-01-01"]


def store():
    return tg.dynamic.Store(times=torch.int64, multi="keep")


@pytest.mark.parametrize("kind", GIVEN)
def test_they_are_nanoseconds_in_utc(kind):
    held = store()
    held.insert([0, 1, 2], [1, 2, 3], times=GIVEN[kind])
    assert held.arc_data(held.snapshot())["times"].tolist() == TRUE
    assert held.snapshot(at=AWARE[1]).num_arcs == held.snapshot(since=ARRAY[1]).num_arcs == 2


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("make", [np.asarray, list, pandas.Series, pyarrow.array])
def test_one_that_is_missing_or_out_of_range_is_named_by_its_position(make, value):
    held, values = store(), ARRAY.copy()
    values[1] = np.datetime64(value)
    with pytest.raises(ArgumentError, match=r"times: .* at position 1"):
        held.insert([0, 1, 2], [1, 2, 3], times=make(values))
    assert held.version == held.num_vertices == 0


def test_a_column_that_would_round_or_cut_them_is_named():
    for dtype in (torch.float64, torch.int32):
        with pytest.raises(ArgumentError, match=f"times: .*{dtype}"):
            tg.dynamic.Store(times=dtype).insert([0], [1], times=ARRAY[1:2])


def test_a_table_of_events_is_inserted_as_it_is():
    table = {"src": ["a", "b"], "dst": ["b", "c"], "times": ARRAY[:2]}
    for chunk in (pandas.DataFrame(table), pyarrow.table(table)):
        held = tg.dynamic.Store(times=torch.int64, ids="any")
        held.insert_from([chunk])
        assert held.arc_data(held.snapshot())["times"].tolist() == TRUE[:2]
