"""Every algorithm on graphs that are spread over two ranks: it gives what it gives in one process, or an error that
names the remedy, and which of the two does not depend on the graph. docs/distributed.md lists those that run:
python tests/distributed/test_algorithms.py writes the list anew."""

import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
import torch
from ranks import nothing_is_wrong, on_ranks
from test_smoke import ALGORITHMS, N, arguments
from torch import Tensor

import tgraph as tg
from tgraph.distributed import Sharded, spread
from tgraph.errors import ArgumentError, TGraphError

PAGE = Path(__file__).parents[2] / "docs" / "distributed.md"
BEGIN, END = "<!-- algorithms on ranks, by tests/distributed/test_algorithms.py -->\n", "<!-- end -->\n"

# Further calls, by what they are called in the list.
CALLS = {
    "bfs": {"several sources": {"source": [0, 3]}},
    "pagerank": {
        "several columns": {"personalization": torch.arange(1.0, 2 * N + 1).view(N, 2)},
        "gauss-seidel": {"method": "gauss-seidel"},
    },
    "sssp": {"several sources": {"source": [0, 3]}},
    "betweenness": {"sources": {"sources": [0, 3]}, "k": {"k": 3, "seed": 1}},
    "closeness": {"vertices": {"vertices": [0, 3]}},
    "harmonic": {"sources": {"sources": [0, 3]}},
    "greedy_color": {
        "smallest_last": {"strategy": "smallest_last"},
        "random_sequential": {"strategy": "random_sequential"},
    },
    "degree_centrality": {"in": {"direction": "in"}},
    "average_neighbor_degree": {"in": {"source": "in"}},
}
OF_PAIRS = ["adamic_adar", "common_neighbors", "cosine", "jaccard", "overlap"]
OF_PAIRS += ["preferential_attachment", "resource_allocation", "sorensen"]
CALLS |= {name: {"pairs": {"pairs": [[0, 1], [4, 2], [2, 2]]}} for name in OF_PAIRS}


FURTHER = (1, 2, 5)  # the graphs of calls with options
FEW = (1, 4)  # the graphs of the short test, of calls without


def graphs() -> list[tg.Graph]:
    """Graphs with self-loops, parallel edges and isolated vertices, directed or not, with weights or without, two with
    columns; and those that some algorithms need: connected, bipartite, without cycles."""
    source = torch.Generator().manual_seed(3)
    ends = torch.randint(0, N - 1, (2, 40), generator=source)
    weights, made = torch.randint(1, 9, (40,), generator=source).double() / 2, tg.Graph.from_edges
    path = torch.arange(N - 1), torch.arange(1, N)
    loops = torch.cat((ends, ends[:1].expand(2, -1)), 1)
    return [
        made(*loops, num_vertices=N),
        made(*loops, torch.cat((weights, weights)), num_vertices=N, directed=False, columns={"toll": range(80)}),
        made(*ends, weights, num_vertices=N),
        made(*ends, num_vertices=N, directed=False, multi="first", self_loops="drop"),
        made(
            *ends.sort(0).values,
            weights,
            num_vertices=N,
            multi="first",
            self_loops="drop",
            columns={"toll": range(40)},
        ),
        made(*path, weights[: N - 1], num_vertices=N, directed=False),
        made(torch.cat((path[0], path[1])), torch.cat((path[1], path[0])), torch.ones(2 * N - 2), num_vertices=N),
    ]


def calls(name: str) -> dict[str, dict]:
    """Options of an algorithm by the name of the call: none, each switch turned the other way, and further ones."""
    parameters = inspect.signature(ALGORITHMS[name]).parameters.values()
    switches = {
        each.name if not each.default else f"{each.name}=False": {each.name: not each.default}
        for each in parameters
        if isinstance(each.default, bool)
    }
    return {"": {}} | switches | CALLS.get(name, {})


def tensors(result) -> list:
    """The tensors and numbers of a result, in which data and graphs that are spread over ranks are whole."""
    if isinstance(result, tg.Graph):
        rows = torch.arange(result.num_vertices)
        return [result.num_vertices, *tensors(list(result.storage.rows(rows)))]
    if isinstance(result, (list, tuple)) or inspect.isgenerator(result):
        return [part for each in result for part in tensors(each)]
    return [result.full_tensor() if isinstance(result, Sharded) else result]


def called(name: str, graph: tg.Graph, options: dict):
    try:
        return tensors(ALGORITHMS[name](graph, **arguments(ALGORITHMS[name], graph) | options))
    except TGraphError as error:
        return error


def outcome(name: str, options: dict, whole: tg.Graph, parts: tg.Graph) -> str:
    """ "runs", "refused", or what is wrong; "" where the graph is none for the algorithm."""
    try:
        expected, found = called(name, whole, options), called(name, parts, options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(expected, TGraphError):
        return "" if isinstance(found, TGraphError) else f"{found}, and {expected} in one process"
    if isinstance(found, TGraphError):
        refused = isinstance(found, ArgumentError) and "spread over ranks" in str(found)
        return "refused" if refused else f"{type(found).__name__}: {found}"
    try:
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6, equal_nan=True)
    except AssertionError as error:
        return f"{found} is not {expected}: {error}"
    exact = all(
        not isinstance(a, Tensor) or a.is_floating_point() or torch.equal(a, b)
        for a, b in zip(found, expected, strict=True)
    )
    return "runs" if exact else f"{found} is not {expected}"


