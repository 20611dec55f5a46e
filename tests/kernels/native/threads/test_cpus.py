"""How many processors the kernels take a process to have."""

import os
import sys
from pathlib import Path

import interpreters
import pytest

from tgraph.core.system import native

kernels = native.load()
pytestmark = [
    pytest.mark.skipif(kernels is None, reason="the compiled kernels are not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="control groups and affinities are those of Linux"),
]

V1 = "34 24 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
V2 = "35 24 0:31 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"


@pytest.fixture
def system(tmp_path):
    """Writes files below a folder that replaces the root of the file system; {path: text}."""

    def write(files):
        for path, text in files.items():
            file = tmp_path / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return kernels.cpu_quota(str(tmp_path))

    return write


def test_no_control_groups(system):
    assert system({}) == 0


def test_version_2(system):
    files = {"/proc/self/cgroup": "0::/user/job\n", "/proc/self/mountinfo": V2}
    group = "/sys/fs/cgroup/user/job/cpu.max"
    assert system(files | {group: "max 100000\n"}) == 0
    assert system(files | {group: "150000 100000\n"}) == 1.5


def test_version_2_of_a_group_around(system):
    files = {"/proc/self/cgroup": "0::/user/job\n", "/proc/self/mountinfo": V2}
    files |= {"/sys/fs/cgroup/user/job/cpu.max": "400000 100000\n", "/sys/fs/cgroup/user/cpu.max": "50000 100000\n"}
    assert system(files) == 0.5


def test_version_1(system):
    files = {"/proc/self/cgroup": "5:memory:/a\n3:cpu,cpuacct:/a/b\n0::/\n", "/proc/self/mountinfo": V1}
    folder = "/sys/fs/cgroup/cpu,cpuacct/a"
    files |= {f"{folder}/b/cpu.cfs_quota_us": "-1\n", f"{folder}/b/cpu.cfs_period_us": "100000\n"}
    assert system(files) == 0
    assert system(files | {f"{folder}/cpu.cfs_quota_us": "20000\n", f"{folder}/cpu.cfs_period_us": "10000\n"}) == 2


def test_version_1_without_a_name_space(system):
    """In such a container the process reads the path outside of it, and sees its own group as the top."""
    mount = "34 24 0:30 /docker/4f608 /sys/fs/cgroup/cpu ro,relatime - cgroup cgroup rw,cpu\n"
    files = {"/proc/self/cgroup": "3:cpu:/docker/4f608\n", "/proc/self/mountinfo": mount}
    files |= {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}
    assert system(files) == 3


COUNT = """
import os, sys, torch
exec(os.environ.get("FIRST", ""))
from tgraph.core.system import native
torch.set_num_threads(2)
kernels = native.load()
print(kernels.thread_count(), kernels.cpus()["usable"], os.cpu_count())
"""


def count(first="", **environment):
    """(threads, processors to use, processors there are) in a process that does something first."""
    settings = {name: value for name, value in os.environ.items() if name != "TGRAPH_CPUS"}
    answer = interpreters.run(COUNT, env=settings | environment | {"FIRST": first})
    assert answer.returncode == 0, answer.stderr
    return tuple(map(int, answer.stdout.split()))


def test_threads_follow_the_affinity():
    threads, usable, _ = count("os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})")
    assert (threads, usable) == (1, 1)


def test_the_environment_overrides_the_system():
    threads, usable, _ = count("os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})", TGRAPH_CPUS="7")
    assert (threads, usable) == (2, 7)


@pytest.fixture
def group_of_one_cpu():
    """A control group, by version 1 or 2, whose processes get one processor's worth of time."""
    name = f"tgraph-test-{os.getpid()}"
    for parent, limits in (
        ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "100000"}),
        ("/sys/fs/cgroup", {"cpu.max": "100000 100000"}),
    ):
        group = Path(parent) / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for file, text in limits.items():
                (group / file).write_text(text)
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("no control group can be made here")


def test_threads_follow_the_quota(group_of_one_cpu):
    threads, usable, _ = count(f"open({str(group_of_one_cpu / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))")
    assert (threads, usable) == (1, 1)
