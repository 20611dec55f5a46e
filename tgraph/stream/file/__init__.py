"""Partitioned .tg files: blocks of arcs, written, converted to, read and checked."""
