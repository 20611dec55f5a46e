"""What `tgraph doctor` says of a process group: ranks that are alike, and those that are not."""

from dataclasses import replace

import pytest

from tgraph.cli.group import Rank, alike, compared, crowding

RANK = Rank("a", {"tgraph": "1.0", "torch": "2.9"}, {"native": "cpu", "sparse": "cpu"}, 1, frozenset({0, 1}), 0.0)


def test_ranks_that_are_alike():
    ranks = [RANK, RANK, replace(RANK, host="b"), RANK]
    assert dict(compared(ranks)) == {
        "ranks": "4 on 2 hosts (a: ranks 0 to 1, 3; b: rank 2)",
        "versions": "the same: tgraph 1.0, torch 2.9",
        "kernels": "the same",
        "threads on a": "3 of 3 ranks on 2 cores, too many: they wait for each other; start fewer ranks there",
        "threads on b": "1 of 1 rank on 2 cores",
    }


def test_differences_name_the_ranks():
    others = [replace(RANK, versions={"tgraph": "1.0", "torch": "2.8"}, kernels={"native": "nothing here", "x": "cpu"})]
    said = dict(compared([RANK, *others, RANK]))
    assert said["versions"] == "different: torch is '2.9' on ranks 0, 2, '2.8' on rank 1; install the same everywhere"
    assert said["kernels"].startswith("different: native is 'cpu' on ranks 0, 2, 'nothing here' on rank 1; sparse is")
    assert "x is 'missing' on ranks 0, 2, 'cpu' on rank 1; give all" in said["kernels"]
    assert alike([{}, {}], "mend it", False) == "the same"


@pytest.mark.parametrize(
    "changes, said",
    [
        ([{}, {}], "2 of 2 ranks on 2 cores"),
        ([{"threads": 4}, {"cores": frozenset({1, 2, 3})}], "5 of 2 ranks on 4 cores, too many"),
        ([{"threads": 4}, {"cores": frozenset({1, 2, 3})}], "set OMP_NUM_THREADS=2"),
        ([{}, {"quota": 1.5}], "2 of 2 ranks on 1.5 cores, too many"),
        ([{"cores": frozenset({0})}, {"cores": frozenset({1})}], "2 of 2 ranks on 2 cores"),
    ],
)
def test_threads_are_counted_against_the_cores_that_ranks_may_use(changes, said):
    found = crowding([replace(RANK, **each) for each in changes])
    assert said in found and ("too many" in found) == ("too many" in said or "set" in said)
