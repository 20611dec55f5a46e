"""Every argument of the loaders of PyTorch Geometric has its effect in ours; tables are compared with signatures."""

import inspect
import os

import pytest
import torch
from torch.utils.data import DataLoader
from torch_geometric import loader as theirs
from torch_geometric.data import Data, HeteroData
from torch_geometric.sampler import NegativeSampling

from tgraph import pyg

LABELS = torch.arange(30) % 2 + 1
TIMES = torch.arange(30) + 40


def data():
    made = torch.Generator().manual_seed(2)
    edge_index = torch.randint(80, (2, 900), generator=made)
    edge_index = edge_index[:, edge_index[1].argsort(stable=True)]
    weight = (torch.arange(900) % 2).float()
    return Data(x=torch.rand(80, 4), edge_index=edge_index, weight=weight, time=torch.arange(80) % 50)


def nodes(**options):
    return pyg.NeighborLoader(data(), options.pop("num_neighbors", [3, 2]), **{"batch_size": 10} | options)


def links(**options):
    held = data()
    ends = options.pop("edge_label_index", held.edge_index[:, :30])
    return pyg.LinkNeighborLoader(held, options.pop("num_neighbors", [3, 2]), ends, **{"batch_size": 10} | options)


def mark(batch):
    batch.marked = os.getpid()
    return batch


def double(sample):
    sample.metadata = (sample.metadata[0] * 2, *sample.metadata[1:])
    return sample


def start(worker):
    torch.set_num_threads(3 + worker)


def count_threads(batch):
    batch.threads = torch.get_num_threads()
    return batch


def degrees(batch):
    return torch.bincount(batch.edge_index[1], minlength=batch.num_nodes)


def arcs_of(batch):
    """Whether a batch has all arcs between its vertices."""
    edge_index = data().edge_index
    return sum(bool((batch.n_id == u).any() & (batch.n_id == v).any()) for u, v in edge_index.t().tolist())


def is_in_time(batch):
    times = data().time[batch.n_id[: batch.batch_size]] if "seed_time" not in batch else batch.seed_time
    return bool((batch.time <= times[batch.batch]).all())


# name: (options, what is true of the first batch)
SAMPLED = {
    "num_neighbors": ({"num_neighbors": [1]}, lambda batch: int(degrees(batch).max()) == 1),
    "replace": ({"replace": True, "num_neighbors": [40]}, lambda batch: set(degrees(batch).tolist()) == {0, 40}),
    "subgraph_type": ({"subgraph_type": "induced"}, lambda batch: batch.num_edges == arcs_of(batch)),
    "directed": ({"directed": False}, lambda batch: batch.num_edges == arcs_of(batch)),
    "disjoint": ({"disjoint": True}, lambda batch: int(batch.batch.max()) == 9),
    "weight_attr": ({"weight_attr": "weight"}, lambda batch: bool((batch.weight == 1).all())),
    "transform": ({"transform": mark}, lambda batch: batch.marked == os.getpid()),
    "transform_sampler_output": (
        {"transform_sampler_output": double},
        lambda batch: batch.input_id.tolist() == list(range(0, 20, 2)),
    ),
    "is_sorted": ({"is_sorted": True}, lambda batch: torch.equal(batch.weight, (batch.e_id % 2).float())),
    "neighbor_sampler": (
        {"neighbor_sampler": pyg.NeighborSampler(data(), [1])},
        lambda batch: int(degrees(batch).max()) == 1,
    ),
    "filter_per_worker": (
        {"filter_per_worker": False, "num_workers": 1, "transform": mark},
        lambda batch: batch.marked == os.getpid(),
    ),
}
OF_NODES = SAMPLED | {
    "input_nodes": ({"input_nodes": torch.tensor([7, 9])}, lambda batch: batch.n_id[:2].tolist() == [7, 9]),
    "input_time": (
        {"input_nodes": torch.arange(30), "input_time": TIMES, "time_attr": "time"},
        lambda batch: torch.equal(batch.seed_time, TIMES[:10]) and is_in_time(batch),
    ),
    "time_attr": ({"time_attr": "time"}, is_in_time),
    "temporal_strategy": (
        {"time_attr": "time", "temporal_strategy": "last", "input_nodes": torch.tensor([49])},
        lambda batch: is_in_time(batch) and latest(batch),
    ),
}
OF_LINKS = SAMPLED | {
    "edge_label_index": ({}, lambda batch: batch.edge_label_index.shape == (2, 10)),
    "edge_label": ({"edge_label": LABELS}, lambda batch: torch.equal(batch.edge_label, LABELS[:10])),
    "edge_label_time": (
        {"edge_label_time": TIMES, "time_attr": "time"},
        lambda batch: torch.equal(batch.edge_label_time, TIMES[:10]),
    ),
    "time_attr": (
        {"edge_label_time": TIMES, "time_attr": "time"},
        lambda batch: bool((batch.time[20:] <= TIMES[:10][batch.batch[20:]]).all()),
    ),
    "temporal_strategy": (
        {"edge_label_time": TIMES, "time_attr": "time", "temporal_strategy": "last"},
        lambda batch: batch.num_nodes > 20,
    ),
    "neg_sampling": (
        {"neg_sampling": NegativeSampling("triplet", 2)},
        lambda batch: batch.dst_neg_index.shape == (10, 2),
    ),
    "neg_sampling_ratio": ({"neg_sampling_ratio": 1.5}, lambda batch: int((batch.edge_label == 0).sum()) == 15),
}


