"""Graph: it holds the edges or CSR that it is built from; derived data agree with networkx and plain Python."""

import gc
import pickle
import weakref

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import FLOATS, INTEGERS, arcs, edge_lists, graphs, random_graph, refused, refused_naming, twin

import tgraph as tg
from tgraph.errors import ArgumentError, UnknownVertexError


def stored(n, edges, weights, directed):
    """The arcs that a graph of these edges holds, in the order in which it holds them."""
    found = []
    for (u, v), weight in zip(edges, weights, strict=True):
        found.append((u, v, weight))
        if not directed and u != v:
            found.append((v, u, weight))
    return sorted(found, key=lambda arc: arc[:2])  # stable: parallel arcs stay in the order given


# ---- building -------------------------------------------------------------------------------------------------------


@given(edge_lists(), st.booleans(), st.sampled_from(["tensor", "int32", "numpy", "list"]))
def test_from_edges_holds_what_it_was_given(case, directed, container):
    n, edges = case
    make = {
        "tensor": lambda x: torch.tensor(x, dtype=torch.int64),
        "int32": lambda x: torch.tensor(x, dtype=torch.int32),
        "numpy": lambda x: np.array(x, dtype=np.uint32),
        "list": list,
    }[container]
    weights = list(range(len(edges)))
    src, dst = make([u for u, _ in edges]), make([v for _, v in edges])
    graph = tg.Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    assert arcs(graph) == stored(n, edges, weights, directed)
    assert graph.num_vertices == n and graph.directed == directed and graph.validate() is graph
    assert graph.offset.dtype == torch.int64 and graph.neighbors.dtype == torch.int32
    assert graph.num_edges == len(edges)
    assert graph.num_self_loops == sum(u == v for u, v in edges)
    assert tg.Graph.from_edges(src, dst, num_vertices=n, directed=directed).weights is None
    inferred = tg.Graph.from_edges(src, dst, directed=directed)
    assert inferred.num_vertices == max((max(edge) for edge in edges), default=-1) + 1


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_weights_keep_their_dtype(dtype):
    weights = torch.tensor([3, 1, 2]).to(dtype)
    graph = tg.Graph.from_edges([2, 0, 1], [0, 1, 2], weights)
    assert graph.weights.dtype == dtype and graph.weights.tolist() == [1, 2, 3]
    assert graph.transpose().weights.tolist() == [3, 1, 2]
    assert graph.weight_range == (1, 3)


@given(edge_lists(), st.booleans(), st.sampled_from(["first", "sum", "min", "max"]), st.data())
def test_parallel_edges_are_merged(case, directed, multi, data):
    n, edges = case
    weights = data.draw(st.lists(st.integers(-5, 9), min_size=len(edges), max_size=len(edges)))
    combine = {"first": lambda x: x[0], "sum": sum, "min": min, "max": max}[multi]
    together = {}
    for u, v, weight in stored(n, edges, weights, directed):
        together.setdefault((u, v), []).append(weight)
    src, dst = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).unbind(1)
    graph = tg.Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed, multi=multi)
    assert arcs(graph) == [(u, v, combine(x)) for (u, v), x in sorted(together.items())]
    graph.validate()
    bare = tg.Graph.from_edges(src, dst, num_vertices=n, directed=directed, multi=multi)
    assert torch.equal(bare.neighbors, graph.neighbors) and torch.equal(bare.offset, graph.offset)


def test_parallel_edges_as_an_error():
    with pytest.raises(ArgumentError, match=r"multi.*\(0, 1\).*'first'"):
        tg.Graph.from_edges([0, 1, 0], [1, 2, 1], multi="error")
    assert tg.Graph.from_edges([0, 1], [1, 2], multi="error").num_arcs == 2
    with pytest.raises(ArgumentError, match="multi"):
        tg.Graph.from_edges([0, 1], [1, 0], multi="error", directed=False)


