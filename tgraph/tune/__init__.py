"""What measures and recommends: backends, layouts of the arcs, and what the layers of a model cost."""
