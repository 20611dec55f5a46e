"""Facts for networkx about its backend tgraph when it is imported: names and texts only, no torch."""

from _tgraph_networkx.functions import FUNCTIONS


def get_info() -> dict:
    """The entry point `networkx.backend_info`."""
    return {
        "backend_name": "tgraph",
        "project": "tgraph",
        "package": "tgraph",
        "short_summary": "Compiled kernels on tensors, on any CPU.",
        "default_config": {},
        "functions": {name: {"additional_docs": gaps} if gaps else {} for name, gaps in FUNCTIONS.items()},
    }
