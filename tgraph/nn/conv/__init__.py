"""The layers, and what they share."""
