"""Flows and cuts."""

from tgraph.algorithms.flow.global_cut import stoer_wagner
from tgraph.algorithms.flow.maximum_flow import maximum_flow, maximum_flow_value, minimum_cut, minimum_cut_value

__all__ = [
    "maximum_flow",
    "maximum_flow_value",
    "minimum_cut",
    "minimum_cut_value",
    "stoer_wagner",
]
