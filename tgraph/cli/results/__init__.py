"""Kinds of results: the line in which the command tells each, and the table that --output writes of it."""
