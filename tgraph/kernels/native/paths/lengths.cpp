// Distances over weights from many sources, each search by one thread: for small graphs, where several threads take
// longer to begin than to search. Vertices nearer than a threshold come first, in the order in which they were reached,
// and where none is left the threshold moves on (Davidson, Baxter, Garland and Owens, "Work-efficient parallel GPU
// methods for single-source shortest paths", 2014).
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/bindings.hpp"
#include "base/neighbor.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class Value>
constexpr Value unreached = std::numeric_limits<Value>::has_infinity ? std::numeric_limits<Value>::infinity()
                                                                     : std::numeric_limits<Value>::max();

template <class Value>
class Search {
public:
    Search(const int64_t* offset, const Neighbor* neighbors, const Value* weights, Value width)
        : offset_(offset), neighbors_(neighbors), weights_(weights), width_(width) {}

    // found : `unreached` everywhere.
    void run(int64_t source, Value* found) {
        found[source] = 0, threshold_ = width_;
        near_.assign(1, {0, source}), far_.clear();
        do {
            for (std::size_t i = 0; i < near_.size(); ++i) {
                const auto [distance, u] = near_[i];
                if (distance == found[u]) relax(distance, u, found);  // or it was reached again, by less
            }
        } while (move_on(found));
    }

private:
    struct Reached {
        Value distance;
        int64_t vertex;
    };

    const int64_t* const offset_;
    const Neighbor* const neighbors_;
    const Value* const weights_;
    const Value width_;
    Value threshold_ = 0;
    std::vector<Reached> near_, far_;

    void relax(Value distance, int64_t u, Value* found) {
        for (int64_t arc = offset_[u], end = offset_[u + 1]; arc < end; ++arc) {
            const Value sum = distance + weights_[arc];
            const int64_t v = neighbors_[arc];
            if (!(sum < found[v])) continue;
            found[v] = sum;
            (sum < threshold_ ? near_ : far_).push_back({sum, v});
        }
    }

    // Whether there are vertices beyond the threshold, the nearest of which come next.
    bool move_on(const Value* found) {
        near_.clear();
        std::erase_if(far_, [&](const Reached& each) { return each.distance != found[each.vertex]; });
        if (far_.empty()) return false;
        const auto is_nearer = [](const Reached& a, const Reached& b) { return a.distance < b.distance; };
        const Value least = std::min_element(far_.begin(), far_.end(), is_nearer)->distance;
        threshold_ = width_ < unreached<Value> - least ? least + width_ : unreached<Value>;
        const auto nearer = [&](const Reached& each) { return each.distance <= least || each.distance < threshold_; };
        std::copy_if(far_.begin(), far_.end(), std::back_inserter(near_), nearer);
        std::erase_if(far_, nearer);
        return true;
    }
};

// weights : none of them negative or NaN, with sums that the type holds. width : of a bucket, positive. distance :
// [sources, n]; integers are -1 where unreached.
template <class Value>
void lengths(In<int64_t> offset, In<Neighbor> neighbors, In<Value> weights, Value width, In<int64_t> sources,
             Out<Value> distance) {
    const int64_t n = static_cast<int64_t>(offset.shape(0)) - 1, count = static_cast<int64_t>(sources.shape(0));
    if (weights.shape(0) != neighbors.shape(0) || static_cast<int64_t>(distance.shape(0)) != count * n)
        throw std::invalid_argument("weights, distance: expected [m] and [sources, n]");
    const int threads = count > 1 ? thread_count() : 1;
    std::vector<Search<Value>> searches(threads, {offset.data(), neighbors.data(), weights.data(), width});
    for_each_chunk(count, threads, [&](int64_t each, int rank) {
        Value* const found = distance.data() + each * n;
        std::fill(found, found + n, unreached<Value>);
        searches[rank].run(sources.data()[each], found);
        if constexpr (!std::numeric_limits<Value>::has_infinity)
            for (int64_t v = 0; v < n; ++v) found[v] = found[v] == unreached<Value> ? -1 : found[v];
    });
}

template <class Value>
void bind(Module& module) {
    module.def("lengths", &lengths<Value>, "offset, neighbors, weights, width, sources, distance");
}

}  // namespace

void bind_lengths(Module& module) {
    bind<int64_t>(module);
    bind<float>(module);
    bind<double>(module);
}

}  // namespace tgraph
