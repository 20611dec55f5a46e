"""What the tests of the command share."""

import functools

import pytest
import typer.main


@pytest.fixture(scope="session", autouse=True)
def commands_made_once():
    """All commands are made of their functions once, not again for each that is run, which takes longer than it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", functools.cache(typer.main.get_command), raising=False)
        yield
