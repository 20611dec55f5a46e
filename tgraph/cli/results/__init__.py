"""Kinds of results: the line that the command prints of each, and the table that --output writes."""
