// Whether arcs are there in both directions: the sum that core/building/symmetry.py describes, over some arcs of a CSR.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bindings.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
uint64_t mixed(uint64_t word) {
    word += 0x9E3779B97F4A7C15;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
    return word ^ (word >> 31);
}

template <class Neighbor, bool weighted>
uint64_t sum_of(const int64_t* offset, int64_t num_rows, const Neighbor* neighbors, const int64_t* words, Range arcs) {
    uint64_t sum = 0;
    int64_t arc = arcs.begin;
    for (int64_t row = std::upper_bound(offset, offset + num_rows + 1, arc) - offset - 1; arc < arcs.end; ++row) {
        uint64_t forth = 0, back = 0;
        for (const int64_t end = std::min(arcs.end, offset[row + 1]); arc < end; ++arc) {
            const auto other = static_cast<uint64_t>(neighbors[arc]);
            const uint64_t factor = weighted ? mixed(static_cast<uint64_t>(words[arc])) : 1;
            forth += factor * mixed(~other);
            back += factor * mixed(other);
        }
        const auto vertex = static_cast<uint64_t>(row);
        sum += mixed(vertex) * forth - mixed(~vertex) * back;
    }
    return sum;
}

// The sum over the arcs from `begin` to `end`, whose weights are `words`, [end - begin].
template <class Neighbor>
uint64_t mirror(In<int64_t> offset, In<Neighbor> neighbors, std::optional<In<int64_t>> words, int64_t begin,
                int64_t end) {
    const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1, size = end - begin;
    if (begin < 0 || end > static_cast<int64_t>(neighbors.shape(0)) || size < 0 ||
        (words && static_cast<int64_t>(words->shape(0)) != size))
        throw nb::value_error("mirror: no such arcs");
    const int64_t* first = offset.data();
    const Neighbor* ends = neighbors.data();
    const int64_t* weights = words ? words->data() - begin : nullptr;
    nb::gil_scoped_release released;
    const int parts = part_count(size);
    std::vector<uint64_t> sums(parts);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(size, part, parts), arcs{begin + range.begin, begin + range.end};
        sums[part] = weights ? sum_of<Neighbor, true>(first, num_rows, ends, weights, arcs)
                             : sum_of<Neighbor, false>(first, num_rows, ends, weights, arcs);
    });
    uint64_t sum = 0;
    for (const uint64_t part : sums) sum += part;
    return sum;
}

}  // namespace

void bind_mirror(nb::module_& module) {
    using nb::arg;
    module.def("mirror", &mirror<int32_t>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("words").noconvert().none(), arg("begin"), arg("end"));
    module.def("mirror", &mirror<int64_t>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("words").noconvert().none(), arg("begin"), arg("end"));
}

}  // namespace tgraph
