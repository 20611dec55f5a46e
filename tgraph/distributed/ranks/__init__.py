"""The group of ranks: who owns which vertices, and what travels between them."""
