"""Programs give the same answers on a graph that is read block by block, and read no more of it than they need."""

import gc
import re
import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Any, graphs, grid, random_graph
from streams import Faulty, loads, streamed

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError, MemoryBudgetError, NotConvergedError
from tgraph.stream.file.writing import write_partitioned
from tgraph.stream.run.host import HostBlocks
from tgraph.stream.run.streamed import Streamed

al = tg.algorithms
BFS, WCC = al.BFS, al.WCC
BLOCKS = (1, 2, 7, 64)
WEIGHTS = (None, torch.int32, torch.float64)
ENOUGH = 10**6

# What goes block by block, on a graph with vertices.
IN_BLOCKS = {
    "bfs": lambda graph: al.bfs(graph, 0),
    "bfs by pulls": lambda graph: al.bfs(graph, 0, mode="pull"),
    "bfs of several": lambda graph: al.bfs(graph, [0, graph.num_vertices - 1]),
    "bfs of two hops": lambda graph: al.bfs(graph, 0, max_depth=2),
    "search tree": lambda graph: al.bfs(graph, 0, parents=True)[1],
    "sssp": lambda graph: al.sssp(graph, 0),
    "sssp in rounds": lambda graph: al.sssp(graph, 0, max_iterations=1000),
    "sssp of several": lambda graph: al.sssp(graph, [0, graph.num_vertices - 1]),
    "wcc": al.wcc,
    "pagerank": al.pagerank,
    "pagerank in float64": lambda graph: al.pagerank(graph, dtype=torch.float64, dangling="ignore"),
    "weighted pagerank": lambda graph: al.pagerank(graph, weighted=graph.weight_dtype is not None, dtype=torch.float64),
    "hits": lambda graph: al.hits(graph, tol=None, max_iterations=5)[0],
}

# What decodes the graph, where it fits.
DECODED = {
    "pagerank by blocks": lambda graph: al.pagerank(graph, method="gauss-seidel"),
    "betweenness": al.betweenness,
    "triangles": al.triangle_count,
    "clustering": al.local_clustering,
    "cores": al.core_number,
    "communities": al.cdlp,
}


WIDE = ("several", "float64", "weighted", "search tree", "hits")


def room_for(name, graph):
    """Bytes that the vertex data takes beyond that of one column of 32 bits."""
    return 40 * (graph.num_vertices + 1) if any(word in name for word in WIDE) else 0


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-8, equal_nan=True)


# ---- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("dtype", WEIGHTS)
@pytest.mark.parametrize("directed", [True, False])
def test_answers_are_those_in_memory(blocks, directed, dtype):
    graph = random_graph(40, 200, directed=directed, dtype=dtype)
    for name, algorithm in IN_BLOCKS.items():
        for buffers in (1, 3):
            held = streamed(graph, blocks, buffers, slack=room_for(name, graph))
            same(algorithm(held), algorithm(graph))
            assert "arcs" not in held.caches, f"{name} decoded the graph"
    for algorithm in DECODED.values() if blocks < 64 else ():
        same(algorithm(streamed(graph, blocks, slack=ENOUGH)), algorithm(graph))


