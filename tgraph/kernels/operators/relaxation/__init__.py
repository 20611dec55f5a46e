"""Relaxations, their rounds and the bitmaps of frontiers."""
