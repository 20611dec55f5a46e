"""Programs on graphs that are read block by block, within a budget of memory."""
