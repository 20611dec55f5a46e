"""What the tests of the compiled `aggregate` share: graphs, data, and subgraphs of every kind."""

import torch

import tgraph as tg


def on_threads(function):
    """What the function gives with one, two, three and five threads for torch and the kernels."""
    before, results = torch.get_num_threads(), []
    try:
        for count in (1, 2, 3, 5):
            torch.set_num_threads(count)
            results.append(function())
    finally:
        torch.set_num_threads(before)
    return results


def random_data(shape, dtype, seed=0):
    random = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return (torch.rand(shape, generator=random) + 0.5).to(dtype)
    if dtype == torch.bool:
        return torch.randint(2, shape, generator=random).bool()
    return torch.randint(0 if dtype == torch.uint8 else -3, 5, shape, generator=random).to(dtype)


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
    sub.backend = "native"
    return tg.aggregate(sub, data, reduce, edge=edge, weights=weights, dtype=dtype)
