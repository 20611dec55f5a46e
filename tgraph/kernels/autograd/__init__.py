"""Operators registered with torch, with gradients of any order, on whichever backend serves them."""
