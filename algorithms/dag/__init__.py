"""Directed graphs without cycles: their orders, longest paths, closure and reduction."""

from tgraph.algorithms.dag.longest_path import dag_longest_path, dag_longest_path_length
from tgraph.algorithms.dag.order import find_cycle, is_dag, topological_generations, topological_sort
from tgraph.algorithms.dag.transitive import transitive_closure, transitive_reduction

__all__ = [
    "dag_longest_path",
    "dag_longest_path_length",
    "find_cycle",
    "is_dag",
    "topological_generations",
    "topological_sort",
    "transitive_closure",
    "transitive_reduction",
]
