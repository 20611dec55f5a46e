"""Points of the plane."""
