"""The cost of an iteration beside its frontier: BFS over grids, four times the vertices, twice the iterations.

With O(n) work in every iteration the larger grid would cost eight times the smaller one; with work that follows the
frontier four times at most, and nearer two, since most of a small iteration is the fixed cost of its operators.

    python -m bench.frontier [--side 500] [--repeat 9]
"""

from __future__ import annotations

from functools import partial
from statistics import median

import tgraph as tg
from bench.command import parsed
from bench.measure import in_turns
from bench.results import table


def main() -> None:
    """Time BFS from a corner over side x side and 2 side x 2 side, in turn, and print the ratio of the medians."""
    options = parsed(__doc__, side=500, repeat=9)
    calls = {}
    for side in (options.side, 2 * options.side):
        calls[side] = partial(tg.algorithms.bfs, tg.generators.grid2d(side, side), 0)
        assert int(calls[side]().max()) == 2 * (side - 1), "the far corner of a grid is 2 (side - 1) hops away"
    taken = in_turns(calls, options.repeat, warm=0)
    rows = [
        [f"{side} x {side}", str(2 * side - 1), *(f"{1e3 * of(times):.1f}" for of in (median, min, max))]
        for side, times in taken.items()
    ]
    print(table(["grid", "iterations", "median ms", "fastest", "slowest"], rows))
    small, large = map(median, taken.values())
    print(f"\nratio: {large / small:.2f}")


if __name__ == "__main__":
    main()
