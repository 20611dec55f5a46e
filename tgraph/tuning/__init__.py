"""Measured recommendations: `tune` for backends, and `advise` for graphs and the layers of models."""
