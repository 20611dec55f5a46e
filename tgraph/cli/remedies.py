"""Remedies in the words of the command line: those of errors name arguments and methods of Python."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tgraph.errors import FileFormatError, NotConvergedError, TGraphError

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
ASSIGNED = re.compile(r"\b([a-z_]+)=(?:'([\w-]+)'|\"([\w-]+)\"|([\w.-]+)|(?=[ :;,.]|$))")
LISTED = "its options are: "


class CommandError(TGraphError):
    """An error in the words of the command line. code : what the command exits with."""

    def __init__(self, message: str, code: int):
        self.code = code
        super().__init__(message)


def exit_code(mistake: BaseException) -> int:
    """3 for data that cannot be taken as it is: a file that is no graph, or a graph that the algorithm is not for; 2
    for a use of the command that cannot be meant."""
    if isinstance(mistake, CommandError):
        return mistake.code
    of_data = isinstance(mistake, FileFormatError | NotConvergedError)
    return 3 if of_data or getattr(mistake, "argument", None) in ("graph", "weights") else 2


def in_words_of(mistake: TGraphError, options: Mapping[str, str]) -> CommandError:
    """The error, with options of the command."""
    if isinstance(mistake, CommandError):
        return mistake
    return CommandError(on_the_command_line(mistake, options), exit_code(mistake))


def on_the_command_line(mistake: TGraphError, options: Mapping[str, str]) -> str:
    """The message with options of the command, given by the arguments of Python in whose place they are."""
    message, remedy = str(mistake).removesuffix(mistake.remedy), mistake.remedy
    for words, ours in WORDS.items():
        remedy = remedy.replace(words, ours)
    remedy = ASSIGNED.sub(lambda said: _option(said, options), remedy)
    if remedy.startswith(LISTED):
        names = remedy.removeprefix(LISTED).split(", ")
        remedy = LISTED + ", ".join(dict.fromkeys(options[name] for name in names if name in options))
    argument = mistake.argument
    if argument in options and argument is not None:
        message = options[argument] + message.removeprefix(argument)
    return message + remedy


def _option(said: re.Match[str], options: Mapping[str, str]) -> str:
    value = said[2] or said[3] or said[4]
    return f"{options[said[1]]}{f' {value}' if value else ''}" if said[1] in options else said[0]
