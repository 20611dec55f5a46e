"""Cohesion: triangles per edge, trusses, onion layers, cliques."""
