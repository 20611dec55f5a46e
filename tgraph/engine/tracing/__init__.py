"""What a run did: its trace, as a table, as pictures and as a page."""
