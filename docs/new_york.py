"""The picture of README: roads of New York, coloured by how far each junction is from Times Square.

Usage: python docs/new_york.py USA-road-d.NY.gr.gz. This graph, and the places of its junctions in the .co.gz beside it,
are those of the 9th DIMACS Implementation Challenge, made from the TIGER/Line files of the U.S. Census Bureau.
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd
import torch
from PIL import Image
from torch import Tensor

import tgraph as tg

PICTURE = Path(__file__).parent / "_static" / "new-york.webp"
TIMES_SQUARE = torch.tensor([-73.9857, 40.7580], dtype=torch.float64)  # degrees east and north
SHOWN = torch.tensor([0.34, 0.17])  # degrees to each side
EAST = 0.7575  # cos(40.758 degrees): the length of a degree to the east, in degrees to the north


def places(file: str, graph: tg.Graph) -> Tensor:
    """Degrees east and north of each junction, float64 [n, 2]. Lines are "v", the id, and millionths of degrees."""
    rows = pd.read_csv(file, sep=" ", skiprows=7, header=None).to_numpy()
    at = torch.empty(graph.num_vertices, 2, dtype=torch.float64)
    at[graph.index(torch.tensor(rows[:, 1].astype(int)))] = torch.tensor(rows[:, 2:].astype(float)) / 1e6
    return at


def main(file: str, picture: Path = PICTURE) -> None:
    graph = tg.read(file)
    at = places(file.replace(".gr", ".co"), graph) - TIMES_SQUARE
    distance = tg.algorithms.sssp(graph, int(at.norm(dim=1).argmin())).double()
    shown = (at.abs() < SHOWN).all(1)
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder, "large.png")
        positions = at[shown] * torch.tensor([EAST, 1])
        tg.draw(graph.subgraph(shown), large, color=-distance[shown], positions=positions, inches=12)
        with Image.open(large) as image:
            image.convert("RGB").resize((900, 900 * image.height // image.width)).save(picture, quality=58, method=6)


if __name__ == "__main__":
    main(*sys.argv[1:])