Outcomes = dict[str, dict[str, list[str]]]


def outcomes(few: bool = False) -> Outcomes:
    """By algorithm and call, what comes of it on each graph, "" where it is not tried."""
    found: Outcomes = {name: {call: [] for call in calls(name)} for name in ALGORITHMS}
    for place, graph in enumerate(graphs()):
        parts = spread(graph)
        whole = graph if parts.order is None else graph.permute(parts.order)
        for name in ALGORITHMS:
            for call, options in calls(name).items():
                is_tried = (place in FEW and not call) if few else (not call or place in FURTHER)
                found[name][call].append(outcome(name, options, whole, parts) if is_tried else "")
    return found


def by_direction(found: Outcomes) -> Iterator[tuple[str, str, str, set[str]]]:
    """(algorithm, call, "directed graphs" or "undirected graphs", what comes of it on these)."""
    directed = [graph.directed for graph in graphs()]
    for name, by_call in found.items():
        for call, ends in by_call.items():
            for kind in (True, False):
                held = {end for end, is_directed in zip(ends, directed, strict=True) if end and is_directed == kind}
                yield name, call, "directed graphs" if kind else "undirected graphs", held


def wrong(found: Outcomes) -> list[str]:
    """Calls that neither run nor are refused, and those that run on some graphs only."""
    return [
        f"{name} {call} of {kind}: {ends}"
        for name, call, kind, ends in by_direction(found)
        if ends - {"runs", "refused"} or len(ends) > 1
    ]


def never(found: Outcomes) -> list[str]:
    """Algorithms for which no graph will do."""
    return [name for name, by_call in found.items() for call, ends in by_call.items() if not any(ends) and not call]


def listing(found: Outcomes) -> str:
    """The part of docs/distributed.md between the markers."""
    runs, refused = ({name: [] for name in found} for _ in range(2))  # type: dict[str, list[str]]
    for name, call, kind, ends in by_direction(found):
        for held, end in ((runs, "runs"), (refused, "refused")):
            if end in ends:
                held[name].append((call and f"`{call}`") or kind)
    lines = [f"{sum(map(bool, runs.values()))} of the {len(found)} algorithms run on ranks:"]
    said = []
    for name in sorted(filter(runs.get, runs)):
        left_out = dict.fromkeys(each for each in refused[name] if each not in runs[name])
        plain = [each for each in left_out if each.endswith("graphs")]
        if len(plain) > 1 or (plain and not any(each.endswith("graphs") for each in runs[name])):
            said.append(f"`{name}` (with {', '.join(dict.fromkeys(runs[name]))})")
        else:
            said.append(f"`{name}`" + (f" (not {', '.join(left_out)})" if left_out else ""))
    lines += [", ".join(said) + ".", "", "The others raise an error that names the remedy:"]
    lines += [", ".join(f"`{name}`" for name in sorted(found) if not runs[name]) + "."]
    wrapped = (textwrap.fill(line, 120, break_long_words=False, break_on_hyphens=False) for line in lines)
    return BEGIN + "\n".join(wrapped) + "\n" + END


def few_outcomes() -> Outcomes:
    return outcomes(few=True)


def test_algorithms_on_two_ranks() -> None:
    first, second = on_ranks(2, few_outcomes, timeout=240)
    assert wrong(first) == [] and first == second
    said = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].partition("The others raise")
    for name, by_call in first.items():
        assert "runs" not in by_call[""] or f"`{name}`" in said[0], name
        assert set(by_call[""]) <= {"runs", ""} or f"`{name}` (" in said[0] or f"`{name}`" in said[2], name


def differing_labels() -> list[str]:
    """Label propagation of graphs whose vertices swap labels, weigh nothing, and are alone; sweep after sweep."""
    random, wrong = torch.Generator().manual_seed(1), []
    for directed in (True, False):
        ends, weights = torch.randint(0, 60, (2, 150), generator=random), torch.randint(0, 3, (150,), generator=random)
        graph = tg.Graph.from_edges(*ends, weights.double(), num_vertices=64, directed=directed)
        parts = spread(graph)
        one, other = (tg.algorithms.label_propagation(g, seed=5, weighted=True) for g in (graph, parts))
        if not torch.equal(one, other.full_tensor()):
            wrong.append(f"{directed}: {other.full_tensor()} is not {one}")
    return wrong


def test_labels_of_larger_graphs() -> None:
    nothing_is_wrong(2, differing_labels)


@pytest.mark.thorough
def test_more_calls_and_the_list_of_those_that_run() -> None:
    first, second = on_ranks(2, outcomes, timeout=600)
    assert wrong(first) == [] and never(first) == [] and first == second
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    assert listing(first) == BEGIN + rest.partition(END)[0] + END, f"run python {Path(__file__).name}"


if __name__ == "__main__":
    first, second = on_ranks(2, outcomes, timeout=600)
    print(*wrong(first), sep="\n")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + listing(first) + rest.partition(END)[2], encoding="utf-8")