@settings(max_examples=settings().max_examples // 3)
@given(graph=graphs(min_vertices=1, dtypes=WEIGHTS), blocks=st.sampled_from(BLOCKS), buffers=st.integers(1, 4))
def test_answers_on_any_graph(graph, blocks, buffers):
    for name, algorithm in IN_BLOCKS.items():
        held = streamed(graph, blocks, buffers, slack=room_for(name, graph))
        same(algorithm(held), algorithm(graph))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", WEIGHTS)
@pytest.mark.parametrize("name", [*IN_BLOCKS, *DECODED])
def test_answers_on_a_gpu(name, dtype):
    """Of blocks in memory, which are copied while others are computed on."""
    graph, algorithm = random_graph(40, 200, directed=False, dtype=dtype), (IN_BLOCKS | DECODED)[name]
    for blocks, buffers in ((7, 3), (1, 1)):
        held = streamed(graph, blocks, buffers, slack=ENOUGH, device=on_gpu())
        same(torch.as_tensor(algorithm(held)).cpu(), torch.as_tensor(algorithm(graph)))
        assert held.device.type == "cuda"


@pytest.mark.gpu
@pytest.mark.parametrize("reduce", ["sum", "max", "mean"])
def test_a_file_and_its_gradients_on_a_gpu(tmp_path, reduce):
    graph = random_graph(300, 20_000, dtype=torch.float64)
    tg.stream.write_partitioned(graph, tmp_path / "blocks.tg", 9)
    data, grads = torch.rand(300, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64), []
    for held in (graph, tg.open(tmp_path / "blocks.tg", memory=300_000, device=on_gpu())):
        leaf = data.clone().to(held.device).requires_grad_()
        out = tg.aggregate(held, leaf, reduce, edge="mul")
        out.sin().sum().backward()
        grads.append((out.detach().cpu(), leaf.grad.cpu()))
    torch.testing.assert_close(*grads[::-1])


def on_gpu():
    """The first GPU; skips where there is none."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    return torch.device("cuda", 0)


@given(
    graph=graphs(min_vertices=1, dtypes=(torch.int64, torch.float64), lowest=0),
    blocks=st.sampled_from(BLOCKS),
    reduce=st.sampled_from(["min", "max"]),
    edge=st.sampled_from(["copy", "add", "mul", "min", "max"]),
    mode=st.sampled_from(["auto", "push", "pull"]),
    rounds=st.sampled_from([None, 2]),
)
def test_any_relaxation(graph, blocks, reduce, edge, mode, rounds):
    if rounds is None and (edge == "mul" or (edge == "add" and reduce == "max")):
        rounds = 2  # cycles improve without end
    values = torch.arange(graph.num_vertices).to(graph.weight_dtype)
    program = Any(reduce, edge, values, rounds=rounds)
    found = tg.run(program, streamed(graph, blocks), mode=mode).values
    assert torch.equal(found, tg.run(program, graph).values)


def test_a_hub_over_many_blocks_is_exact_and_the_same_in_every_run():
    spokes = torch.arange(1, 400)
    graph = tg.Graph.from_edges(torch.zeros_like(spokes), spokes, torch.rand(399), directed=False)
    data = torch.rand(400, 3)
    held = streamed(graph, 64, 5)
    first = tg.aggregate(held, data, "sum", edge="mul")
    for _ in range(3):  # cached blocks are visited first, which changes the order
        assert torch.equal(tg.aggregate(held, data, "sum", edge="mul"), first)
    same(first, tg.aggregate(graph, data, "sum", edge="mul"))
    for reduce in ("min", "max", "mean"):
        same(tg.aggregate(held, data, reduce), tg.aggregate(graph, data, reduce))


@pytest.mark.parametrize("vertices", [0, 1, 5])
def test_a_graph_without_arcs(vertices):
    graph = tg.Graph.from_edges([], [], num_vertices=vertices)
    held = streamed(graph, 7)
    assert torch.equal(al.wcc(held), torch.arange(vertices))
    assert torch.equal(al.pagerank(held), al.pagerank(graph))
    assert torch.equal(
        tg.aggregate(held, torch.ones(vertices, 2), "min"), tg.aggregate(graph, torch.ones(vertices, 2), "min")
    )
    assert held.layout.counts.visits == 0
    if vertices:
        assert torch.equal(al.bfs(held, 0), al.bfs(graph, 0))


def test_gradients_stream_too():
    graph = random_graph(50, 200)
    held = streamed(graph, 7)
    data, twin = (torch.rand(50, 4, generator=torch.Generator().manual_seed(1)).requires_grad_() for _ in range(2))
    tg.aggregate(held, data, "sum").square().sum().backward()
    tg.aggregate(graph, twin, "sum").square().sum().backward()
    same(data.grad, twin.grad)


def test_rows_are_those_of_the_graph_and_only_their_blocks_are_read():
    graph = random_graph(60, 600, dtype=torch.float32)
    held = streamed(graph, 12, 1, slack=6000)
    for vertices in (torch.tensor([5, 3, 3, 59]), torch.tensor([], dtype=torch.int64), torch.arange(60).flip(0)):
        found, wanted = held.layout.rows(vertices), graph.to_format("csr", narrow=True).layout.rows(vertices)
        assert all(torch.equal(a, b.to(a.dtype)) for a, b in zip(found, wanted, strict=True))
    before = loads(held)
    held.layout.rows(torch.tensor([0, 1]))
    assert loads(held) - before == -(-int(graph.offset[2]) // 50)  # those with 50 arcs each that the two rows touch


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False])
def test_a_file_is_opened(tmp_path, directed):
    graph = random_graph(100, 800, directed=directed, dtype=torch.float64)
    path = tmp_path / "graph.tg"
    write_partitioned(graph, path, 9)
    held = tg.open(path, memory="40kB")
    assert isinstance(held.layout, Streamed)
    for algorithm in IN_BLOCKS.values():
        same(algorithm(held), algorithm(graph))


def test_a_damaged_block_is_named_and_nothing_computed(tmp_path):
    graph = grid(20, 20)
    path = tmp_path / "graph.tg"
    write_partitioned(graph, path, 8)
    held = tg.open(path, memory="100kB")
    damaged = held.layout.source.index[5].position + 100
    with path.open("r+b") as file:
        file.seek(damaged)
        byte = file.read(1)[0]
        file.seek(damaged)
        file.write(bytes([byte ^ 1]))
    for algorithm in (al.wcc, al.pagerank, lambda graph: al.bfs(graph, 0)):
        with pytest.raises(FileFormatError, match=r"graph\.tg.*block 5"):
            algorithm(held)


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [OSError(5, "Input/output error", "graph.tg"), KeyboardInterrupt()])
@pytest.mark.parametrize("buffers", [1, 2, 4])
def test_what_goes_wrong_in_the_loader_is_raised(fault, buffers):
    graph = grid(30, 30)
    source = Faulty(graph, 9, fault, 4)
    held = streamed(graph, source=source, buffers=buffers)
    for algorithm in (al.wcc, al.pagerank, lambda graph: al.bfs(graph, 0)):
        with pytest.raises(type(fault), match=None if isinstance(fault, KeyboardInterrupt) else "Input/output error"):
            algorithm(held)
    source.bad = -1
    same(al.bfs(held, 0), al.bfs(graph, 0))
    same(al.wcc(held), al.wcc(graph))


def test_the_threads_that_load_go_with_the_graph():
    def loaders():
        return {each for each in threading.enumerate() if each.name.startswith(("tgraph-loader", "tgraph-verifier"))}

    before, held = loaders(), streamed(grid(30, 30), 9, 3)
    al.wcc(held)
    begun = loaders() - before
    assert len(begun) == 2
    al.pagerank(held)
    assert loaders() - before == begun
    del held
    gc.collect()
    for thread in begun:
        thread.join(timeout=30)
        assert not thread.is_alive()


def test_what_goes_wrong_while_computing_leaves_nothing_behind():
    held = streamed(grid(30, 30), 9, 3)

    def stop(block):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        held.layout.visit(stop)
    assert torch.equal(al.wcc(held), al.wcc(grid(30, 30)))


def test_the_error_of_a_budget_below_one_block_names_what_is_needed():
    graph = random_graph(100, 2000)
    source = HostBlocks(graph, torch.tensor([0, 1000, 2000]))
    with pytest.raises(MemoryBudgetError, match="needs at least") as caught:
        tg.run(WCC(), graph, memory=5000)
    assert caught.value.needed > 5000
    with pytest.raises(MemoryBudgetError) as caught:
        streamed(graph, source=source, slack=-1)
    assert isinstance(caught.value, MemoryError)
    Streamed(source, caught.value.needed, torch.device("cpu"))


def test_what_needs_single_arcs_is_refused_with_a_remedy():
    graph = random_graph(100, 2000, directed=False)
    with pytest.raises(MemoryBudgetError, match="decode") as caught:
        al.triangle_count(streamed(graph, 64))
    held = streamed(graph, 64)
    more = caught.value.needed - held.layout.memory
    assert al.triangle_count(streamed(graph, 64, slack=more)) == al.triangle_count(graph)


def test_a_streamed_graph_is_stored_in_no_other_file(tmp_path):
    with pytest.raises(ArgumentError, match="copy the file"):
        tg.write(streamed(grid(5, 5)), tmp_path / "graph.tg")


def test_a_negative_cycle_is_found_in_rounds():
    graph = tg.Graph.from_edges([0, 1], [1, 0], torch.tensor([-1.0, 0.5]))
    program = Any("min", "add", torch.zeros(2, dtype=torch.float64))
    with pytest.raises(NotConvergedError):
        tg.run(program, streamed(graph, 2))


# ---- what is read ---------------------------------------------------------------------------------------------------


def all_blocks_every_iteration(algorithm, graph, blocks):
    """The loads of a run that reads every block in every iteration of the same program in rounds."""
    return blocks * tg.run(algorithm, graph, trace=True, mode="pull").iterations


def test_searches_and_components_load_few_blocks():
    graph = grid(60, 60)
    held = streamed(graph, 16, 2)
    bfs = BFS(0)
    tg.run(bfs, held)
    assert loads(held) < all_blocks_every_iteration(bfs, graph, 16) / 2
    held = streamed(graph, 16, 2)
    al.wcc(held)
    assert loads(held) == 16


def test_idle_blocks_are_not_loaded():
    graph = grid(40, 1)  # a path
    held = streamed(graph, 8, 1)
    al.bfs(held, 0, max_depth=3)
    assert loads(held) <= 4  # the first block, in each round
    islands = tg.Graph.from_edges([0, 1, 5, 6], [1, 2, 6, 7], directed=False)
    held = streamed(islands, 4, 1)
    al.bfs(held, 0)
    assert {visit.block for visit in tg.run(BFS(0), held, trace=True).trace.visits} <= {0, 1}


def test_blocks_that_fit_are_loaded_once():
    held = streamed(grid(30, 30), 8, 8)
    al.pagerank(held, tol=None, max_iterations=10)
    assert loads(held) == 8
    held = streamed(grid(30, 30), 8, 4)
    al.pagerank(held, tol=None, max_iterations=10)
    assert loads(held) == 8 + 9 * 4  # half of them are still there when the next iteration begins


# ---- run(memory=), trace and progress --------------------------------------------------------------------------------


def test_run_streams_what_is_larger_than_its_memory():
    graph = random_graph(200, 20_000)
    run = tg.run(WCC(), graph, memory="60kB", trace=True)
    assert torch.equal(run.values, al.wcc(graph))
    assert run.trace.visits
    assert not tg.run(WCC(), graph, memory="1GB", trace=True).trace.visits
    same(al.pagerank(graph, memory=60_000, device="cpu"), al.pagerank(graph))


def test_the_trace_has_every_visit_and_draws_them(tmp_path):
    held = streamed(grid(30, 30), 8, 2)
    trace = tg.run(BFS(0), held, trace=True).trace
    assert len(trace.visits) == len(trace)
    assert sum(visit.nbytes for visit in trace.visits) == held.layout.counts.nbytes
    for visit in trace.visits:
        assert visit.computing[0] <= visit.computing[1]
        assert visit.loading is None or visit.loading[0] <= visit.loading[1] <= visit.computing[0]
    trace.plot(tmp_path / "trace.png")
    assert (tmp_path / "trace.png").stat().st_size > 10_000


SHOWN = r"([\d,]+) active, (\d+) blocks, (\d+) of them loaded \(([\d.]+) MB\), \d+% overlap"


def test_progress_reports_what_was_read(capsys):
    """Blocks, loads, bytes and overlap: of one iteration, or of a relaxation's second."""
    held = streamed(grid(90, 90), 8, 2)
    al.pagerank(held, tol=None, max_iterations=3, progress=True)
    active, blocks, loaded, megabytes = re.findall(SHOWN, capsys.readouterr().err)[-1]
    assert (active, blocks, loaded) == ("8,100", "8", "6")  # two are still there from the iteration before
    assert float(megabytes) == pytest.approx(6 * held.layout.section.index[0].nbytes / 1e6, abs=0.06)
    before = held.layout.counts
    al.bfs(held, 0, progress=True)
    counts = held.layout.counts.since(before)
    if counts.elapsed < 1:  # the one second that is shown
        active, blocks, loaded, _ = re.findall(SHOWN, capsys.readouterr().err)[-1]
        assert (active, blocks, loaded) == ("0", str(counts.visits), str(counts.loads))


def test_runs_on_one_graph_from_several_threads_take_turns():
    graph = random_graph(100, 500)
    held, found = streamed(graph, 7, 2), {}
    threads = [threading.Thread(target=lambda v=v: found.update({v: al.bfs(held, v)})) for v in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(found[v], al.bfs(graph, v)) for v in range(6))