@given(edge_lists(), st.booleans())
def test_self_loops_are_dropped(case, directed):
    n, edges = case
    weights = list(range(len(edges)))
    src, dst = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).unbind(1)
    dropped = tg.Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed, self_loops="drop")
    expected = [arc for arc in stored(n, edges, weights, directed) if arc[0] != arc[1]]
    assert arcs(dropped) == expected and dropped.num_vertices == n
    kept = tg.Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    without = kept.without_self_loops()
    assert arcs(without) == expected and without.directed == directed
    assert (without is kept) == (not kept.num_self_loops)


@given(st.lists(st.tuples(*[st.integers(-50, 50) | st.integers(-(2**62), 2**62)] * 2), max_size=15), st.booleans())
def test_arbitrary_numbers_are_compacted(edges, directed):
    src, dst = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).unbind(1)
    graph = tg.Graph.from_edges(src, dst, ids="compact", directed=directed)
    names = sorted({x for edge in edges for x in edge})
    assert graph.num_vertices == len(names)
    assert graph.ids(torch.arange(len(names))).tolist() == names
    found = [(names[u], names[v]) for u, v, _ in arcs(graph)]
    assert found == [arc[:2] for arc in stored(len(names), edges, [1] * len(edges), directed)]
    assert (graph.vertices is None) == (names == list(range(len(names))))


@given(graphs(dtypes=(None, torch.int64)), st.randoms(use_true_random=False))
def test_from_csr_sorts_rows_and_copies_nothing_that_fits(graph, random):
    same = tg.Graph.from_csr(graph.offset, graph.neighbors, graph.weights, directed=graph.directed)
    assert same.offset.data_ptr() == graph.offset.data_ptr() and same.neighbors.data_ptr() == graph.neighbors.data_ptr()
    if graph.directed:
        order = list(range(graph.num_arcs))
        random.shuffle(order)
        order.sort(key=lambda position: arcs(graph)[position][0])
        weights = None if graph.weights is None else graph.weights[order]
        given = {"far": graph.neighbors[order]}
        shuffled = tg.Graph.from_csr(graph.offset.int(), graph.neighbors[order].long(), weights, columns=given)
        assert torch.equal(shuffled.arc_columns["far"], graph.neighbors)
        assert sorted(arcs(shuffled)) == sorted(arcs(graph)) and torch.equal(shuffled.neighbors, graph.neighbors)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"src": [0, -1]}, ("src", "-1", "position 1")),
        ({"src": [0, 9], "num_vertices": 3}, ("src", "9", "position 1", "num_vertices")),
        ({"dst": [1, 2, 3]}, ("src and dst", "2", "3")),
        ({"src": [0.5, 1.0]}, ("src", "float64", "int64")),
        ({"src": [[0, 1]]}, ("src", "[1, 2]", "flatten")),
        ({"src": ["a", "b"]}, ("src",)),
        ({"src": np.array([0, 2**63 + 1], dtype=np.uint64)}, ("src", str(2**63 + 1), "int64")),
        ({"weights": [1.0]}, ("weights", "[2]", "[1]")),
        ({"weights": [True, False]}, ("weights", "bool")),
        ({"weights": torch.ones(2, dtype=torch.complex64)}, ("weights", "complex64")),
        ({"num_vertices": -1}, ("num_vertices", "-1")),
        ({"multi": "most"}, ("multi", "'most'", "'keep'")),
        ({"self_loops": "tie"}, ("self_loops", "'tie'", "'drop'")),
        ({"ids": "guess"}, ("ids", "'guess'", "'compact'")),
        ({"ids": "compact", "num_vertices": 5}, ("ids='compact'", "num_vertices")),
        ({"vertices": ["a", "b"]}, ("2",)),
        ({"vertices": ["a", "b", "a"]}, ("'a'", "twice")),
        ({"vertices": ["a", "b", "c", "d"], "num_vertices": 3}, ("vertices", "3", "4")),
        ({"weights": torch.ones(2, device="meta")}, ("weights", "device", "meta")),
    ],
)
def test_from_edges_names_what_is_wrong(arguments, words):
    with pytest.raises(ArgumentError) as caught:
        tg.Graph.from_edges(**{"src": [0, 1], "dst": [1, 2], **arguments})
    for word in words:
        assert word in str(caught.value).replace("[1]: ", "position 1: "), caught.value


