"""A report has the numbers of networkx, the labels of the graph as text, and says what it left out."""

import re
from html.parser import HTMLParser

import networkx as nx
import pytest
import torch
from page_graphs import HOSTILE, hostile, multigraph, small
from strategies import refused
from streams import streamed

import tgraph as tg
from tgraph.pages import groups, paths, ranking
from tgraph.pages.groups import clustering
from tgraph.pages.report import PARTS, Report
from tgraph.pages.study import Study


class Names(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs

    handle_startendtag = handle_starttag


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def measured(request):
    graph, G = small(request.param)
    return tg.report(graph), G


def test_size_and_degrees(measured):
    values, G = measured[0].values, measured[1]
    assert (values["size"]["vertices"], values["size"]["edges"]) == (len(G), G.number_of_edges())
    assert values["size"]["density"] == pytest.approx(nx.density(G))
    assert values["size"]["isolated"] == nx.number_of_isolates(G)
    assert values["degrees"]["assortativity"] == pytest.approx(nx.degree_pearson_correlation_coefficient(G))
    if G.is_directed():
        assert values["size"]["reciprocity"] == pytest.approx(nx.overall_reciprocity(G))
        assert values["degrees"]["largest in"] == max(dict(G.in_degree).values())
    else:
        assert values["degrees"]["largest"] == max(dict(G.degree).values())


def test_components_and_distances(measured):
    values, G = measured[0].values, measured[1]
    weak = [len(c) for c in (nx.weakly_connected_components if G.is_directed() else nx.connected_components)(G)]
    assert (values["components"]["weak"], values["components"]["largest weak"]) == (len(weak), max(weak))
    if G.is_directed():
        strong = [len(c) for c in nx.strongly_connected_components(G)]
        assert (values["components"]["strong"], values["components"]["largest strong"]) == (len(strong), max(strong))
    found = [d for _, hops in nx.all_pairs_shortest_path_length(G) for d in hops.values() if d]
    distances = values["distances"]
    assert distances["mean"] == pytest.approx(sum(found) / len(found)) and distances["longest"] == max(found)
    assert distances["reached"] == len(found) and distances["counts"][1:] == [
        found.count(d) for d in range(1, max(found) + 1)
    ]


def test_cohesion(measured):
    values, G = measured[0].values, measured[1]
    plain = nx.Graph(G)
    assert values["clustering"]["triangles"] == sum(nx.triangles(plain).values()) // 3
    assert values["clustering"]["transitivity"] == pytest.approx(nx.transitivity(plain))
    assert values["clustering"]["average"] == pytest.approx(nx.average_clustering(G))
    core = nx.core_number(G)
    assert values["cores"]["largest"] == max(core.values())
    assert values["cores"]["counts"] == [list(core.values()).count(k) for k in range(max(core.values()) + 1)]
    assert -0.5 <= values["communities"]["modularity"] <= 1


def test_top_vertices(measured):
    values, G = measured[0].values["top"], measured[1]

    def first(scores, name):
        said, value = values[name][0]
        label = int(re.fullmatch(r"<bdi>(\d+)</bdi>", said)[1])
        assert value == pytest.approx(max(scores.values()), rel=1e-4) and scores[label] == pytest.approx(
            value, rel=1e-4
        )

    first(nx.pagerank(G), "PageRank")
    first(nx.betweenness_centrality(G), "Betweenness")
    first({v: c / (len(G) - 1) for v, c in nx.harmonic_centrality(G).items()}, "Harmonic centrality")
    first(dict(G.in_degree if G.is_directed() else G.degree), "In-degree" if G.is_directed() else "Degree")


def test_samples_say_their_error(monkeypatch):
    """Estimates from a part of the vertices are within a few standard errors of what all give."""
    graph = tg.generators.barabasi_albert(300, 3)
    exact, whole = paths.distances(Study(graph)), ranking.ranking(Study(graph)).values
    monkeypatch.setattr(paths, "EXACT", 0)
    monkeypatch.setattr(ranking, "EXACT", 0)
    sampled = paths.distances(Study(graph))
    assert "32 of 300 vertices" in sampled.notes[0] and "±" in sampled.facts[0].note
    assert abs(sampled.values["mean"] - exact.values["mean"]) < 5 * sampled.values["error"]
    section = ranking.ranking(Study(graph))
    table = next(table for table in section.tables if table.caption == "Betweenness")
    assert "32 of 300 vertices" in section.notes[1] and table.heading[-1] == "±"
    known = dict(whole["Betweenness"])
    for name, value, error in table.rows[:3]:
        assert name not in known or abs(value - known[name]) < 10 * error


def test_clustering_by_wedges(monkeypatch):
    graph = tg.generators.watts_strogatz(500, 8, 0.1)
    exact = clustering(Study(graph)).values["transitivity"]
    monkeypatch.setattr(groups, "WEDGES", 20_000)
    found = groups._sampled(Study(graph))
    assert abs(found.values["transitivity"] - exact) < 5 * found.values["error"] < 0.05
    assert "20,000 random paths of two edges" in found.notes[0]


def test_labels_are_text():
    report = tg.report(hostile(), title=HOSTILE[0])
    seen = Names(report.html)
    assert seen.elements.count("script") == 1 and "img" not in seen.elements
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name == "style"]
    assert not [value for name, value in seen.attributes if name == "href" and not value.startswith("#")]
    assert len(report.html) < 400_000 and "(1,000,000 characters)" in report.html and "\\u202egnp.exe" in report.html
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066\u2067]", report.html)
    assert report.html.encode("utf-8") and "49" not in report.values["top"]


