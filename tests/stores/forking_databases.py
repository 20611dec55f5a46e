"""Databases that are written and read in processes of their own, which damaged files may end: `python
forking_databases.py` forks one for each line "function URL" that it reads, and never opens a database itself, whose
threads a fork would not have. It answers with a line of JSON: [exit status, what the function returned]."""

import json
import os
import sys

import torch

from tgraph import stores
from tgraph.errors import FileFormatError
from tgraph.stores.blocks import read


def values():
    """Numbers that no database makes shorter."""
    return torch.randint(2**62, (200_000,), generator=torch.Generator().manual_seed(3))


def write(url):
    store = stores.open(url)
    store.put("features/x", values())
    if isinstance(store, stores.RocksDbStore):
        store._writer().flush()
        store.close()


def read_again(url):
    """Whether what is read is what was put; the text of the error where it is refused."""
    try:
        return torch.equal(read(stores.open(url), "features/x")[1], values())
    except FileFormatError as fault:
        return str(fault)


def forked(function, url):
    """(exit status, what it returned, None where it did not end) of a function in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, json.dumps(function(url)).encode())
        os._exit(0)
    os.close(writing)
    said = b"".join(iter(lambda: os.read(reading, 1 << 16), b""))
    os.close(reading)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), json.loads(said) if said else None


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in sys.stdin:
        name, place = line.split(maxsplit=1)
        print(json.dumps(forked({"write": write, "read_again": read_again}[name], place.strip())), flush=True)