@pytest.mark.parametrize(
    ("offset", "neighbors", "options", "words"),
    [
        ([0, 1, 2], [1, 2], {}, ("neighbors", "2", "position 1")),
        ([0, 1, 2], [1, -1], {}, ("neighbors", "-1", "position 1")),
        ([0, 1, 2], [1, 2**32], {}, ("neighbors", str(2**32), "position 1")),
        ([0, 1, 2], [1, -(2**32)], {}, ("neighbors", str(-(2**32)), "position 1")),
        ([0, 2, 1, 2], [1, 2], {}, ("offset", "decrease", "position 1")),
        ([1, 2], [0], {}, ("offset",)),
        ([1, 1, 2], [0, 1], {}, ("offset", "0", "1")),
        ([0, 1, 3], [1, 0], {}, ("offset", "2", "3")),
        ([], [], {}, ("offset",)),
        ([0, 1, 1], [1], {"directed": False}, ("directed=False", "reverse")),
        ([0, 1, 2], [1, 0], {"directed": False, "weights": [1.0, 2.0]}, ("directed=False", "equal weight")),
        ([0, 1, 2], [1, 0], {"weights": [1.0]}, ("weights", "[2]", "[1]")),
        ([0, 1, 2], [1, 0], {"columns": {"x": [1]}}, ("columns['x']", "2 rows")),
        ([0, 1, 2], [1, 0], {"vertices": ["a"]}, ("vertices", "2", "1")),
        ([0, 1, 2], [1, 0], {"vertices": [7, 7]}, ("7", "twice")),
    ],
)
def test_from_csr_names_what_is_wrong(offset, neighbors, options, words):
    refused_naming(words, tg.Graph.from_csr, offset, neighbors, **options)


def test_the_constructor_checks_what_costs_nothing():
    offset, neighbors = torch.tensor([0, 1, 2]), torch.tensor([1, 0], dtype=torch.int32)
    for arguments, word in [
        ((offset.int(), neighbors), "offset"),
        ((offset[None], neighbors), "offset"),
        ((offset, neighbors.float()), "neighbors"),
        ((offset, neighbors[None]), "neighbors"),
        ((offset, neighbors[:1]), "offset"),
        ((offset, neighbors, torch.ones(3)), "weights"),
        ((offset, neighbors.to("meta")), "device"),
        ((offset, neighbors, None, ["a"]), "vertices"),
    ]:
        with pytest.raises(ArgumentError, match=word):
            tg.Graph(*arguments)
    with pytest.raises(ArgumentError, match="not ascending"):
        tg.Graph(torch.tensor([0, 2, 2]), torch.tensor([1, 0])).validate()


def test_a_graph_is_immutable():
    graph = random_graph(4, 6)
    with pytest.raises(AttributeError, match=r"immutable.*'weights'"):
        graph.weights = torch.ones(6)


# ---- what is derived ------------------------------------------------------------------------------------------------


@given(graphs(dtypes=(None, torch.int64)))
def test_degrees_and_counts_equal_networkx(graph):
    G = twin(graph)
    n = graph.num_vertices
    assert graph.out_degree.tolist() == [G.out_degree(v) for v in range(n)]
    assert graph.in_degree.tolist() == [G.in_degree(v) for v in range(n)]
    graph.transpose()
    graph.drop_caches("in_degree")
    assert graph.in_degree.tolist() == [G.in_degree(v) for v in range(n)]
    assert graph.num_arcs == G.number_of_edges() and graph.num_self_loops == nx.number_of_selfloops(G)
    undirected = (graph.num_arcs - graph.num_self_loops) // 2 + graph.num_self_loops
    assert graph.num_edges == (graph.num_arcs if graph.directed else undirected)


