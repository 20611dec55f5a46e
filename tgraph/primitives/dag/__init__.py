"""Orders of acyclic graphs."""
