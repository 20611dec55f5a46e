"""What depends on the machine and on torch: the compiled kernels, devices, registered operators, folders."""
