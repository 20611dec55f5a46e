"""Formats that describe vertices and edges by name, with data of both: GraphML, GML, Pajek, GEXF, JSON, DOT and others.

Each module parses a file into a `Described`, of which `graph.graph_of` makes the graph, and writes the `rows.Rows` of a
graph.
"""
