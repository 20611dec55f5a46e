"""The linear DAG: evaluation, adjoint and rows against the matrix that it stands for."""

import dag_samples as dags
import torch
from hypothesis import given
from hypothesis import strategies as st

from tgraph.formats.dag import degrees, evaluate, refuses
from tgraph.formats.transposing import transposed
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
    assert torch.equal(evaluate(sample.dag, data, reduce, edge), expected(sample.rows, data, reduce, edge))
    back = transposed(sample.dag)
    if refuses(back, reduce, edge):
        return
    turned = [[] for _ in sample.rows]
    for v, row in enumerate(sample.rows):
        for u, weight in row:
            turned[u].append((v, weight))
    assert torch.equal(evaluate(back, data, reduce, edge), expected(turned, data, reduce, edge))
    if not refuses(transposed(back), reduce, edge):
        twice = evaluate(transposed(back), data, reduce, edge)
        assert torch.equal(twice, expected(sample.rows, data, reduce, edge))


@given(dags.any_dag())
def test_degrees_count_the_arcs(sample):
    assert degrees(sample.dag).tolist() == [len(row) for row in sample.rows]
