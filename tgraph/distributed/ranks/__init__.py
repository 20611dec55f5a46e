"""The group of ranks: ownership of vertices, and messages."""
