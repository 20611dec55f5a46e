"""Reading dicts of networkx; the C++ is in this folder."""
