"""The tables of the kernels of a cubin, from the sections of its ELF file: parameters, registers, threads, shared
memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

# Attributes of the sections .nv.info, as the tools of CUDA name them.
MAX_THREADS, KPARAM_INFO, CBANK_PARAM_SIZE, REGCOUNT = 0x05, 0x17, 0x19, 0x2F
SIZED = 0x04  # the format of attributes with a size and as many bytes; others have 2 bytes


@dataclass(frozen=True)
class Entry:
    """A kernel.

    parameters : (offset, size) of each in bytes, in their order.
    parameter_bytes : of all of them.
    registers : of each thread.
    max_threads : of a block, where the source bounds them.
    shared : bytes of shared memory of each block, with what the architecture reserves.
    """

    parameters: tuple[tuple[int, int], ...]
    parameter_bytes: int
    registers: int
    max_threads: int | None
    shared: int


def entries(code: bytes) -> dict[str, Entry]:
    """{symbol: its table} for the kernels of a cubin."""
    sections = dict(_sections(code))
    symbols = _symbols(code, sections)
    registers = {
        symbols[number]: count
        for attribute, payload in _attributes(sections[".nv.info"][1])
        if attribute == REGCOUNT
        for number, count in [struct.unpack("<II", payload)]
    }
    prefix = ".nv.info."
    return {
        name.removeprefix(prefix): _entry(name.removeprefix(prefix), body, registers, sections)
        for name, (_, body) in sections.items()
        if name.startswith(prefix)
    }


def _entry(symbol: str, body: bytes, registers: dict[str, int], sections: dict) -> Entry:
    parameters, size, threads = [], 0, None
    for attribute, payload in _attributes(body):
        if attribute == KPARAM_INFO:
            _, ordinal, offset, word = struct.unpack("<IHHI", payload)
            parameters.append((ordinal, offset, word >> 18))
        elif attribute == CBANK_PARAM_SIZE:
            (size,) = struct.unpack("<H", payload)
        elif attribute == MAX_THREADS:
            x, y, z = struct.unpack("<III", payload)
            threads = x * y * z
    shared = sections.get(f".nv.shared.{symbol}", (0, b""))[0]
    ordered = tuple((offset, length) for _, offset, length in sorted(parameters))
    return Entry(ordered, size, registers[symbol], threads, shared)


def _attributes(body: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(body):
        form, attribute, size = struct.unpack_from("<BBH", body, place)
        place += 4
        if form == SIZED:
            yield attribute, body[place : place + size]
            place += size
        else:
            yield attribute, struct.pack("<H", size)


def _sections(code: bytes) -> Iterator[tuple[str, tuple[int, bytes]]]:
    """(name, (size, content)) of each; those that only have a size in memory have no content."""
    (start,) = struct.unpack_from("<Q", code, 0x28)
    each, count, names = struct.unpack_from("<HHH", code, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", code, start + i * each) for i in range(count)]
    for name, kind, _, _, place, size in headers:
        first = headers[names][4] + name
        text = code[first : code.index(b"\0", first)].decode()
        yield text, (size, b"" if kind == 8 else code[place : place + size])


def _symbols(code: bytes, sections: dict) -> list[str]:
    table, names = sections[".symtab"][1], sections[".strtab"][1]
    places = (struct.unpack_from("<I", table, i)[0] for i in range(0, len(table), 24))
    return [names[place : names.index(b"\0", place)].decode() for place in places]
