"""Functions of networkx: plain, and by each of its backends that is installed.

    python -m bench.networkx [--edges 1000,100000,1000000,10000000] [--functions pagerank,triangles] [--limit 100]

R-MAT graphs with about sixteen neighbours for each node and a weight for each edge, added in random order: undirected,
directed, and directed without cycles. Beside networkx stand tgraph and, where they are installed, nx-parallel and
graphblas-algorithms. A backend is named in the call (`backend=`): the first call converts the graph, later ones find it
in networkx's cache. "auto" is what a user has who sets NETWORKX_BACKEND_PRIORITY=tgraph alone: calls that the backend
declines are networkx's. Results are compared with networkx's; that ours did run is read from the backend's history.

A call of networkx is ended after `limit` seconds: then the speed-up is at least what is shown, and is left out of the
medians. Each size and kind of graph is a process of its own. Writes bench/results/networkx.json and networkx.md;
`--resume` keeps the cells that are there, `--again` only writes their tables anew.
`python -m bench.networkx.conversions` measures the conversions by themselves.
"""