@given(graphs(dtypes=(None, torch.int64)))
def test_the_transpose_reverses_every_arc(graph):
    reverse = graph.transpose()
    expected = sorted((v, u, weight) for u, v, weight in arcs(graph))
    assert sorted(arcs(reverse)) == expected
    assert sorted(arcs(reverse.transpose())) == sorted(arcs(graph))
    symmetric = expected == sorted(arcs(graph))
    assert (reverse is graph) == (not graph.directed or symmetric) == graph.is_symmetric
    assert reverse is graph or reverse.transpose() is graph
    order = graph.transpose_permutation
    assert sorted(order.tolist()) == list(range(graph.num_arcs))
    position = torch.arange(graph.num_arcs)
    ends = {i: arc[:2] for i, arc in enumerate(arcs(graph))}
    for (v, u, _), original in zip(arcs(reverse), position[order].tolist(), strict=True):
        assert ends[original] == (u, v)


def test_the_transpose_is_stable_among_parallel_arcs():
    graph = tg.Graph.from_edges([1, 0, 0], [0, 2, 2], [5, 7, 6])
    assert [weight for _, _, weight in arcs(graph.transpose())] == [5, 7, 6]
    assert graph.transpose_permutation.tolist() == [2, 0, 1]


def test_the_transpose_carries_gradients():
    weights = torch.tensor([1.0, 2, 3], requires_grad=True)
    graph = tg.Graph(torch.tensor([0, 2, 3, 3]), torch.tensor([1, 2, 2]), weights)
    for _ in range(2):
        weights.grad = None
        (graph.transpose().weights * torch.tensor([1.0, 10, 100])).sum().backward()
        assert weights.grad.tolist() == [1, 10, 100]
    assert not graph._cache.values["transpose"].weights.requires_grad


def test_caches_can_be_listed_and_dropped():
    graph = random_graph(6, 20)
    assert graph.caches == {}
    degree, reverse = graph.out_degree, graph.transpose()
    assert graph.out_degree is degree and graph.transpose() is reverse
    assert graph.caches == {"out_degree": 48, "transpose": reverse.nbytes}
    with pytest.raises(ArgumentError, match=r"'in_degree' is not cached.*out_degree"):
        graph.drop_caches("in_degree")
    graph.drop_caches("out_degree")
    assert set(graph.caches) == {"transpose"}
    graph.drop_caches()
    assert graph.caches == {} and torch.equal(graph.out_degree, degree)


def test_weight_range():
    assert random_graph(3, 4).weight_range == (1, 1)
    assert tg.Graph.from_edges([], [], []).weight_range == (1, 1)
    assert tg.Graph.from_edges([0, 1], [1, 0], [2.5, -1]).weight_range == (-1, 2.5)
    smallest, largest = tg.Graph.from_edges([0, 1], [1, 0], [2.5, torch.nan]).weight_range
    assert smallest != smallest and largest != largest


@given(graphs(dtypes=(None, torch.int64)), st.sampled_from(["first", "sum", "min", "max", "keep"]))
def test_to_undirected(graph, multi):
    found = graph.to_undirected(multi).validate()
    assert not found.directed and found.num_vertices == graph.num_vertices
    if not graph.directed and len({arc[:2] for arc in arcs(graph)}) == graph.num_arcs:
        assert found is graph
    edges, weights = [arc[:2] for arc in arcs(graph)], [arc[2] for arc in arcs(graph)]
    both_ways = stored(graph.num_vertices, edges, weights, False) if graph.directed else arcs(graph)
    together = {}
    for u, v, weight in both_ways:
        together.setdefault((u, v), []).append(weight)
    if multi == "keep":
        assert [arc[:2] for arc in arcs(found)] == [pair for pair, x in sorted(together.items()) for _ in x]
    elif graph.weights is not None:
        combine = {"first": lambda x: x[0], "sum": sum, "min": min, "max": max}[multi]
        assert arcs(found) == [(u, v, combine(x)) for (u, v), x in sorted(together.items())]
    else:
        assert [arc[:2] for arc in arcs(found)] == sorted(together)


