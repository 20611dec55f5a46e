"""What the shim that runs CUDA kernels on the host stops with a message: all that is undefined on a GPU."""

import faulthandler
import os
import tempfile
from pathlib import Path

import pytest
import torch
from host import SANITIZED, THREADS

from tgraph.kernels.cuda.runtime import Kernel

SOURCE = str(Path(__file__).parent / "faulty_samples.cu")
BLOCKS, SIZE = 2, 64

FAULTS = {
    "reads_lane_outside_mask": "a shuffle reads a lane that takes no part in it: __shfl_sync at",
    "reads_lane_that_block_lacks": "a shuffle reads a lane that takes no part in it: __shfl_sync at",
    "pairs_different_operations": "lanes of one warp operation are at different ones: __",
    "pairs_different_masks": "have different masks",
    "leaves_lanes_behind": "some lanes of a warp operation's mask never come to it",
    "diverges_at_barrier": "threads of a block wait at different barriers: __syncthreads at",
    "ends_before_barrier": "threads have ended before a barrier of others",
}
UNWRITTEN = ("reads_unwritten_number", "reads_unwritten_place", "adds_to_unwritten_number")
MISALIGNED = ("loads_misaligned_vector", "stores_misaligned_vector")
RACES = ("races_between_blocks", "reads_what_others_change")
SOUND = ("has_no_fault", "adds_between_blocks")


@pytest.fixture(scope="module")
def run(host):
    """run(name, threads): exit code and output of a process that launches the kernel."""
    names = (*FAULTS, *UNWRITTEN, *MISALIGNED, *RACES, *SOUND, "takes_numbers")
    host.prepare(Kernel(SOURCE, name) for name in names)

    def launch(name, threads=SIZE, *given):
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:  # pragma: no cover
                faulthandler.disable()
                os.dup2(said.fileno(), 2)
                host.launch(Kernel(SOURCE, name), BLOCKS, threads, *(given or [torch.zeros(64, dtype=torch.int64)]))
                os._exit(0)
            status = os.waitpid(child, 0)[1]
            said.seek(0)
            return status, said.read().decode()

    return launch


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_stops_with_a_message(run, name):
    status, said = run(name, 16 if "lacks" in name else SIZE)
    assert status != 0 and FAULTS[name] in said


@pytest.mark.skipif(SANITIZED or THREADS > 1, reason="shared memory is watched without sanitizers")
@pytest.mark.parametrize("name", UNWRITTEN)
def test_shared_memory_that_nobody_wrote_is_not_read(run, name):
    status, said = run(name)
    assert status != 0 and "shared memory is read that no thread of the block has written" in said


@pytest.mark.skipif(THREADS > 1, reason="alignment is not checked with ThreadSanitizer")
@pytest.mark.parametrize("name", MISALIGNED)
def test_vectors_lie_at_multiples_of_their_size(run, name):
    status, said = run(name)
    assert status != 0 and "misaligned address" in said


@pytest.mark.skipif(THREADS == 1, reason="blocks run at the same time with TGRAPH_SHIM_THREADS alone")
@pytest.mark.parametrize("name", RACES)
def test_blocks_do_not_race(run, name):
    status, said = run(name)
    assert status != 0 and "data race" in said


@pytest.mark.parametrize("name", SOUND)
def test_what_is_defined_goes_through(run, name):
    assert run(name)[0] == 0


@pytest.mark.parametrize(
    "given",
    [
        (None, 1, 0.5),
        (None, 1, 1, None),
        (None, 0.5, 0.5, None),
        (torch.zeros(2).double(), 1, 0.5, None),
        (3, 1, 0.5, 3),
    ],
)
def test_arguments_have_the_types_of_the_parameters(run, given):
    status, said = run("takes_numbers", 1, *given)
    assert status != 0 and "a kernel of 4 parameters is not called with" in said


def test_arguments_that_fit_are_passed(run):
    for given in ((None, 1, 0.5, None), (torch.zeros(2), True, 1.0, torch.zeros(2, dtype=torch.int64))):
        assert run("takes_numbers", 1, *given)[0] == 0
