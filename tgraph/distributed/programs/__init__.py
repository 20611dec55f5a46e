"""Programs over the parts of all ranks."""
