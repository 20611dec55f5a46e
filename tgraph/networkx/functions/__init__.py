"""The functions of networkx that run here, by topic."""

import importlib
import pkgutil


def load() -> None:
    """Import each module, whose functions register themselves."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
