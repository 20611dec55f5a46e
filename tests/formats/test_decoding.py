"""What decodes a graph in a layout is what docs/limits.md lists."""

import decoding
import pytest

OTHERS = [kind for kind in decoding.KINDS if kind not in ("virtual", "cbm", "streamed")]


@pytest.mark.parametrize(
    "kind", ["virtual", "cbm", "streamed", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in OTHERS)]
)
def test_what_decodes_is_listed(kind, tmp_path):
    assert decoding.decoding(kind, tmp_path) == decoding.listed(kind), "run python tests/formats/decoding.py"
