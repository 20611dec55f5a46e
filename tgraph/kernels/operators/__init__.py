"""Operators: one file for each, in the topics of `tgraph.algorithms`; the body is the portable implementation, in torch
operators alone, which supports every dtype and device and is the reference for the compiled ones."""