def latest(batch):
    """The last neighbours of vertex 49 in time, of those that are not too late."""
    held = data()
    sources = held.edge_index[0, held.edge_index[1] == 49]
    times = held.time[sources]
    expected = times[times <= 49].sort().values[-3:]
    return batch.time[batch.edge_index[0, batch.edge_index[1] == 0]].sort().values.tolist() == expected.tolist()


def ordered(loader):
    return torch.cat([batch.input_id for batch in loader]).tolist()


# name: (options, what is true of the loader)
OF_LOADER = {
    "batch_size": ({"batch_size": 7}, lambda loader: next(iter(loader)).batch_size == 7),
    "shuffle": ({"shuffle": True}, lambda loader: sorted(ordered(loader)) == list(range(80)) != ordered(loader)),
    "sampler": ({"sampler": [5, 3]}, lambda loader: ordered(loader) == [5, 3]),
    "batch_sampler": (
        {"batch_size": 1, "batch_sampler": [[5], [3, 4]]},
        lambda loader: [batch.batch_size for batch in loader] == [1, 2],
    ),
    "num_workers": ({"num_workers": 2}, lambda loader: ordered(loader) == list(range(80))),
    "pin_memory": ({"pin_memory": True}, lambda loader: next(iter(loader)).x.is_pinned() == has_device()),
    "drop_last": ({"batch_size": 30, "drop_last": True}, lambda loader: len(loader) == len(list(loader)) == 2),
    "timeout": ({"num_workers": 1, "timeout": 90}, lambda loader: ordered(loader) == list(range(80))),
    "worker_init_fn": (
        {"num_workers": 1, "worker_init_fn": start, "transform": count_threads},
        lambda loader: next(iter(loader)).threads == 3,
    ),
    "multiprocessing_context": (
        {"num_workers": 1, "multiprocessing_context": "fork"},
        lambda loader: ordered(loader) == list(range(80)),
    ),
    "generator": (
        {"shuffle": True, "generator": torch.Generator().manual_seed(8)},
        lambda loader: ordered(loader) == ordered(nodes(shuffle=True, generator=torch.Generator().manual_seed(8))),
    ),
    "prefetch_factor": ({"num_workers": 1, "prefetch_factor": 4}, lambda loader: loader.prefetch_factor == 4),
    "persistent_workers": (
        {"num_workers": 1, "persistent_workers": True},
        lambda loader: ordered(loader) == ordered(loader) == list(range(80)),
    ),
    "in_order": ({"num_workers": 2, "in_order": False}, lambda loader: sorted(ordered(loader)) == list(range(80))),
}
REPLACED = {"dataset", "collate_fn"}  # are those of a loader itself
OBSOLETE = {"pin_memory_device"}


def has_device():
    return torch.accelerator.is_available()


def is_ours(base):
    return base.__module__.startswith("tgraph.")


def arguments(function):
    return set(inspect.signature(function).parameters) - {"self", "kwargs", "data"}


def test_the_tables_are_complete():
    assert set(OF_NODES) == arguments(theirs.NeighborLoader.__init__)
    assert set(OF_LINKS) == arguments(theirs.LinkNeighborLoader.__init__)
    assert set(OF_LOADER) | REPLACED | OBSOLETE == arguments(DataLoader.__init__)


@pytest.mark.parametrize("name", OF_NODES)
def test_arguments_of_neighbor_loader(name):
    options, holds = OF_NODES[name]
    assert holds(next(iter(nodes(**options))))


@pytest.mark.parametrize("name", OF_LINKS)
def test_arguments_of_link_neighbor_loader(name):
    options, holds = OF_LINKS[name]
    assert holds(next(iter(links(**options))))


@pytest.mark.filterwarnings("ignore:'pin_memory' argument")
@pytest.mark.parametrize("name", OF_LOADER)
def test_arguments_of_data_loaders(name):
    options, holds = OF_LOADER[name]
    assert holds(nodes(**options))


def test_arguments_that_are_not_known():
    for make in (nodes, links):
        with pytest.raises(TypeError, match="neighbours"):
            make(neighbours=3)


@pytest.mark.parametrize("name", ["NeighborLoader", "LinkNeighborLoader"])
def test_help_names_the_arguments(name):
    expected = list(inspect.signature(getattr(theirs, name)).parameters)
    found = list(inspect.signature(getattr(pyg, name)).parameters)
    assert found == [*expected[:-1], "prefetch", "kwargs"]


def test_the_others_take_the_same_arguments():
    for name in pyg.__all__:
        if not hasattr(theirs, name) or name in ("NeighborLoader", "LinkNeighborLoader", "NeighborSampler"):
            continue
        taken = set().union(*(arguments(base.__init__) for base in getattr(pyg, name).__mro__ if is_ours(base)))
        assert arguments(getattr(theirs, name).__init__) <= taken | {"dataset"}, name


def test_types_and_arguments_of_hgt():
    held = HeteroData()
    held["paper"].x = torch.rand(40, 2)
    held["paper", "cites", "paper"].edge_index = torch.randint(40, (2, 300))
    loader = pyg.HGTLoader(
        *(held, [4], ("paper", torch.arange(9)), False, mark, double, False), batch_size=3, num_workers=1
    )
    batch = next(iter(loader))
    assert batch.marked == os.getpid() and batch["paper"].input_id.tolist() == [0, 2, 4]
