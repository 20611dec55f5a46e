"""What networkx's backend tgraph runs: functions by name, and what each leaves to networkx."""

FUNCTIONS: dict[str, str] = {
    "adamic_adar_index": "",
    "adjacency_matrix": "",
    "adjacency_spectrum": "",
    "all_pairs_all_shortest_paths": "",
    "all_pairs_bellman_ford_path": "",
    "all_pairs_bellman_ford_path_length": "",
    "all_pairs_dijkstra": "",
    "all_pairs_dijkstra_path": "",
    "all_pairs_dijkstra_path_length": "",
    "all_pairs_lowest_common_ancestor": "",
    "all_pairs_node_connectivity": "Left to networkx: flow_func but solver of networkx.",
    "all_pairs_shortest_path": "",
    "all_pairs_shortest_path_length": "",
    "all_shortest_paths": "",
    "all_triangles": "Left to networkx: nbunch.",
    "ancestors": "",
    "approximate_all_pairs_node_connectivity": "",
    "approximate_local_node_connectivity": "",
    "approximate_node_connectivity": "",
    "articulation_points": "",
    "attracting_components": "",
    "attribute_assortativity_coefficient": "Left to networkx: nodes.",
    "attribute_mixing_dict": "",
    "average_clustering": "",
    "average_degree_connectivity": "Left to networkx: multigraphs with weights.",
    "average_neighbor_degree": "Left to networkx: multigraphs with weights.",
    "average_node_connectivity": "Left to networkx: flow_func but solver of networkx.",
    "average_shortest_path_length": "",
    "balanced_tree": "Left to networkx: create_using but class of networkx.",
    "barbell_graph": "Left to networkx: create_using but class of networkx.",
    "bellman_ford_path": "",
    "bellman_ford_path_length": "",
    "bellman_ford_predecessor_and_distance": "",
    "bethe_hessian_matrix": "Left to networkx: edges with the attribute weight.",
    "bethe_hessian_spectrum": "Left to networkx: edges with the attribute weight.",
    "betweenness_centrality": "Left to networkx: weights that are not positive.",
    "betweenness_centrality_subset": "Left to networkx: weight.",
    "bfs_edges": "Left to networkx: sort_neighbors.",
    "bfs_layers": "",
    "bfs_predecessors": "Left to networkx: sort_neighbors.",
    "bfs_successors": "Left to networkx: sort_neighbors.",
    "bfs_tree": "Left to networkx: sort_neighbors.",
    "biadjacency_matrix": "",
    "biconnected_component_edges": "Left to networkx: self-loops.",
    "biconnected_components": "",
    "bidirectional_dijkstra": "",
    "bidirectional_shortest_path": "",
    "binomial_tree": "Left to networkx: create_using but class of networkx.",
    "bipartite_betweenness_centrality": "",
    "bipartite_closeness_centrality": "",
    "bipartite_degree_centrality": "",
    "boundary_expansion": "",
    "bridges": "Left to networkx: root.",
    "bull_graph": "Left to networkx: create_using but class of networkx.",
    "caveman_graph": "",
    "center": "Left to networkx: usebounds.",
    "chvatal_graph": "Left to networkx: create_using but class of networkx.",
    "circulant_graph": "Left to networkx: create_using but class of networkx.",
    "circular_ladder_graph": "Left to networkx: create_using but class of networkx.",
    "closeness_centrality": "",
    "closeness_vitality": "",
    "clustering": "",
    "cn_soundarajan_hopcroft": "",
    "colliders": "Left to networkx: multigraphs.",
    "color": "",
    "common_neighbor_centrality": "",
    "complement": "Left to networkx: graphs of more than 20,000 nodes.",
    "complete_bipartite_graph": "Left to networkx: n1 but count; n2 but count; create_using but undirected class of
    networkx.", "complete_graph": "Left to networkx: n but count; create_using but class of networkx.",
    "complete_multipartite_graph": "", "compose": "Left to networkx: multigraphs that share nodes.", "compose_all":
    "Left to networkx: multigraphs that share nodes.", "condensation": "Left to networkx: scc.", "conductance": "",
    "connected_caveman_graph": "", "connected_components": "", "constraint": "Left to networkx: nodes; weights that are
    not positive.", "convert_node_labels_to_integers": "Left to networkx: ordering but default.", "core_number": "",
    "cubical_graph": "Left to networkx: create_using but class of networkx.", "current_flow_betweenness_centrality":
    "Left to networkx: dtype but float; solver but full, lu, cg; multigraphs; self-loops; weights not above 0.",
    "current_flow_closeness_centrality": "Left to networkx: dtype but float; solver but full, lu, cg; weights that are
    not positive.", "cut_size": "", "cycle_graph": "Left to networkx: create_using but class of networkx.",
    "dag_longest_path": "Left to networkx: topo_order; default_weight without weight.", "dag_longest_path_length": "Left
    to networkx: default_weight without weight.", "davis_southern_women_graph": "", "degree_assortativity_coefficient":
    "Left to networkx: x but in, out; y but in, out.", "degree_centrality": "", "degree_mixing_dict": "Left to networkx:
    x but in, out; y but in, out; weights but Python's integers.", "degree_pearson_correlation_coefficient": "Left to
    networkx: x but in, out; y but in, out.", "density": "", "desargues_graph": "Left to networkx: create_using but
    class of networkx.", "descendants": "", "descendants_at_distance": "", "dfs_edges": "Left to networkx: depth_limit
    but positive; sort_neighbors.", "dfs_postorder_nodes": "Left to networkx: depth_limit but positive;
    sort_neighbors.", "dfs_predecessors": "Left to networkx: depth_limit but positive; sort_neighbors.",
    "dfs_preorder_nodes": "Left to networkx: depth_limit but positive; sort_neighbors.", "dfs_successors": "Left to
    networkx: depth_limit but positive; sort_neighbors.", "dfs_tree": "Left to networkx: depth_limit but positive;
    sort_neighbors.", "diameter": "Left to networkx: usebounds.", "diamond_graph": "Left to networkx: create_using but
    class of networkx.", "difference": "Left to networkx: multigraphs.", "digraph__new__": "Left to networkx: classes
    derived from networkx's.", "dijkstra_path": "", "dijkstra_path_length": "", "dijkstra_predecessor_and_distance": "",
    "directed_combinatorial_laplacian_matrix": "", "directed_laplacian_matrix": "", "directed_modularity_matrix": "",
    "disjoint_union": "", "disjoint_union_all": "", "dodecahedral_graph": "Left to networkx: create_using but class of
    networkx.", "dominating_set": "Left to networkx: start_with; directed graphs.", "dorogovtsev_goltsev_mendes_graph":
    "Left to networkx: create_using but class of networkx.", "eccentricity": "Left to networkx: sp.",
    "edge_betweenness_centrality": "Left to networkx: multigraphs; weights that are not positive.", "edge_boundary":
    "Left to networkx: data; keys.", "edge_connectivity": "Left to networkx: flow_func but solver of networkx; cutoff;
    multigraphs as a whole.", "edge_expansion": "", "effective_size": "Left to networkx: nodes; weight; multigraphs;
    directed graphs.", "efficiency": "", "ego_graph": "Left to networkx: undirected=True of directed graphs.",
    "eigenvector_centrality": "", "empty_graph": "Left to networkx: n but count; create_using but class of networkx;
    default but class of networkx.", "estrada_index": "Left to networkx: edges of weight 0.",
    "fast_could_be_isomorphic": "", "faster_could_be_isomorphic": "", "find_cliques": "Left to networkx: nodes.",
    "find_cliques_recursive": "Left to networkx: nodes.", "florentine_families_graph": "", "flow_hierarchy": "",
    "floyd_warshall": "Left to networkx: negative cycles.", "floyd_warshall_numpy": "",
    "floyd_warshall_predecessor_and_distance": "Left to networkx: negative cycles.", "forceatlas2_layout": "Left to
    networkx: sizes, masses, distributed_action, dim, store_pos_as; places differ.", "from_biadjacency_matrix": "Left to
    networkx: create_using but class of networkx; row_order; column_order; multigraphs of whole numbers.",
    "from_dict_of_lists": "Left to networkx: create_using but class with an edge in one list.", "from_pandas_edgelist":
    "Left to networkx: create_using but class of networkx; edge_attr but one attribute; edge_key.",
    "from_scipy_sparse_array": "Left to networkx: create_using but class of networkx; parallel_edges.", "frucht_graph":
    "Left to networkx: create_using but class of networkx.", "full_join": "Left to networkx: multigraphs.",
    "full_rary_tree": "Left to networkx: create_using but class of networkx.", "generalized_degree": "",
    "generic_bfs_edges": "Left to networkx: neighbors.", "get_edge_attributes": "", "get_node_attributes": "",
    "global_efficiency": "", "global_reaching_centrality": "Left to networkx: weight.", "gomory_hu_tree": "Left to
    networkx: flow_func but solver of networkx; multigraphs.", "google_matrix": "", "graph__new__": "Left to networkx:
    classes derived from networkx's.", "greedy_color": "Left to networkx: strategy but largest_first, random_sequential;
    interchange; directed graphs.", "grid_2d_graph": "Left to networkx: create_using but class of networkx.",
    "harmonic_centrality": "", "has_bridges": "", "has_cycle": "", "has_path": "", "heawood_graph": "Left to networkx:
    create_using but class of networkx.", "hits": "", "hoffman_singleton_graph": "", "hopcroft_karp_matching": "",
    "house_graph": "Left to networkx: create_using but class of networkx.", "house_x_graph": "Left to networkx:
    create_using but class of networkx.", "hypercube_graph": "", "icosahedral_graph": "Left to networkx: create_using
    but class of networkx.", "in_degree_centrality": "", "inter_community_edges": "Left to networkx: multigraphs.",
    "intersection": "Left to networkx: multigraphs.", "intersection_all": "Left to networkx: multigraphs.",
    "intra_community_edges": "", "is_arborescence": "", "is_attracting_component": "", "is_biconnected": "",
    "is_bipartite": "", "is_bipartite_node_set": "", "is_branching": "", "is_connected": "",
    "is_directed_acyclic_graph": "", "is_dominating_set": "", "is_empty": "", "is_forest": "", "is_isolate": "",
    "is_k_regular": "", "is_negatively_weighted": "Left to networkx: edge.", "is_partition": "", "is_reachable": "Left
    to networkx: graphs that are no tournaments.", "is_regular": "", "is_simple_path": "", "is_strongly_connected": "",
    "is_tournament": "", "is_tree": "", "is_triad": "", "is_weakly_connected": "", "is_weighted": "", "isolates": "",
    "jaccard_coefficient": "", "johnson": "", "k_core": "", "k_corona": "", "k_crust": "", "k_shell": "", "k_truss": "",
    "karate_club_graph": "", "katz_centrality": "", "kneser_graph": "", "kosaraju_strongly_connected_components": "Left
    to networkx: source.", "krackhardt_kite_graph": "Left to networkx: create_using but class of networkx.",
    "ladder_graph": "Left to networkx: create_using but class of networkx.", "laplacian_centrality": "Left to networkx:
    nodelist but list; directed graphs.", "laplacian_matrix": "", "laplacian_spectrum": "", "leiden_communities": "",
    "les_miserables_graph": "", "local_edge_connectivity": "Left to networkx: flow_func but solver of networkx;
    auxiliary; residual; cutoff.", "local_efficiency": "", "local_node_connectivity": "Left to networkx: flow_func but
    solver of networkx; auxiliary; residual; cutoff.", "local_reaching_centrality": "Left to networkx: paths; weight.",
    "lollipop_graph": "Left to networkx: create_using but class of networkx.", "louvain_communities": "Left to networkx:
    threshold but 1e-07; the partition of another chance than networkx's.", "louvain_partitions": "Left to networkx:
    threshold but 1e-07; the partition of another chance than networkx's.", "lowest_common_ancestor": "",
    "max_weight_clique": "Left to networkx: weight.", "maximal_independent_set": "Left to networkx: nodes; the choice of
    another chance than networkx's.", "maximal_matching": "", "maximum_flow": "Left to networkx: flow_func but solver of
    networkx; multigraphs; options of flow_func.", "maximum_flow_value": "Left to networkx: flow_func but solver of
    networkx; multigraphs; options of flow_func.", "maximum_spanning_edges": "Left to networkx: algorithm but kruskal;
    data but True, False; weights that are NaN.", "maximum_spanning_tree": "Left to networkx: algorithm but kruskal;
    weights that are NaN.", "minimum_cut": "Left to networkx: flow_func but solver of networkx; multigraphs; options of
    flow_func.", "minimum_cut_value": "Left to networkx: flow_func but solver of networkx; multigraphs; options of
    flow_func.", "minimum_edge_cut": "Left to networkx: flow_func but solver of networkx; multigraphs as a whole.",
    "minimum_node_cut": "Left to networkx: flow_func but solver of networkx.", "minimum_spanning_edges": "Left to
    networkx: algorithm but kruskal; data but True, False; weights that are NaN.", "minimum_spanning_tree": "Left to
    networkx: algorithm but kruskal; weights that are NaN.", "minimum_st_edge_cut": "Left to networkx: flow_func but
    solver of networkx; auxiliary; residual.", "minimum_st_node_cut": "Left to networkx: flow_func but solver of
    networkx; auxiliary; residual.", "mixing_expansion": "", "modularity": "Left to networkx: negative weights.",
    "modularity_matrix": "", "moebius_kantor_graph": "Left to networkx: create_using but class of networkx.",
    "multi_source_dijkstra": "", "multi_source_dijkstra_path": "", "multi_source_dijkstra_path_length": "",
    "multidigraph__new__": "Left to networkx: classes derived from networkx's.", "multigraph__new__": "Left to networkx:
    classes derived from networkx's.", "mutual_weight": "", "negative_edge_cycle": "", "node_boundary": "",
    "node_clique_number": "Left to networkx: nodes; cliques; separate_nodes.", "node_connected_component": "",
    "node_connectivity": "Left to networkx: flow_func but solver of networkx.", "node_expansion": "", "node_redundancy":
    "", "normalized_cut_size": "", "normalized_laplacian_matrix": "", "normalized_laplacian_spectrum": "", "null_graph":
    "Left to networkx: create_using but class of networkx.", "number_attracting_components": "",
    "number_connected_components": "", "number_of_isolates": "", "number_of_selfloops": "",
    "number_strongly_connected_components": "", "number_weakly_connected_components": "",
    "numeric_assortativity_coefficient": "Left to networkx: nodes; graphs without edges.", "octahedral_graph": "Left to
    networkx: create_using but class of networkx.", "onion_layers": "", "out_degree_centrality": "",
    "overall_reciprocity": "Left to networkx: multigraphs.", "pagerank": "", "pappus_graph": "", "partition_quality":
    "", "path_graph": "Left to networkx: n but count; create_using but class of networkx.", "percolation_centrality":
    "Left to networkx: weights that are not positive; states that leave nothing to others.", "periphery": "Left to
    networkx: usebounds.", "petersen_graph": "Left to networkx: create_using but class of networkx.", "predecessor": "",
    "preferential_attachment": "", "ra_index_soundarajan_hopcroft": "", "radius": "Left to networkx: usebounds.",
    "reciprocity": "Left to networkx: multigraphs.", "relabel_nodes": "Left to networkx: copy but True; nodes that are
    given one name.", "resource_allocation_index": "", "reverse": "Left to networkx: graphs of networkx's with
    attributes.", "rich_club_coefficient": "Left to networkx: normalized.", "ring_of_cliques": "", "s_metric": "",
    "score_sequence": "", "sedgewick_maze_graph": "Left to networkx: create_using but class of networkx.", "sets": "",
    "shortest_path": "", "shortest_path_length": "", "shortest_simple_paths": "Left to networkx: nothing; the order of
    equally long paths is another than networkx's.", "simrank_similarity": "Left to networkx: edges with the attribute
    weight.", "single_source_all_shortest_paths": "", "single_source_bellman_ford": "",
    "single_source_bellman_ford_path": "", "single_source_bellman_ford_path_length": "", "single_source_dijkstra": "",
    "single_source_dijkstra_path": "", "single_source_dijkstra_path_length": "", "single_source_shortest_path": "",
    "single_source_shortest_path_length": "", "single_target_shortest_path": "", "single_target_shortest_path_length":
    "", "square_clustering": "Left to networkx: directed graphs.", "star_graph": "Left to networkx: n but count;
    create_using but class of networkx.", "stoer_wagner": "", "strongly_connected_components": "",
    "subgraph_centrality": "Left to networkx: edges of weight 0.", "symmetric_difference": "Left to networkx:
    multigraphs.", "tadpole_graph": "Left to networkx: create_using but class of networkx.", "tetrahedral_graph": "Left
    to networkx: create_using but class of networkx.", "to_dict_of_lists": "", "to_numpy_array": "Left to networkx:
    dtypes with fields; multigraph_weight other than sum, min, max.", "to_scipy_sparse_array": "",
    "topological_generations": "", "topological_sort": "", "tournament_is_strongly_connected": "Left to networkx: graphs
    that are no tournaments.", "tournament_matrix": "", "transitive_reduction": "", "transitivity": "",
    "triadic_census": "Left to networkx: nodelist.", "triangles": "", "trivial_graph": "Left to networkx: create_using
    but class of networkx.", "truncated_cube_graph": "Left to networkx: create_using but class of networkx.",
    "truncated_tetrahedron_graph": "Left to networkx: create_using but class of networkx.", "turan_graph": "",
    "tutte_graph": "Left to networkx: create_using but class of networkx.", "union": "", "union_all": "",
    "v_structures": "Left to networkx: multigraphs.", "volume": "", "weakly_connected_components": "", "wheel_graph":
    "Left to networkx: create_using but class of networkx.", "wiener_index": "", "windmill_graph": "",
    "within_inter_cluster": "", }
