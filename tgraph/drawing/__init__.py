"""Layouts of the vertices of a graph, and pictures of it."""

from tgraph.core.building import memory
from tgraph.drawing.draw import draw
from tgraph.drawing.force import forceatlas2, spring
from tgraph.drawing.layered import layered
from tgraph.drawing.placed import circular, spectral

__all__ = ["circular", "draw", "forceatlas2", "layered", "spectral", "spring"]

memory.guard(globals())
