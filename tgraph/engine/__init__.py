"""Execution of programs: the loop of TENSORIZE and COMPUTE, its direction and order, checkpoints and traces."""
