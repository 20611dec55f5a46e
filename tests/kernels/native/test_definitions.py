"""Types of the C++ kernels are defined once: two of one name, compiled into one module, are one to the linker, which
keeps the functions of either for both."""

import re
from collections import defaultdict
from pathlib import Path

NATIVE = Path(__file__).parents[3] / "tgraph" / "kernels" / "native"
TYPE = re.compile(
    r"(?:template ?<[^>]*> )?(?:struct|class|enum class) (?:alignas\([^)]*\) )?(\w+)\b(?! *[;<])"
)  # no instantiations, no specialisations


def shared_types(path: Path):
    """The types that a file defines outside of functions and of unnamed namespaces."""
    unnamed = False
    for line in path.read_text().splitlines():
        if line in ("namespace {", "}  // namespace"):
            unnamed = line == "namespace {"
        elif not unnamed and not line.rstrip().endswith(";") and (found := TYPE.match(line)):
            yield found[1]


def test_no_two_files_define_a_type_of_one_name():
    files = defaultdict(set)
    for path in (*NATIVE.rglob("*.hpp"), *NATIVE.rglob("*.cpp")):
        for name in shared_types(path):
            files[name].add(str(path.relative_to(NATIVE)))
    assert len(files) > 50
    assert {name: places for name, places in files.items() if len(places) > 1} == {}
