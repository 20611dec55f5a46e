"""The part of a rank: the arcs of its own vertices, as they are read, cut and split."""
