"""What measures and recommends: `tune` for backends, and `advise` for graphs and the layers of models."""