@given(graphs(dtypes=(None, torch.int64)), st.data())
def test_subgraph_equals_networkx(graph, data):
    n = graph.num_vertices
    chosen = data.draw(st.lists(st.integers(0, n - 1), unique=True)) if n else []
    found = graph.subgraph(chosen)
    expected = [(chosen.index(u), chosen.index(v), w) for u, v, w in arcs(graph) if u in chosen and v in chosen]
    assert sorted(arcs(found)) == sorted(expected)
    assert found.num_vertices == len(chosen) and found.directed == graph.directed and found.validate() is found
    assert found.ids(torch.arange(len(chosen))).tolist() == chosen
    mask = torch.tensor([v in chosen for v in range(n)], dtype=torch.bool)
    assert sorted(arcs(graph.subgraph(mask))) == sorted(arcs(graph.subgraph(sorted(chosen))))


def test_subgraph_keeps_labels_and_rejects_what_stands_twice():
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], vertices=["a", "b", "c"])
    assert list(graph.subgraph([2, 0]).vertices) == ["c", "a"]
    refused(r"vertices.*twice.*unique", graph.subgraph, [1, 1])
    refused(r"vertices.*3 at position 1", graph.subgraph, [1, 3])


# ---- sets, tables, output -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vertices", "words"),
    [
        (3, ("3", "position 0", "0..2", "graph.index")),
        ([0, -1], ("-1", "position 1")),
        (torch.tensor([1, 5, 9]), ("5", "position 1")),
        ([0.5], ("vertices", "float64")),
        (torch.ones(4, dtype=torch.bool), ("vertices", "[3]", "[4]")),
        (torch.ones(3, 1, dtype=torch.bool), ("vertices", "[3, 1]")),
        ([[0, 1]], ("vertices", "[1, 2]")),
        ("a", ("vertices",)),
        (torch.tensor(1.5), ("vertices", "float")),
        (1.5, ("vertices",)),
    ],
)
def test_select_names_what_is_wrong(vertices, words):
    refused_naming(words, tg.Graph.from_edges([0, 1], [1, 2]).select, vertices)


def test_select_takes_numpy():
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    assert graph.select(np.int64(2)).ids.tolist() == [2]
    assert graph.select(np.array([2, 0])).ids.tolist() == [0, 2]
    assert graph.select(np.array([True, False, True])).ids.tolist() == [0, 2]
    assert graph.select(range(2)).ids.tolist() == [0, 1]
    assert graph.select([]).ids.tolist() == []


@given(st.lists(st.integers(-3, 3), max_size=12), st.integers(-1, 14))
def test_top(values, k):
    graph = tg.Graph.from_edges([], [], num_vertices=len(values), vertices=[f"v{i}" for i in range(len(values))])
    expected = sorted(enumerate(values), key=lambda item: (-item[1], item[0]))[: max(k, 0)]
    for dtype in (torch.int64, torch.float32):
        assert graph.top(torch.tensor(values, dtype=dtype), k) == [(f"v{i}", value) for i, value in expected]


def test_top_puts_nan_last_and_checks_its_argument():
    graph = tg.Graph.from_edges([], [], num_vertices=3)
    assert graph.top(torch.tensor([1.0, torch.nan, 3.0]), 2) == [(2, 3.0), (0, 1.0)]
    assert [vertex for vertex, _ in graph.top(torch.tensor([1.0, torch.nan, 3.0]), 3)] == [2, 0, 1]
    for wrong in (torch.ones(4), torch.ones(3, 2), [1, 2, 3]):
        with pytest.raises(ArgumentError, match="values"):
            graph.top(wrong)


