import networkx as nx

# tgraph.networkx needs networkx 3.5, which needs Python 3.11.
collect_ignore_glob = ["test_*.py"] if tuple(map(int, nx.__version__.split(".")[:2])) < (3, 5) else []
