"""Remedies in the words of the command line: messages of errors name what is to be written in Python."""

from __future__ import annotations

import re
from collections.abc import Collection

# What a message says in Python, and what a user of the command does. Options and arguments by name come after these.
PYTHON = {
    r"(use|pass|take) graph\.to_undirected\(\)": "read it with --undirected",
    r"(use|pass|let) weighted=False": "leave --weighted out",
    r"leave weighted=False": "leave --weighted out",
    r", or give it weights": ", or name them by --weights",
    r"drop such arcs, or replace their weights": "mend the file, or read it with --weights none",
    r"pass to_undirected\(\) of one": "read both with --directed or --undirected",
    r"take a component (with|by) .*": "write a component of it to a file, and take that",
    r"graph\.to_csr\(\) is the graph in CSR.*": "tgraph convert --layout csr writes it without one",
    r"pass directed=True": "read it with --directed",
    r"pass directed=( to the reader)?": "name --directed or --undirected",
    r"(pass )?weights=False(, or --weights none, where the graph is read)?": "--weights none",
    r"name the columns with source= and target=": "name two columns source and target, in place of",
    r'pass source= and target=, or format="edgelist" without a header': (
        "name two columns source and target, or without a header take --format edgelist"
    ),
    r"skip=(?=\S+ ignores)": "in Python tgraph.read() with skip=",
    r'ids="text" reads': 'in Python tgraph.read(ids="text") reads',
    r'read (both as )?labels( instead)?: ids="text"': 'read labels in Python, by tgraph.read(ids="text")',
    r"delimiter= names what separates columns": "separate columns by commas, semicolons or tabs",
    r"give the edges directions": "read it with --directed",
    r"; odd_cycle\(graph\) gives it": "; leave one of its edges out",
    r"condensation\(graph\) has none, find_cycle\(graph\) gives it": "leave one of its edges out",
    r"the tolerance": "tol",
    r"pass weight='name' instead of weights=(\S+)": r"name it by --weights in place of \1",
    r"format=\{": "--format {",
    r"use tg\.run\(fuse=False\)": "this is a fault of tgraph",
    r"read the file with tgraph\.read or tgraph\.open in one process(, or write the algorithm .*)?": (
        "start the command without torchrun"
    ),
    r"tgraph\.write": "tgraph convert",
    r"tgraph\.read(?!\()": "tgraph convert",
}
ASSIGNED = re.compile(r"\b([a-z_]+)=(?:'([\w-]+)'|([\w.-]+))")
PLAIN = re.compile(r"(?<=raise )max_iterations\b|(?<= or )tol\b")
ARGUMENT = re.compile(r"^(?!weights:)([a-z_]+):")  # the weights at fault are those of the graph, not of the option


def on_the_command_line(message: str, options: Collection[str]) -> str:
    """The message with options of the command, whose parameters are given, in the place of Python's arguments."""
    for pattern, remedy in PYTHON.items():
        message = re.sub(pattern, remedy, message)
    message = ASSIGNED.sub(lambda said: _option(said, options), message)
    message = PLAIN.sub(lambda said: _dashed(said[0]) if said[0] in options else said[0], message)
    return ARGUMENT.sub(lambda said: f"{_dashed(said[1])}:" if said[1] in options else said[0], message)


def _option(said: re.Match[str], options: Collection[str]) -> str:
    name, value = said[1], said[2] or said[3]
    return f"{_dashed(name)} {value}" if name in options else said[0]


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"