def test_frame():
    graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=["a", "b", "c"])
    frame = graph.frame(rank=torch.tensor([0.5, 0.25, 0.25]), depth=torch.tensor([[0, 1], [2, 3], [4, 5]]))
    assert list(frame.columns) == ["vertex", "rank", "depth_0", "depth_1"]
    assert frame.vertex.tolist() == ["a", "b", "c"] and frame.depth_1.tolist() == [1, 3, 5]
    assert graph.frame(rank=torch.ones(3, requires_grad=True))["rank"].tolist() == [1, 1, 1]
    plain = tg.Graph.from_edges([], [])
    assert len(plain.frame(rank=torch.ones(0))) == 0
    with pytest.raises(ArgumentError, match=r"rank.*\[3\].*\[2\]"):
        graph.frame(rank=torch.ones(2))


def test_arcs_by_position_for_messages():
    graph = tg.Graph.from_edges([0, 0, 2], [1, 2, 0], num_vertices=4, vertices=["a", "b", "c", "d"])
    assert [graph.arc(position) for position in range(3)] == [("a", "b"), ("a", "c"), ("c", "a")]


def test_index_and_ids_of_what_is_not_there():
    graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=[10, 20, 30])
    assert graph.index(20) == 1 and graph.index(np.int64(20)) == 1 and graph.index(torch.tensor(20)) == 1
    assert graph.index((30, 10)).tolist() == [2, 0]
    refused("15", graph.index, 15, error=UnknownVertexError)
    refused(r"index.*7 at position 1", graph.ids, [0, 7])


def test_repr_and_size():
    graph = tg.Graph.from_edges([0, 1], [1, 1], [1.0, 2.0], directed=False, vertices=["a", "b"])
    assert "2 vertices" in repr(graph) and "3 arcs" in repr(graph) and "undirected" in repr(graph)
    assert graph.num_edges == 2 and "2 edges" in repr(graph)
    assert "float64" in repr(graph) and "labels" in repr(graph) and "cpu" in repr(graph)
    assert tg.Graph.from_edges([0], [1]).nbytes == 3 * 8 + 4


def test_a_graph_stays_where_it_is_and_can_be_pickled():
    graph = random_graph(6, 20, dtype=torch.float32)
    assert graph.to("cpu") is graph
    graph.transpose()
    copy = pickle.loads(pickle.dumps(graph))
    assert arcs(copy) == arcs(graph) and copy.caches == {} and copy.directed == graph.directed


def test_int64_neighbours_become_int32():
    graph = tg.Graph(torch.tensor([0, 1, 2]), torch.tensor([1, 0], dtype=torch.int64))
    assert graph.neighbors.dtype == torch.int32


# ---- found in review ------------------------------------------------------------------------------------------------


def test_a_damaged_graph_is_refused_and_not_followed_out_of_bounds():
    for wrong in (10**14, -7):
        graph = tg.Graph(torch.tensor([0, 1, wrong, 3]), torch.tensor([1, 2, 0], dtype=torch.int32))
        uses = (
            lambda graph: graph.subgraph([1, 2]),
            lambda graph: graph.out_degree,
            lambda graph: tg.algorithms.pagerank(graph, mode="push"),
            lambda graph: tg.algorithms.bfs(graph, 0),
            lambda graph: tg.algorithms.wcc(graph),
            lambda graph: graph.transpose(),
        )
        for use in uses:
            with pytest.raises(ArgumentError, match="offset"):
                use(graph)


def test_one_index_or_id_in_a_tensor_is_one():
    graph = tg.Graph.from_edges([10, 30], [30, 20], ids="compact")
    values = torch.tensor([0.1, 0.2, 0.9])
    assert graph.ids(values.argmax()) == 30 and isinstance(graph.ids(values.argmax()), int)
    assert graph.index(torch.tensor(20)) == 1 and isinstance(graph.index(np.array(20)), int)


