"""Fixtures of the tests of layers."""

import pytest
import torch


@pytest.fixture
def float64():
    """Parameters and zeros are of float64, those that PyTorch Geometric adds to as well."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
