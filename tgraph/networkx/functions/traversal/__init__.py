"""Searches, and orders of acyclic graphs."""
