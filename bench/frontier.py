"""Does the cost of an iteration follow its frontier? BFS over grids: four times the vertices, twice the iterations.

With O(n) work in every iteration the larger grid would cost eight times the smaller one; with work that follows the
frontier four times at most, and nearer two, since most of a small iteration is the fixed cost of its operators.

    python bench/frontier.py [side] [repetitions]
"""

from __future__ import annotations

import statistics
import sys
import time

import tgraph as tg


def main(side: int = 500, repetitions: int = 9) -> None:
    """Time BFS from a corner over side x side and 2 side x 2 side, in turn, and print the ratio of the medians."""
    small, large = tg.generators.grid2d(side, side), tg.generators.grid2d(2 * side, 2 * side)
    seconds: dict[int, list[float]] = {side: [], 2 * side: []}
    for _ in range(repetitions):
        for graph, width in ((small, side), (large, 2 * side)):
            start = time.perf_counter()
            depth = tg.algorithms.bfs(graph, 0)
            seconds[width].append(time.perf_counter() - start)
            assert int(depth.max()) == 2 * (width - 1), "the far corner of a grid is 2 (width - 1) hops away"
    print("| grid | iterations | median ms | fastest | slowest |\n|---|---|---|---|---|")
    for width, times in seconds.items():
        row = [statistics.median(times) * 1e3, min(times) * 1e3, max(times) * 1e3]
        print(f"| {width} x {width} | {2 * width - 1} | {' | '.join(f'{value:.1f}' for value in row)} |")
    print(f"\nratio: {statistics.median(seconds[2 * side]) / statistics.median(seconds[side]):.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
