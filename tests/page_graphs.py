"""Graphs that pages are made of in their tests."""

import networkx as nx
import numpy as np
import torch

import tgraph as tg

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</title></svg><script>window.hacked = 1</script>",
    "\u202egnp.exe",
    "\u2066\u2067\u2068isolates without an end",
    "\x00\x01\x1b[31mred\r\n",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:window.hacked=1",
    "שלום עולם",
    "مرحبا",
    "e" + "\u0301" * 30,
    "\ud800 half a pair",
    "",
    "  spaces  ",
    "&lt;b&gt; &amp;",
    "<!--<script>",
    "-->]]></style></textarea>",
    "{{ data }} {{data}} {{ data | json }}",
    "$a_$ and $100 to $200",
    "\\u003cb\\u003e \\alpha %s {0}",
    "\x07\x7f\x9b31m\ufffe\u2028",
    "`${window.hacked = 1}`",
    "x" * 1_000_000,
]


def hostile():
    """A cycle of vertices with such labels, and a chord."""
    n = len(HOSTILE)
    src, dst = [*range(n), 0], [*range(1, n), 0, 5]
    return tg.Graph.from_edges(src, dst, vertices=HOSTILE, directed=False)


def multigraph():
    """Self-loops, parallel edges, an isolated vertex, weights and huge ids."""
    ids = np.array([2**62 + i for i in range(6)])
    src, dst = torch.tensor([0, 0, 0, 1, 2, 3, 3]), torch.tensor([0, 1, 1, 2, 3, 0, 4])
    return tg.Graph.from_edges(src, dst, torch.arange(7) + 0.5, vertices=ids)


def small(directed):
    """A random graph that networkx can measure, and its form there, of which one vertex is isolated."""
    G = nx.gnp_random_graph(60, 0.08, seed=3, directed=directed)
    G.add_node(60)
    return tg.from_networkx(G), G
