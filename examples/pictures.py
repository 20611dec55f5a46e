"""Twenty graphs as a paper would print them: each is made here, drawn by one call, and shown beside the others.

Usage: python examples/pictures.py [NAME ...] draws all of them, or those named, and a sheet of what it drew.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from PIL import Image

import tgraph as tg

Drawn = tuple[tg.Graph, dict[str, Any]]  # a graph, and what is asked of tg.draw
WIDE = 480  # pixels of a picture in the sheet
KEY = tg.random.key(7)


def karate() -> Drawn:
    graph = tg.generators.famous("karate_club")
    meaning = {"color": "community", "size": "PageRank"}
    options = {"color": tg.algorithms.louvain(graph), "size": tg.algorithms.pagerank(graph), "legend": meaning}
    return graph, {**options, "title": "Zachary's karate club"}


def families() -> Drawn:
    """Marriages among Florentine families in the 15th century (Padgett and Ansell, 1993)."""
    married = {
        "Medici": "Acciaiuoli Barbadori Ridolfi Tornabuoni Albizzi Salviati",
        "Strozzi": "Castellani Peruzzi Bischeri Ridolfi",
        "Guadagni": "Albizzi Tornabuoni Bischeri Lamberteschi",
        "Castellani": "Peruzzi Barbadori",
        "Peruzzi": "Bischeri",
        "Albizzi": "Ginori",
        "Ridolfi": "Tornabuoni",
        "Salviati": "Pazzi",
    }
    pairs = [(one, other) for one, others in married.items() for other in others.split()]
    names = sorted({name for pair in pairs for name in pair})
    src, dst = ([names.index(name) for name in ends] for ends in zip(*pairs, strict=True))
    graph = tg.Graph.from_edges(src, dst, vertices=names, directed=False)
    title = "Marriages among families of Florence in the 15th century: the Medici are between all others"
    return graph, {"size": tg.algorithms.betweenness(graph), "title": title, "legend": {"size": "betweenness"}}


def tree() -> Drawn:
    return tg.generators.balanced_tree(3, 4), {}


def random_tree() -> Drawn:
    graph = tg.generators.random_tree(300, seed=2)
    return graph, {"color": tg.algorithms.bfs(graph, 0).double(), "legend": {"color": "hops from vertex 0"}}


def grid() -> Drawn:
    graph = tg.generators.grid2d(15, 15)
    return graph, {"color": tg.algorithms.bfs(graph, 0).double(), "legend": {"color": "hops from a corner"}}


def roads() -> Drawn:
    """Streets of a town that is 20 km wide, and how far each crossing is from the middle one."""
    graph, places = tg.generators.random_geometric(1500, 0.04, seed=1)
    length = 20 * (places[graph.to_edge_index()[0]] - places[graph.to_edge_index()[1]]).norm(dim=1)
    src, dst = graph.to_edge_index()
    streets = tg.Graph.from_edges(src, dst, length, num_vertices=1500)
    middle = int((places - 0.5).norm(dim=1).argmin())
    east, north = 24.94 + (places[:, 0] - 0.5) * 0.36, 60.17 + (places[:, 1] - 0.5) * 0.18
    options = {"positions": {"longitude": east, "latitude": north}, "color": tg.algorithms.sssp(streets, middle)}
    return graph, {**options, "legend": {"color": "distance [km]"}, "labels": False}


def citations() -> Drawn:
    """Each paper cites up to three earlier ones, those that are cited more often."""
    whole = tg.generators.barabasi_albert(40, 2, seed=3)
    src, dst = whole.to_edge_index()
    graph = tg.Graph.from_edges(src[src > dst], dst[src > dst], num_vertices=40)
    return graph, {"size": graph.in_degree, "legend": {"size": "citations"}, "title": "Who cites whom"}


def layers() -> Drawn:
    """Tasks, each of which waits for some of the layer before."""
    at = torch.arange(36)
    before = (at[6:] // 6 - 1) * 6
    src = torch.cat([before + tg.random.below(KEY, at[6:] + 100 * i, 6) for i in range(2)])
    graph = tg.Graph.from_edges(src, at[6:].repeat(2), multi="first")
    return graph, {"positions": tg.drawing.layered(graph), "title": "Tasks and what they wait for"}


def bipartite() -> Drawn:
    people, clubs = 12, 5
    of = torch.arange(people * 2)
    src, dst = of % people, people + tg.random.below(KEY, of, clubs)
    names = [f"person {i + 1}" for i in range(people)] + [f"club {letter}" for letter in "ABCDE"]
    graph = tg.Graph.from_edges(src, dst, vertices=names, directed=False, multi="first")
    return graph, {"color": ["person"] * people + ["club"] * clubs, "legend": {"color": ""}}


def ego() -> Drawn:
    """A person, the friends, and the circles that these form."""
    sizes = [22, 14, 9, 12]
    chances = [[0.35 if i == j else 0.01 for j in range(4)] for i in range(4)]
    friends, n = tg.generators.stochastic_block_model(sizes, chances, seed=5), sum(sizes)
    src, dst = friends.to_edge_index()
    everyone = torch.arange(n)
    graph = tg.Graph.from_edges(
        torch.cat((src, everyone)), torch.cat((dst, torch.full((n,), n))), directed=False, multi="first"
    )
    circle = [f"circle {i + 1}" for i, size in enumerate(sizes) for _ in range(size)]
    return graph, {"color": [*circle, "ego"], "size": graph.out_degree, "legend": {"color": "", "size": "friends"}}


def communities() -> Drawn:
    graph, _ = tg.generators.lfr(600, mu=0.15, min_community=40)
    return graph, {"color": tg.algorithms.louvain(graph), "size": graph.out_degree}


def hundred_thousand() -> Drawn:
    graph = tg.generators.rmat(13, seed=1)
    return graph, {
        "size": graph.out_degree,
        "legend": {"size": "edges of a vertex"},
        "title": "A hundred thousand edges",
    }


def components() -> Drawn:
    graph = tg.generators.erdos_renyi(300, 0.0034, seed=3)
    return graph, {"title": "A random graph of about as many edges as half the vertices"}


def multigraph() -> Drawn:
    src, dst = [0, 0, 0, 1, 2, 3, 3, 4, 1, 1], [0, 1, 1, 2, 0, 4, 3, 3, 0, 2]
    return tg.Graph.from_edges(src, dst, vertices=["a", "b", "c", "d", "e"]), {"title": "Loops and parallel edges"}


def chain() -> Drawn:
    """The chances of the weather of the next day."""
    names = ["sun", "cloud", "rain", "storm"]
    src, dst = [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3], [0, 1, 0, 1, 2, 0, 1, 2, 3, 2, 3]
    return tg.Graph.from_edges(src, dst, vertices=names), {}


def petersen() -> Drawn:
    return tg.generators.famous("petersen"), {"labels": False}


def cube() -> Drawn:
    graph = tg.generators.hypercube(5)
    return graph, {"color": tg.algorithms.bfs(graph, 0).double(), "labels": False}


def small_world() -> Drawn:
    graph = tg.generators.watts_strogatz(60, 4, 0.08, seed=2)
    return graph, {"positions": tg.drawing.circular(graph), "color": tg.algorithms.closeness(graph)}


def hubs() -> Drawn:
    graph = tg.generators.barabasi_albert(250, 1, seed=4)
    return graph, {"size": graph.out_degree, "labels": True}


def hyperbolic() -> Drawn:
    graph = tg.generators.hyperbolic(800, 6, seed=1)[0]
    return graph, {"color": graph.out_degree.double().log2(), "legend": {"color": "edges (log2)"}, "labels": False}


ALL: dict[str, Callable[[], Drawn]] = {
    made.__name__: made
    for made in (
        karate, families, tree, random_tree, grid, roads, citations, layers, bipartite, ego, communities,
        hundred_thousand, components, multigraph, chain, petersen, cube, small_world, hubs, hyperbolic,
    )
}  # fmt: skip


def sheet(files: list[Path], path: str, columns: int = 4) -> None:
    """The pictures side by side, in rows."""
    images = [Image.open(file).convert("RGB") for file in files]
    for image in images:
        image.thumbnail((WIDE, WIDE))
    rows = [images[i : i + columns] for i in range(0, len(images), columns)]
    heights = [max(image.height for image in row) for row in rows]
    whole = Image.new("RGB", (WIDE * min(columns, len(images)), sum(heights)), "white")
    for row, top in zip(rows, [sum(heights[:i]) for i in range(len(rows))], strict=True):
        for column, image in enumerate(row):
            whole.paste(image, (WIDE * column, top))
    whole.save(path)


def main() -> None:
    files = []
    for name in sys.argv[1:] or ALL:
        graph, options = ALL[name]()
        files.append(Path(f"pictures.{name}.png"))
        tg.draw(graph, files[-1], inches=5, **options)
        print(f"{files[-1]}: {graph}")
    sheet(files, "pictures.png")
    print("picture: pictures.png")


if __name__ == "__main__":
    main()
