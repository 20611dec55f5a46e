"""Steps of paths and flows."""
