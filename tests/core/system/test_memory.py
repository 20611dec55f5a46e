"""What the system says of memory, by its files."""

import pytest

from tgraph.core.system import memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A folder with the files that a system has: 1 GB available, no control groups yet."""
    (tmp_path / "meminfo").write_text("MemTotal:  2000000 kB\nMemAvailable:  1000000 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
    return tmp_path


def group(folder, names, limit, used, stat):
    """Files of a control group: a limit and what is used."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(stat)


SECOND = "memory.max", "memory.current"
FIRST = "memory.limit_in_bytes", "memory.usage_in_bytes"


def test_of_the_machine(system):
    assert memory.available_memory() == 1_024_000_000
    (system / "meminfo").write_text("nothing\n")
    assert memory.available_memory() is None
    (system / "meminfo").unlink()
    assert memory.available_memory() is None
    assert memory.memory_of_machine() > 0


def test_of_control_groups(system):
    (system / "own").write_text("0::/outer/inner\n")
    group(system / "groups" / "outer" / "inner", SECOND, "max", 500, "active_file 0\n")
    assert memory.available_memory() == 1_024_000_000
    group(system / "groups" / "outer", SECOND, 9000, 500, "anon 1\nactive_file 30\ninactive_file 20\n")
    assert memory.available_memory() == 8550
    group(system / "groups" / "outer" / "inner", SECOND, 300, 500, "anon 1\n")
    assert memory.available_memory() == 0


def test_of_control_groups_of_the_first_version(system):
    (system / "own").write_text("8:pids:/\n4:memory,hugetlb:/rank\n0::/\n")
    stat = "active_file 1\ninactive_file 1\ntotal_active_file 40\ntotal_inactive_file 60\n"
    group(system / "groups" / "memory" / "rank", FIRST, 7000, 1000, stat)
    assert memory.available_memory() == 6100
    group(system / "groups" / "memory", FIRST, 2**63 - 4096, 1000, stat)
    assert memory.available_memory() == 6100
