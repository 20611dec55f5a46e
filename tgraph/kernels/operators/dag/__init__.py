"""Orders and transitive closures of acyclic graphs."""
