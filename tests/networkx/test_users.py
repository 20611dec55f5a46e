"""The examples for users of networkx give the same with and without the backend, on their own graphs and on real ones.

Real graphs are in ../shared/data next to the repository; without them these tests are skipped. networkx takes the first
rows of them in a second or two.
"""

import gzip
import json
import runpy
from itertools import islice
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from equality import same

from tgraph.networkx import history, interface

FOLDER = Path(__file__).parents[2] / "examples" / "networkx"
DATA = Path(__file__).parents[2].parent / "shared" / "data"

# What has to have run here.
FUNCTIONS = {
    "social_network.py": "average_clustering betweenness_centrality closeness_centrality core_number degree_centrality "
    "eigenvector_centrality pagerank",
    "communities.py": "conductance forceatlas2_layout louvain_communities modularity partition_quality",
    "road_routes.py": "shortest_path shortest_simple_paths",
    "link_prediction.py": "adamic_adar_index jaccard_coefficient preferential_attachment resource_allocation_index",
    "dependencies.py": "ancestors dag_longest_path is_directed_acyclic_graph strongly_connected_components",
    "citations.ipynb": "hits pagerank",
}
MISSING = "tgraph is not installed as a backend of networkx"
pytestmark = pytest.mark.skipif("tgraph" not in nx.utils.backends.backends, reason=MISSING)


def run(example: str, file: Path | None) -> object:
    """What the example finds; of the notebook, the table of papers and those near one."""
    if example.endswith(".py"):
        found = runpy.run_path(str(FOLDER / example))["main"](*([str(file)] if file else []))
    else:
        cells = json.loads((FOLDER / example).read_text())["cells"]
        space: dict[str, object] = {}
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), space)
        found = {"papers": space["papers"].to_dict(), "near": space["near"].to_dict()}
    return found.to_dict() if isinstance(found, pd.DataFrame) else found


def compare(example: str, file: Path | None) -> None:
    """Run the example with and without the backend. Communities depend on chance, which is another one: they are as
    good."""
    expected = run(example, file)
    history.forget()
    with nx.config(backend_priority=["tgraph"], warnings_to_ignore={"cache"}):
        found = run(example, file)
    if example == "communities.py":
        network = nx.read_edgelist(file, data=False) if file else nx.les_miserables_graph()
        best = nx.community.modularity(network, expected)
        assert nx.community.modularity(network, found) == pytest.approx(best, abs=0.01)
    else:
        same(found, expected)
    assert set(FUNCTIONS[example].split()) <= history.calls().keys()


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Pictures go there. Calls run here however small their graphs are."""
    monkeypatch.setattr(interface.BackendInterface, "should_run", lambda *call: True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")


def test_every_example_is_listed_here():
    assert {path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".ipynb")} == set(FUNCTIONS)


FIRST, *OTHERS = FUNCTIONS


@pytest.mark.parametrize("example", [FIRST, *(pytest.param(each, marks=pytest.mark.thorough) for each in OTHERS)])
def test_without_a_file(example, tmp_path):
    compare(example, None)
    if example != "citations.ipynb":
        assert [path.read_bytes()[:4] for path in tmp_path.iterdir()] == [b"\x89PNG"]


def rows(name: str, count: int) -> list[str]:
    """The first rows of a file, two fields of each."""
    with gzip.open(DATA / name, "rt") as file:
        lines = (line.replace(",", " ").split()[:2] for line in file if line[0].isdigit())
        return [" ".join(line) for line in islice(lines, count)]


def roads(folder: Path) -> Path:
    """Those of a square of New York, as DIMACS has them."""
    with gzip.open(DATA / "USA-road-d.NY" / "USA-road-d.NY.co.gz", "rt") as file:
        places = {v: (x, y) for kind, v, x, y in (line.split() for line in file if line[0] == "v")}
    x, y = -73_985_000, 40_750_000
    inside = {v for v, (a, b) in places.items() if abs(int(a) - x) < 20_000 and abs(int(b) - y) < 20_000}
    with gzip.open(DATA / "USA-road-d.NY" / "USA-road-d.NY.gr.gz", "rt") as file:
        arcs = [line for line in file if line[0] == "a" and inside.issuperset(line.split()[1:3])]
    graph = nx.Graph(line.split()[1:3] for line in arcs)
    joined = max(nx.connected_components(graph), key=len)
    (folder / "streets.gr").write_text("".join(line for line in arcs if line.split()[1] in joined))
    (folder / "streets.co").write_text("".join(f"v {v} {' '.join(places[v])}\n" for v in joined))
    return folder / "streets.gr"


REAL = {
    "social_network.py": ("ca-GrQc/ca-GrQc.txt.gz", 1000),
    "communities.py": ("ego-Facebook/facebook_combined.txt.gz", 1000),
    "link_prediction.py": ("soc-Epinions1/soc-Epinions1.txt.gz", 20_000),
    "dependencies.py": ("cit-HepTh/arxiv-cit-hep-th.jlg", 3000),
    "citations.ipynb": ("cit-HepTh/arxiv-cit-hep-th.jlg", 10_000),
}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no real graphs in {DATA}")
@pytest.mark.parametrize("example", FUNCTIONS)
def test_real_graphs(example, monkeypatch, tmp_path):
    if example == "road_routes.py":
        file = roads(tmp_path)
    else:
        file = tmp_path / "graph.txt"
        file.write_text("\n".join(rows(*REAL[example])))
    monkeypatch.setenv("CITATIONS", str(file))
    compare(example, file)
