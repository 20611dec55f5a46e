"""What the tests of the compiled `aggregate` share: graphs, data, and subgraphs of every kind."""

import torch

import tgraph as tg

# Dtypes of values and weights that relaxations are compiled for.
PAIRS = [
    (torch.int32, torch.int32),
    (torch.int64, torch.int32),
    (torch.int64, torch.int64),
    (torch.float32, torch.float32),
    (torch.float32, torch.int32),
    (torch.float32, torch.int64),
    (torch.float64, torch.float32),
    (torch.float64, torch.float64),
    (torch.float64, torch.int64),
]


def hub_graph(n=400, m=90000, seed=0, **options):
    """Half of the arcs lead to one vertex and a quarter leave it: rows of several pieces, and of many chunks."""
    random = torch.Generator().manual_seed(seed)
    src, dst = torch.randint(n, (2, m), generator=random).unbind()
    dst[: m // 2] = 3
    src[m // 4 : m // 2] = 3
    return tg.Graph.from_edges(src, dst, torch.rand(m, generator=random), num_vertices=n, **options)


def pull(graph, active, rows=None, width=None):
    selection = tg.neighbor_select(graph.transpose(), rows, width=width)
    return tg.reconstruct(graph, active, rows, selection, "pull")


def push(graph, rows=None, width=None):
    active = graph.everything() if rows is None else graph.select(rows)
    return tg.reconstruct(graph, active, rows, tg.neighbor_select(graph, rows, width=width))


def subgraphs(graph):
    """Whole and in part, with silent vertices, heads of rows, and a row twice."""
    n = graph.num_vertices
    some = torch.arange(n)[::3].contiguous()
    half = graph.select(torch.arange(n) % 2 == 0)
    return [
        pull(graph, graph.everything()),
        pull(graph, half),
        pull(graph, graph.nothing()),
        pull(graph, graph.everything(), some.flip(0)),
        pull(graph, half, some.to(torch.int32), 3),
        pull(graph, graph.everything(), None, 2),
        pull(graph, graph.everything(), torch.cat((some, some))),
        push(graph),
        push(graph, some),
        push(graph, some, 2),
        push(graph, None, 2),
        push(graph, torch.empty(0, dtype=torch.int64)),
        push(graph, some).reverse(),
    ]


def served(sub, data, reduce, edge="copy", weights=None, dtype=None):
    """What the native backend gives, which must not refuse."""
    return received_by("native", sub, data, reduce, edge, weights, dtype)


def agree(backend, sub, *arguments):
    """A backend gives what the portable one gives."""
    found, expected = received_by(backend, sub, *arguments), received_by("portable", sub, *arguments)
    assert found.values.dtype == expected.values.dtype
    assert (found.vertices is None) == (expected.vertices is None)
    assert found.vertices is None or torch.equal(found.vertices, expected.vertices)
    torch.testing.assert_close(found.values, expected.values, equal_nan=True)


def received_by(backend, sub, data, reduce, edge="copy", weights=None, dtype=None):
    sub.backend = backend
    return tg.aggregate(sub, data, reduce, edge=edge, weights=weights, dtype=dtype)
