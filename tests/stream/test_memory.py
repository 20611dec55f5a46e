"""Amounts of memory as people write them."""

import pytest

from tgraph.errors import ArgumentError
from tgraph.stream.memory import PAGE, aligned, page_aligned, parse_memory

AMOUNTS = {
    "500MB": 500_000_000, "4GB": 4_000_000_000, "1.5 GiB": 3 * 2**29, "2KiB": 2048, "3kB": 3000, "12": 12, "12B": 12,
    "7 mb": 7_000_000, "1T": 10**12, "2MiB": 2**21, "1g": 10**9,
}  # fmt: skip


@pytest.mark.parametrize("text", AMOUNTS)
def test_amounts(text):
    assert parse_memory(text) == AMOUNTS[text]


def test_bytes_are_taken_as_they_are():
    assert parse_memory(4096) == 4096


@pytest.mark.parametrize("wrong", ["", "lots", "-5MB", "5XB", "MB", "1e9", "5iB", "0", 0, -1, True, 2.5, None, "0.1"])
def test_other_amounts_are_refused(wrong):
    with pytest.raises(ArgumentError, match="budget: "):
        parse_memory(wrong, "budget")


@pytest.mark.parametrize("nbytes", [0, 1, 4095, 4096, 4097])
def test_buffers_begin_at_a_page(nbytes):
    buffer = page_aligned(nbytes)
    assert len(buffer) == nbytes and buffer.data_ptr() % PAGE == 0
    assert aligned(nbytes) in range(nbytes, nbytes + PAGE) and aligned(nbytes) % PAGE == 0
