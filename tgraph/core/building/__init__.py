"""From edges to CSR: arguments in any container, sorting, checks, and synthetic graphs."""
