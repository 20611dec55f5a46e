"""Features of vertices in files, and aggregation of them."""
