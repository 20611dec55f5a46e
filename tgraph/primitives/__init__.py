"""Steps that graph algorithms share and that no composition of the five operators does as fast.

Each is one function on a graph and tensors, served by the backends as `aggregate` is, with a portable twin.
"""

from tgraph.primitives import attention, edges, intersection, joining, linear, peeling, sweeping, values, voting

__all__ = ["attention", "edges", "intersection", "joining", "linear", "peeling", "sweeping", "values", "voting"]
