"""What runs a program: the loop of TENSORIZE and COMPUTE, its direction and order, checkpoints and traces."""