@pytest.mark.parametrize(
    "graph",
    [
        tg.Graph.from_edges([], [], num_vertices=0),
        tg.Graph.from_edges([], [], num_vertices=1),
        tg.Graph.from_edges([], [], num_vertices=5, directed=False),
        pytest.param(tg.Graph.from_edges([0], [0]), marks=pytest.mark.thorough),
        tg.Graph.from_edges([0], [1]),
        pytest.param(tg.generators.complete(3), marks=pytest.mark.thorough),
        multigraph(),
        tg.generators.rmat(6).to_format("elias_fano"),
    ],
    ids=["empty", "one", "isolated", "loop", "arc", "triangle", "multi", "layout"],
)
def test_graphs_of_any_kind(graph):
    report = tg.report(graph)
    assert {"script", "main", "h1"} <= set(Names(report.html).elements) and "nan" not in report.html
    names = [section.title for section in report.sections]
    assert names == ([*PARTS, "How this was made"] if graph.num_vertices else ["Size", "How this was made"])


def test_parallel_edges_weights_and_huge_ids():
    values = tg.report(multigraph()).values
    assert (values["size"]["self-loops"], values["size"]["parallel edges"], values["size"]["isolated"]) == (1, 1, 1)
    assert str(2**62 + 3) in tg.report(multigraph()).html


def test_a_streamed_graph_is_reported_in_part():
    graph = tg.generators.rmat(9, directed=True)
    report = tg.report(streamed(graph, slack=1 << 20))
    names = [section.name for section in report.sections]
    assert names == ["size", "degrees", "components", "distances", "top", "making"]
    left = {row[0]: row[1] for row in report.sections[-1].tables[1].rows}
    assert {"Drawing", "Clustering", "Cores", "Communities", "Layouts"} == set(left)
    assert all("in memory" in why for why in left.values())
    whole = tg.report(graph).values
    assert report.values["components"]["weak"] == whole["components"]["weak"]
    assert report.values["degrees"]["largest out"] == whole["degrees"]["largest out"]
    assert "4 of 512 vertices" in report.html and "In-degrees are left out" in report.html


class Spread:
    """A layout whose arcs are spread over processes."""

    is_distributed, is_main_rank, streams, name = True, True, False, "distributed"


def test_what_cannot_be_reported(monkeypatch):
    graph = tg.generators.path(3)
    held = tg.Graph.of_storage(graph.storage)
    held.__dict__.update(layout=Spread(), storage=Spread())
    refused(r"spread over ranks.*in one process", tg.report, held)
    refused(r"expected a tgraph\.Graph, got int", tg.report, 3)


def test_the_object():
    report = tg.report(tg.generators.path(5), title="A path")
    assert isinstance(report, tg.Report) and isinstance(report, Report) and "<iframe srcdoc=" in report._repr_html_()
    assert "A path" in repr(report) and "10 sections" not in repr(report)
    assert torch.equal(Study(tg.generators.path(9), 1).drawn(4), Study(tg.generators.path(9), 1).drawn(4))
    again = tg.report(tg.generators.path(5), title="A path")
    assert again.values["top"] == report.values["top"]
