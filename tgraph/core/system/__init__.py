"""Access to the machine and to torch: the compiled kernels, devices, registered operators, folders."""
