"""The operators on compressed rows, which `tgraph.kernels.operators.compressed` implements."""

from __future__ import annotations

from tgraph.core.dispatch import Operator
from tgraph.kernels.operators.compressed import cbm, pairing, unfolding
from tgraph.kernels.operators.compressed import evaluate as dag

evaluate_dag = Operator("evaluate_dag", dag.evaluate)
count_paths = Operator("evaluate_dag", dag.evaluate, is_noted=False)
step_dag = Operator("step_dag", dag.affine_step)
dag_rows = Operator("dag_rows", dag.rows)
replace_pairs = Operator("replace_pairs", pairing.replace_pairs, is_noted=False)
unfold_rows = Operator("unfold_rows", unfolding.unfold)
find_parents = Operator("find_parents", cbm.find_parents, is_noted=False)
count_deltas = Operator("count_deltas", cbm.count_deltas, is_noted=False)
list_deltas = Operator("list_deltas", cbm.list_deltas, is_noted=False)
