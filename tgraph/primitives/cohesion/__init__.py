"""Steps of what is dense: triangles, cliques, cores, trusses."""
