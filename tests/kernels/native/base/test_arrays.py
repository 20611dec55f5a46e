"""How compiled kernels take their arrays: tensors by their address, numpy arrays as buffers, and nothing else."""

import numpy as np
import pytest
import torch

from tgraph.core.system import native

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")


def flatten(labels):
    """A kernel of one array, int32 or int64 [n], which it writes."""
    return native.load().flatten_labels(labels)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_a_tensor_and_a_numpy_array_are_not_copied(dtype):
    for labels in (torch.tensor([0, 0, 1, 2], dtype=dtype), torch.tensor([0, 0, 1, 2], dtype=dtype).numpy()):
        assert flatten(labels)
        assert labels.tolist() == [0, 0, 0, 0]


def test_the_elements_of_a_tensor_of_several_dimensions_are_taken_in_a_row():
    labels = torch.tensor([[0, 0], [1, 2]])
    assert flatten(labels) and labels.tolist() == [[0, 0], [0, 0]]
    assert flatten(torch.nn.Parameter(torch.tensor([0, 0]), requires_grad=False))


@pytest.mark.parametrize(
    "labels",
    [
        torch.tensor([0.0, 1.0]),
        torch.tensor([0, 1], dtype=torch.int16),
        torch.tensor([0, 1], dtype=torch.complex64),
        torch.tensor([0, 0, 1, 1])[::2],
        torch.tensor([[0, 0], [1, 1]]).T,
        torch.tensor([0, 1], device="meta"),
        torch.tensor([0, 1]).to_sparse(),
        np.array([0, 0, 1, 1])[::2],
        np.array([0.0, 1.0]),
        np.array([[0, 1]]),
        None,
        [0, 1],
        3,
    ],
)
def test_what_is_no_such_memory_is_refused(labels):
    with pytest.raises(
        TypeError, match="label: expected a writable contiguous array on the CPU of int32 or int64, got "
    ):
        flatten(labels)


def test_tensors_that_record_gradients_and_read_only_arrays_are_refused():
    kernels = native.load()
    offset, neighbors = torch.tensor([0, 1]), torch.tensor([0], dtype=torch.int32)
    data, out = torch.ones(1, requires_grad=True), torch.zeros(1)
    rest = (1, None, 1, "sum", "copy", 0.0, False)
    kernels.pull_float32(neighbors, offset, None, -1, None, data.detach(), *rest, out)
    assert out.tolist() == [1]
    with pytest.raises(TypeError):
        kernels.pull_float32(neighbors, offset, None, -1, None, data, *rest, out)
    frozen = np.zeros(1, dtype=np.float32)
    frozen.flags.writeable = False
    with pytest.raises(TypeError):
        kernels.pull_float32(neighbors, offset, None, -1, None, data.detach(), *rest, frozen)
    with pytest.raises(TypeError):
        torch.func.vmap(lambda x: flatten(x.to(torch.int64)) and x)(torch.zeros(2, 2))


@pytest.mark.parametrize(
    "ids", [torch.tensor([2, 9, 0, 9, 2, 9])[::2], torch.tensor([2]).expand(3), torch.tensor([[2, 9], [0, 9]])[:, 0]]
)
def test_tensors_that_are_read_need_not_be_contiguous(ids):
    marked, expected = torch.zeros(3, dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    expected[ids] = 1
    native.load().mark_ids(ids, 0, marked)
    assert torch.equal(marked, expected)
    with pytest.raises(TypeError, match="table: expected a writable contiguous array"):
        native.load().mark_ids(ids, 0, torch.zeros(6, dtype=torch.int32)[::2])


def test_objects_that_keep_addresses_are_given_no_copies():
    kernels, apart = native.load(), torch.arange(8)[::2]
    for keeps in (lambda: kernels.dag_rows(3, apart), lambda: kernels.ReadableRun(apart, [])):
        with pytest.raises(TypeError):
            keeps()
    with pytest.raises(TypeError, match="sources: expected a contiguous array"):  # as long as its result may
        rows = torch.zeros(5, dtype=torch.int64), torch.zeros(0, dtype=torch.int32)
        kernels.count_levels(*rows, *rows, apart)


def test_parameters_are_given_by_position_or_by_name():
    kernels, ids = native.load(), torch.tensor([2, 0, 2])
    for positional, named in (((ids, 0), ("table",)), ((ids,), ("table", "low")), ((), ("table", "low", "ids"))):
        marked = torch.zeros(3, dtype=torch.int32)
        every = {"ids": ids, "low": 0, "table": marked}
        kernels.mark_ids(*positional, **{name: every[name] for name in named})
        assert marked.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ([], {}, r"mark_ids\(\): ids is missing"),
        ([torch.tensor([0]), 0, torch.zeros(1, dtype=torch.int32), 1], {}, r"mark_ids\(\): too many arguments"),
        ([torch.tensor([0])], {"high": 1}, r"mark_ids\(\): no parameter high"),
        ([torch.tensor([0]), 0.5, torch.zeros(1, dtype=torch.int32)], {}, "low: expected an int, got float"),
        ([torch.tensor([0]), 1 << 63, torch.zeros(1, dtype=torch.int32)], {}, "low: expected an int, got int"),
        ([None, 0, torch.zeros(1, dtype=torch.int32)], {}, "ids: expected a contiguous array .*, got NoneType"),
        ([torch.tensor([0.0]), 0, torch.zeros(1, dtype=torch.int32)], {}, "got torch.Tensor of torch.float32"),
    ],
)
def test_a_call_that_does_not_fit_names_the_parameter(arguments, named, message):
    with pytest.raises(TypeError, match=message):
        native.load().mark_ids(*arguments, **named)


def test_a_kernel_raises_the_exception_of_its_failure():
    offset, out = torch.tensor([0, 1]), torch.zeros(1)
    with pytest.raises(ValueError, match="columns: expected a multiple of heads"):
        native.load().pull_float32(
            torch.tensor([0], dtype=torch.int32),
            offset,
            None,
            -1,
            None,
            out,
            1,
            None,
            2,
            "sum",
            "copy",
            0.0,
            False,
            out,
        )


def test_an_instance_without_its_constructor_is_refused():
    kernels = native.load()
    empty = kernels.DagRows.__new__(kernels.DagRows)
    with pytest.raises(TypeError, match="rows: expected "):
        kernels.dag_count_rows(empty, True, torch.tensor([0]), torch.zeros(1, dtype=torch.int64))


def test_data_of_too_few_vertices_is_refused():
    kernels, offset, neighbors = native.load(), torch.tensor([0, 1, 2]), torch.tensor([1, 0], dtype=torch.int32)
    rows, two, short = (neighbors, offset, None, -1), torch.zeros(2), torch.zeros(1)
    index = torch.zeros(2, dtype=torch.int32)
    with pytest.raises(ValueError, match="data, best or arg"):
        kernels.segment_argreduce(*rows, None, short, 1, True, 0.0, two, index)
    with pytest.raises(ValueError, match="row_data, data or out"):
        kernels.arc_products(*rows, None, two, short, 1, 1, torch.zeros(2))
    with pytest.raises(ValueError, match="arg: expected arcs of the rows"):
        kernels.scatter_argreduce(*rows, two, 1, index, short)
    kernels.scatter_argreduce(*rows, two + 3, 1, index, two)
    assert two.tolist() == [3, 3]
