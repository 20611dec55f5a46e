"""Remedies in the words of the command line: those of errors name arguments and methods of Python."""

from __future__ import annotations

import re
from collections.abc import Collection

from tgraph.errors import TGraphError

OF_A_COMPONENT = "write a component of it to a file, and take that"

# Words of a remedy in Python, and those for a user of the command. Options by name come after these.
WORDS = {
    **{f"{take} graph.to_undirected()": "read it with --undirected" for take in ("use", "take", "pass")},
    "pass to_undirected() of one": "read both with --directed or --undirected",
    "give the edges directions": "read it with --directed",
    "pass directed=True": "read it with --directed",
    "pass directed= to the reader": "name --directed or --undirected",
    "pass directed=": "name --directed or --undirected",
    "use weighted=False": "leave --weighted out",
    "leave weighted=False": "leave --weighted out",
    ", or give it weights": ", or name them by --weights",
    "(weights=False, or --weights none, where the graph is read)": "(--weights none)",
    "pass weights=False": "take --weights none",
    "weights=False": "--weights none",
    "drop such arcs, or replace their weights": "mend the file, or read it with --weights none",
    "take a component with graph.subgraph": OF_A_COMPONENT,
    "take a component by induced_subgraph(graph, (wcc(graph) == 0).nonzero().flatten())": OF_A_COMPONENT,
    "condensation(graph) has none, find_cycle(graph) gives it": "leave one of its edges out",
    "odd_cycle(graph) gives it": "leave one of its edges out",
    "name the columns with source= and target=": "name two columns source and target, in place of",
    "pass source= and target=, or format=": "name two columns source and target, or take format=",
    "delimiter= sets the separator of columns": "separate columns by commas, semicolons or tabs",
    "raise max_iterations": "raise --max-iterations",
    " or the tolerance": " or --tol",
    "pass weight='name' instead of weights=": "name it by --weights in place of ",
    "graph.to_csr() is the graph in CSR, and graph.decoded() keeps it in graph.caches": (
        "tgraph convert --layout csr writes it without one"
    ),
    ", or write the algorithm with tg.aggregate or as a Relaxation": "",
    "read the file with tgraph.read or tgraph.open in one process": "start the command without torchrun",
    "tgraph.write": "tgraph convert",
    "tgraph.read reads": "tgraph convert reads",
}
ASSIGNED = re.compile(r"\b([a-z_]+)=(?:'([\w-]+)'|\"([\w-]+)\"|([\w.-]+))")


def on_the_command_line(mistake: TGraphError, options: Collection[str]) -> str:
    """The message with options of the command, whose parameters are given, in the place of Python's arguments."""
    message, remedy = str(mistake).removesuffix(mistake.remedy), mistake.remedy
    for words, ours in WORDS.items():
        remedy = remedy.replace(words, ours)
    remedy = ASSIGNED.sub(lambda said: _option(said, options), remedy)
    argument = mistake.argument
    if argument in options and argument is not None and argument != "weights":  # those at fault are of the graph
        message = _dashed(argument) + message.removeprefix(argument)
    return message + remedy


def _option(said: re.Match[str], options: Collection[str]) -> str:
    if said[1] in options:
        return f"{_dashed(said[1])} {said[2] or said[3] or said[4]}"
    return f"{said[0]} of tgraph.read()" if said[1] in ("ids", "skip") else said[0]


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"
