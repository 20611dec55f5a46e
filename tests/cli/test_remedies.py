"""Messages of the library, in the words of the command line."""

import re
from pathlib import Path

import pytest

import tgraph as tg
from tgraph.cli.options import OPTIONS
from tgraph.cli.reading import OPTION_OF
from tgraph.cli.remedies import WORDS, on_the_command_line
from tgraph.errors import ArgumentError

ROOT = Path(__file__).parents[2]
SOURCES = "".join(
    path.read_text()
    for folder in ("tgraph", "algorithms")
    for path in (ROOT / folder).rglob("*.py")
    if path.name != "remedies.py"
)
WORDS_OF_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in OPTIONS} | OPTION_OF
SOURCES = re.sub(r'"\n\s+f?"', "", SOURCES)  # literals of several lines


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("graph: directed; use graph.to_undirected()", "graph: directed; read it with --undirected"),
        ("weighted: no weights; leave weighted=False to count hops", "--weighted: no weights; leave --weighted out to"),
        ("max_depth: -1 is below 0", "--max-depth: -1 is below 0"),
        ("weights: nan; drop such arcs, or replace their weights", "--weights: nan; mend the file, or read it with"),
        ("delta: 3 is too much; try method='exact'", "--delta: 3 is too much; try --method exact"),
        ("x.el, line 1: 'a'; skip=1 ignores it", "x.el, line 1: 'a'; --skip 1 ignores it"),
        ('x.el, line 1: 1.0; read labels: ids="text"', "x.el, line 1: 1.0; read labels: --ids text"),
        (
            "x.csv: none; name the columns with source= and target=: 'a'",
            "x.csv: none; name the columns with --source-column and --target-column: 'a'",
        ),
        (
            "ids: no option of npz; its options are: path, directed",
            "--ids: no option of npz; its options are: FILE, --directed",
        ),
        ("no end; raise max_iterations or the tolerance", "no end; raise --max-iterations or --tol"),
        (
            "graph: a cycle; condensation(graph) has none, find_cycle(graph) gives it",
            "graph: a cycle; leave one of its",
        ),
        ("what: no option; take part='exact'", "what: no option; take part='exact'"),
    ],
)
def test_remedies_are_options(message, told):
    assert on_the_command_line(ArgumentError(message), WORDS_OF_OPTIONS).startswith(told)


@pytest.mark.parametrize("words", WORDS)
def test_what_is_translated_is_said_somewhere(words):
    assert words in SOURCES


def test_no_message_of_a_directed_graph_names_a_method():
    graph = tg.Graph.from_edges([0], [1])
    with pytest.raises(tg.errors.ArgumentError) as caught:
        tg.algorithms.bridges(graph)
    assert caught.value.argument == "graph" and caught.value.remedy == "use graph.to_undirected()"
    assert on_the_command_line(caught.value, {}).endswith("undirected graphs; read it with --undirected")
