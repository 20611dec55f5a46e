"""A file of the format that a module tests."""

import pytest


@pytest.fixture
def file(tmp_path, request):
    """Writes a text or bytes, by default under the module's NAME."""

    def create(content, name=None):
        path = tmp_path / (name or request.module.NAME)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return create
