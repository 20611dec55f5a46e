"""The layers and their common base classes and functions."""
