"""The linear DAG: evaluation, adjoint and rows compared with the matrix that it represents."""

import dataclasses
import itertools

import dag_samples as dags
import pytest
import torch
from backends import portable
from hypothesis import given
from hypothesis import strategies as st

from tgraph.errors import ArgumentError
from tgraph.formats.dag.evaluation import affine_step, degrees, evaluate, refuses, rows
from tgraph.formats.dag.transpose import transposed
from tgraph.kernels.affine import AffineStep
from tgraph.kernels.dag import Dag
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

DTYPES = (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16)


def data_for(sample, columns, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    low = 0 if dtype == torch.uint8 else -4
    return torch.randint(low, 5, (sample.dag.num_vertices, columns), generator=generator).to(dtype)


def expected(rows, data, reduce, edge="copy"):
    """Reduction over the expanded rows, one arc after the other."""
    out = torch.full_like(data, REDUCTIONS[reduce].identity(data.dtype))
    join = {"sum": torch.add, "prod": torch.mul, "min": torch.minimum, "max": torch.maximum}[reduce]
    for v, row in enumerate(rows):
        for u, weight in row:
            out[v] = join(out[v], EDGE_OPERATIONS[edge](data[u], torch.tensor(weight).to(data.dtype)))
    return out


@given(dags.any_dag(), st.sampled_from([1, 2, 7, 130]), st.sampled_from([torch.float64, torch.int64]))
def test_a_sum_is_the_product_with_the_matrix(sample, columns, dtype):
    data = data_for(sample, columns, dtype)
    torch.testing.assert_close(evaluate(sample.dag, data, "sum"), (sample.dense() @ data.double()).to(dtype))


@given(dags.any_dag(), st.sampled_from([1, 2, 7, 130]))
def test_the_transposed_is_the_transposed_matrix(sample, columns):
    data, back = data_for(sample, columns), transposed(sample.dag)
    back.check()
    torch.testing.assert_close(evaluate(back, data, "sum"), sample.dense().T @ data)
    forth = transposed(back)
    forth.check()
    torch.testing.assert_close(evaluate(forth, data, "sum"), sample.dense() @ data)


@given(dags.any_dag())
def test_the_transposed_has_the_arcs_and_one_for_each_output_referred_to(sample):
    dag = sample.dag
    nodes = dag.nodes[dag.nodes >= dag.num_rows].unique()
    back = transposed(dag)
    assert back.num_virtual == dag.num_virtual + len(nodes)
    assert len(back.children) <= len(dag.children) + len(nodes)


@given(dags.any_dag(), st.sampled_from([1, 3, 70]))
def test_both_sides_are_scaled(sample, columns):
    data = data_for(sample, columns)
    left, right = data_for(sample, 2, seed=1).unbind(1)  # with zeros among them
    result = evaluate(sample.dag, data, "sum", left=left, right=right)
    torch.testing.assert_close(result, left[:, None] * (sample.dense() @ (right[:, None] * data)))


@given(
    dags.virtual(weighted=True),
    st.sampled_from(["sum", "prod", "min", "max"]),
    st.sampled_from(sorted(EDGE_OPERATIONS)),
    st.sampled_from([1, 3, 66]),
    st.sampled_from([torch.float64, torch.int64]),
)
def test_every_reduction_of_every_edge_operation(sample, reduce, edge, columns, dtype):
    data = data_for(sample, columns, dtype)
    # Products of many numbers are rounded, in another order.
    close = {"rtol": 1e-12 if reduce == "prod" and dtype.is_floating_point else 0, "atol": 0}
    found = evaluate(sample.dag, data, reduce, edge)
    torch.testing.assert_close(found, expected(sample.rows, data, reduce, edge), **close)
    back = transposed(sample.dag)
    if refuses(back, reduce, edge):
        return
    turned = [[] for _ in sample.rows]
    for v, row in enumerate(sample.rows):
        for u, weight in row:
            turned[u].append((v, weight))
    torch.testing.assert_close(evaluate(back, data, reduce, edge), expected(turned, data, reduce, edge), **close)
    if not refuses(transposed(back), reduce, edge):
        twice = evaluate(transposed(back), data, reduce, edge)
        torch.testing.assert_close(twice, expected(sample.rows, data, reduce, edge), **close)


@given(dags.any_dag())
def test_degrees_count_the_arcs(sample):
    assert degrees(sample.dag).tolist() == [len(row) for row in sample.rows]


@given(st.data(), dags.any_dag() | dags.virtual(weighted=True))
def test_rows_are_decoded_as_they_were(data, sample):
    n = sample.dag.num_vertices
    chosen = torch.tensor(data.draw(st.lists(st.integers(0, n - 1), max_size=6)) if n else [], dtype=torch.int64)
    for decode in (rows, portable.dag_rows):
        offset, neighbors, weights = decode(sample.dag, chosen)
        for i, v in enumerate(chosen.tolist()):
            part = slice(int(offset[i]), int(offset[i + 1]))
            assert neighbors[part].tolist() == [u for u, _ in sample.rows[v]]
            if weights is not None:
                found = sorted(zip(neighbors[part].tolist(), weights[part].tolist(), strict=True))
                assert found == sorted(sample.rows[v])
        assert len(offset) == len(chosen) + 1


@given(dags.any_dag() | dags.virtual(weighted=True))
def test_rows_of_the_transposed_are_the_columns(sample):
    back, everything = transposed(sample.dag), torch.arange(sample.dag.num_vertices)
    columns = sorted((u, v, weight) for v, row in enumerate(sample.rows) for u, weight in row)
    for decode in (rows, portable.dag_rows):
        offset, neighbors, weights = decode(back, everything)
        ends = everything.repeat_interleave(offset.diff()).tolist()
        weights = [0] * len(ends) if weights is None else weights.tolist()
        assert sorted(zip(ends, neighbors.tolist(), weights, strict=True)) == columns
        assert all(bool((neighbors[a:b].diff() >= 0).all()) for a, b in itertools.pairwise(offset.tolist()))


@given(
    dags.any_dag(),
    st.sampled_from(DTYPES),
    st.sampled_from(["sum", "prod", "min", "max"]),
    st.sampled_from([1, 5, 131]),
)
def test_native_and_portable_agree_in_every_dtype(sample, dtype, reduce, columns):
    if refuses(sample.dag, reduce, "copy"):
        return
    data = data_for(sample, columns, dtype)
    torch.testing.assert_close(evaluate(sample.dag, data, reduce), portable.evaluate_dag(sample.dag, data, reduce))


def test_what_is_subtracted_is_refused_for_other_reductions():
    dag = dags.pack(2, [[0, 1], [2, ~1]], None, (0, 2), [0, 2])
    assert evaluate(dag, torch.tensor([[3.0], [4.0]]), "sum").tolist() == [[7.0], [3.0]]
    with pytest.raises(ArgumentError, match="reduce: 'min' cannot take back"):
        evaluate(dag, torch.ones(2, 1), "min")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"offset": torch.tensor([0, 1, 4])}, "offset: runs from 0 to 4, expected 0 to 3"),
        ({"offset": torch.tensor([0, 4, 3])}, "offset: decreases after position 1"),
        ({"children": torch.tensor([0, 4, 0])}, "children: 4 at position 1 is no node"),
        ({"children": torch.tensor([0, ~5, 0])}, "children: -6 at position 1 is no node"),
        ({"children": torch.tensor([0, 3, 0])}, "children: row 1 needs row 1"),
        ({"children": torch.tensor([3, 1, 0])}, "children: row 0 needs row 1"),
        ({"children": torch.tensor([0, 2, 0]), "tasks": torch.tensor([0, 1, 2])}, "children: row 1 needs row 0"),
        ({"order": torch.tensor([0, 0])}, "order: row 0 occurs 2 times"),
        ({"order": torch.tensor([0, 2])}, "order: 2 at position 1 is no row"),
        ({"phases": (0, 1)}, "phases: .* does not run from 0 to 2"),
        ({"tasks": torch.tensor([0, 1])}, "tasks: ends at 1, which is not the end of a phase"),
        ({"weights": torch.ones(2)}, r"weights: expected \[3\]"),
    ],
)
def test_what_is_no_dag_is_named(changed, message):
    dag = Dag(2, torch.tensor([0, 1, 3]), torch.tensor([0, 2, ~0]), None, None, (0, 2), torch.tensor([0, 2]))
    dag.check()
    with pytest.raises(ArgumentError, match=message):
        dataclasses.replace(dag, **changed).check()


