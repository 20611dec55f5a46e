// The array types of all bindings.
#pragma once

#include "base/arrays.hpp"
#include "base/numbers.hpp"

namespace tgraph {

// Numbers as Python passes them: bfloat16 and float16 as int16 bits.
template <class T>
using Passed = std::conditional_t<is_narrow<T>, int16_t, T>;

void bind_batch_sums(nb::module_& module);
void bind_edge_index(nb::module_& module);
void bind_values(nb::module_& module);
void bind_csr(nb::module_& module);
void bind_aggregate(nb::module_& module);
void bind_pages(nb::module_& module);
void bind_attention(nb::module_& module);
void bind_relax(nb::module_& module);
void bind_power(nb::module_& module);
void bind_join(nb::module_& module);
void bind_local_relax(nb::module_& module);
void bind_block(nb::module_& module);
void bind_sweep(nb::module_& module);
void bind_intersect(nb::module_& module);
void bind_peel(nb::module_& module);
void bind_point_to_point(nb::module_& module);
void bind_parents(nb::module_& module);
void bind_bellman_ford(nb::module_& module);
void bind_vote(nb::module_& module);
void bind_sell(nb::module_& module);
void bind_sell_narrow(nb::module_& module);
void bind_dag(nb::module_& module);
void bind_pairs(nb::module_& module);
void bind_cbm(nb::module_& module);
void bind_unfold(nb::module_& module);
void bind_mirror(nb::module_& module);
void bind_tiles(nb::module_& module);
void bind_tile_sums(nb::module_& module);

}  // namespace tgraph
