"""Cohesion in torch operators: triangles per edge, trusses, onion layers, cliques."""