def long_rows(signed):
    """Rows of many children, longer than what is reduced at once, some of them in need of others of their task."""
    n, generator = 300, torch.Generator().manual_seed(0)
    long = torch.randint(0, n, (3, 9000), generator=generator)
    lists = [torch.randint(0, n, (5,), generator=generator).tolist() for _ in range(n)]
    for place, row in enumerate((10, 11, 200)):
        lists[row] = long[place].tolist()
    if signed:
        lists[11] += [n + 10, *(~u for u in long[0, :5].tolist())]
        lists[12] = [n + 11]
    return dags.pack(n, lists, None, (0, n), [0, 150, n] if signed else None)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("columns", [1, 3, 200])
def test_long_rows_and_any_number_of_threads_give_the_same(signed, columns):
    dag = long_rows(signed)
    data = torch.randn(300, columns, generator=torch.Generator().manual_seed(1))
    exact = portable.evaluate_dag(dag, data.double(), "sum")
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(evaluate(dag, data, "sum"))
    torch.set_num_threads(1)
    assert torch.equal(*found)
    torch.testing.assert_close(found[0].double(), exact, rtol=1e-4, atol=1e-3)


@given(dags.any_dag() | dags.virtual(weighted=True), st.booleans(), st.sampled_from([torch.float32, torch.float64]))
def test_a_step_of_a_linear_iteration(sample, plain, dtype):
    dag, n = sample.dag, sample.dag.num_vertices
    x, before, scale, bias, measure = data_for(sample, 5, dtype).unbind(1)
    coefficients = {} if plain else {"scale": scale, "bias": bias, "measure": measure}
    step = AffineStep(x.contiguous(), before.contiguous(), **coefficients, weighted=True, alpha=0.5, beta=2.0)
    found, other = affine_step(dag, step), portable.step_dag(dag, step)
    weighted = torch.zeros(n, n, dtype=torch.float64)
    for v, row in enumerate(sample.rows):
        for u, weight in row:
            weighted[v, u] += 1 if dag.weights is None else weight
    values = 0.5 * (weighted @ x.double()) + (0 if plain else 2 * bias.double())
    torch.testing.assert_close(found.values.double(), values)
    for name in ("values", "next_x", "change", "total", "dangling_mass"):
        here, there = (torch.as_tensor(getattr(step, name)).double() for step in (found, other))
        torch.testing.assert_close(here, there, check_dtype=False)