def test_what_is_kept_in_inference_mode_serves_a_training():
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], torch.tensor([1.0, 2.0, 3.0]))
    with torch.inference_mode():
        tg.algorithms.pagerank(graph, weighted=True)
        graph.weight_range, graph.transpose_permutation  # noqa: B018
    data = torch.ones(3, requires_grad=True)
    tg.aggregate(graph, data, "sum", edge="mul").sum().backward()
    assert data.grad.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("directed", [True, False])
def test_a_graph_and_its_transpose_are_freed_at_once(directed):
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=directed)
    assert graph.transpose().transpose() is graph
    gone = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        assert gone() is None
    finally:
        gc.enable()


def test_the_device_where_the_graph_is_already():
    graph = tg.Graph.from_edges([0], [1])
    assert graph.to("cpu") is graph and graph.to("cpu:0").device == torch.device("cpu")
    with pytest.raises(ArgumentError, match="device"):
        graph.to("bogus")


def test_the_default_device_of_torch_changes_nothing():
    torch.set_default_device("meta")
    try:
        graph = tg.Graph.from_edges([5, 7, 5], [7, 9, 9], [1, 2, 3], ids="compact")
        assert graph.index(9) == 2 and graph.ids([0, 2]).tolist() == [5, 9]
        assert tg.algorithms.bfs(graph, 0).tolist() == [0, 1, 1]
        assert tg.algorithms.bfs(graph, [0, 1], parents=True)[1].tolist() == [[0, -1], [0, 1], [0, 1]]
        assert tg.algorithms.sssp(graph, 0).tolist() == [0, 1, 3]
        assert tg.algorithms.wcc(graph).tolist() == [0, 0, 0]
        assert tg.algorithms.pagerank(graph).sum().item() == pytest.approx(1)
        assert len(graph.frame(rank=tg.algorithms.hits(graph)[0])) == 3
        assert tg.algorithms.betweenness(graph).tolist() == [0, 0, 0]
        assert tg.algorithms.triangle_count(graph, per_vertex=True).tolist() == [1, 1, 1]
        assert tg.algorithms.local_clustering(graph).tolist() == [0.5, 0.5, 0.5]
        assert tg.algorithms.core_number(graph).tolist() == [2, 2, 2]
        assert tg.algorithms.cdlp(graph).tolist() == [0, 0, 0]
        assert tg.aggregate(graph, torch.ones(3, 2, device="cpu"), "sum").sum() == 6
        assert graph.to_undirected().subgraph([0, 1]).num_edges == 1
        made = tg.generators
        assert made.rmat(4).num_vertices == 16 and made.erdos_renyi(16, 0.5).device.type == "cpu"
        assert made.barabasi_albert(16, 2).num_vertices == 16
        assert made.lfr(16, min_degree=2, max_degree=4, min_community=6)[1].device.type == "cpu"
    finally:
        torch.set_default_device(None)


def test_parallel_edges_in_another_order_in_either_direction_mirror_each_other():
    offset, neighbors = torch.tensor([0, 2, 4]), torch.tensor([1, 1, 0, 0])
    graph = tg.Graph.from_csr(offset, neighbors, torch.tensor([5, 7, 7, 5]), directed=False)
    assert graph.weights.tolist() == [5, 7, 5, 7] and graph.num_edges == 2
    with pytest.raises(ArgumentError, match="lacks its reverse"):
        tg.Graph.from_csr(offset, neighbors, torch.tensor([5, 7, 7, 6]), directed=False)
    nan = torch.tensor([float("nan"), 1.0, 1.0, float("nan")])
    assert tg.Graph(offset, neighbors, nan).is_symmetric


