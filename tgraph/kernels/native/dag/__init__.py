"""Orders and transitive closures of acyclic graphs by compiled kernels."""
