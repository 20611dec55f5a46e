"""Parts that are larger than the memory of their rank: their arcs are read block by block."""
