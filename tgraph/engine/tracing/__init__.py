"""The trace of a run, as a table, as pictures and as a page."""
