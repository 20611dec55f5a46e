"""From edges to CSR: arguments in any container, sorting and checks."""
