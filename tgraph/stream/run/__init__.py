"""Running programs on graphs that are read block by block, within a memory budget."""