def test_odd_dtypes_and_containers():
    weights = torch.tensor([1, 2], dtype=torch.uint16)
    graph = tg.Graph.from_edges(range(2), np.array([1, 2], dtype=np.uint32), weights)
    assert graph.weights.dtype == torch.int64
    assert graph.subgraph(np.array([True, True, False])).num_arcs == 1
    assert graph.top(torch.tensor([False, True, False]), 1) == [(1, True)]
    assert graph.frame(x=torch.ones(3, dtype=torch.bfloat16))["x"].tolist() == [1, 1, 1]
    for name, call in (
        ("num_vertices", lambda: tg.Graph.from_edges([0], [1], num_vertices=3.0)),
        ("vertex", lambda: graph.frame(vertex=torch.ones(3))),
        ("weights", lambda: tg.Graph(graph.offset, graph.neighbors, torch.tensor([True, False]))),
        ("ids='compact'", lambda: tg.Graph.from_edges([0], [4_000_000_000])),
        ("data", lambda: tg.aggregate(graph, np.ones(3))),
        ("weights", lambda: tg.aggregate(graph, torch.ones(3), edge="mul", weights=[1, 2])),
    ):
        with pytest.raises(ArgumentError, match=name):
            call()


@pytest.mark.parametrize("backend", ["auto", "portable"])
@pytest.mark.parametrize("bad", [3, 900_000_000, -1])
def test_a_neighbour_that_is_no_vertex_is_found_before_it_is_followed(bad, backend):
    """The constructor looks at no entry, a damaged file may hold any; compiled kernels would write out of bounds."""
    graph = tg.Graph(torch.tensor([0, 2, 3, 3]), torch.tensor([1, 2, bad], dtype=torch.int32), directed=False)
    refused(rf"neighbors: {bad} at position 2", tg.algorithms.bfs, graph, 0, mode="push", backend=backend)
    refused(rf"neighbors: {bad} at position 2", tg.aggregate, graph, torch.ones(3), "sum")


def spread(tensor, kind):
    """The same numbers with gaps between them in memory, or backwards in a numpy array."""
    if tensor is None:
        return None
    if kind == "numpy":
        return np.ascontiguousarray(tensor.numpy()[::-1])[::-1]
    wide = torch.zeros((len(tensor), 3), dtype=tensor.dtype)
    wide[:, 1] = tensor
    return wide[:, 1]


@pytest.mark.parametrize("kind", ["torch", "numpy"])
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.int64])
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_strided_tensors_are_settled_at_the_entrance(kind, dtype, index):
    """Whatever the kernels that come after expect of memory."""
    graph = random_graph(40, 200, dtype=dtype)
    labels = torch.arange(40) * 7
    offset, weights, ids = (spread(tensor, kind) for tensor in (graph.offset, graph.weights, labels))
    neighbors = spread(graph.neighbors.to(index), kind)
    made = [tg.Graph.from_csr(offset, neighbors, weights, vertices=ids)]
    rows = spread(torch.arange(40).repeat_interleave(graph.out_degree).to(index), kind)
    made.append(tg.Graph.from_edges(rows, neighbors, weights, num_vertices=40, vertices=ids))
    made.append(tg.Graph.from_edges(spread(graph.to_edge_index()[0], kind), neighbors, weights, num_vertices=40))
    if kind == "torch":
        made.append(tg.Graph(offset, neighbors, weights, vertices=ids))
        made.append(tg.Graph.from_edge_index(torch.stack((rows, neighbors), 1).T, weights, 40))
    expected = tg.algorithms.bfs(graph, 0)
    for other in made:
        stored = [other.offset, other.neighbors, *([] if dtype is None else [other.weights])]
        assert all(tensor.is_contiguous() for tensor in stored)
        assert torch.equal(other.offset, graph.offset) and torch.equal(other.neighbors, graph.neighbors)
        assert dtype is None or torch.equal(other.weights, graph.weights)
        assert other.vertices is None or other.vertices.is_contiguous()
        assert torch.equal(tg.algorithms.bfs(other, 0), expected)
        assert torch.equal(tg.algorithms.sssp(other, 0), tg.algorithms.sssp(graph, 0))
        assert other.vertices is None or other.index(21) == 3
