// The k shortest loopless paths (Yen, "Finding the k shortest loopless paths in a network", 1971), in Lawler's
// partition (1972): every path that leaves an accepted one at vertex i is in exactly one set of candidates.
//
// Distances to the target, of one search from there, are exact bounds for A*, which therefore hardly leaves the path
// that it finds. A set is searched only once its bound, the best first arc with the distance behind it, is the least of
// all.
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "paths/search.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

template <class Value>
class KShortest {
public:
    using Found = std::vector<std::pair<std::vector<int64_t>, Value>>;

    KShortest(const PathRows<Value>& ahead, const PathRows<Value>& behind, int64_t source, int64_t target)
        : rows_(ahead), source_(source), target_(target), left_(ahead.num_vertices), label_(ahead.num_vertices),
          is_closed_(ahead.num_vertices) {
        search_back(behind);
    }

    Found run(int64_t count) {
        if (left_[source_].parent) propose_first();
        while (!candidates_.empty() && std::ssize(accepted_) < count) {
            poll_interruption();
            const Candidate best = candidates_.top();
            candidates_.pop();
            if (best.vertices.empty())
                search(best);
            else
                accept(best);
        }
        Found found;
        for (Accepted& path : accepted_) found.emplace_back(std::move(path.vertices), path.cost.back());
        return found;
    }

private:
    struct Label {
        Value distance;
        int64_t parent;  // one more than the parent; one more than itself at the start; 0 where not reached
    };

    struct Accepted {
        std::vector<int64_t> vertices;
        std::vector<Value> cost;  // of the way to each
    };

    // The paths that leave accepted path number `path` at its vertex number `at`: their bound as key while there are no
    // vertices, otherwise the shortest of them.
    struct Candidate {
        Value key;
        int64_t path, at;
        std::vector<int64_t> vertices;
        std::vector<Value> cost;

        // The least key on top; found paths before bounds, older ones first.
        bool operator<(const Candidate& other) const {
            if (key != other.key) return key > other.key;
            if (vertices.empty() != other.vertices.empty()) return vertices.empty();
            return std::pair(path, at) > std::pair(other.path, other.at);
        }
    };

    const PathRows<Value> rows_;
    const int64_t source_, target_;
    Zeroed<Label> left_;   // distances to the target
    Zeroed<Label> label_;  // of a search, zeros between searches
    Zeroed<bool> is_closed_;
    std::vector<int64_t> touched_;
    MinHeap<Value> queue_;
    std::priority_queue<Candidate> candidates_;
    std::vector<Accepted> accepted_;

    void search_back(const PathRows<Value>& behind) {
        left_[target_] = {0, target_ + 1};
        queue_.push(0, target_);
        for (int64_t before_poll = 0; !queue_.empty();) {
            const auto [distance, v] = queue_.pop();
            if (left_[v].distance < distance) continue;
            for (int64_t arc = behind.offset[v]; arc < behind.offset[v + 1]; ++arc) {
                Label& label = left_[behind.neighbors[arc]];
                const Value through = distance + behind.weight(arc);
                if (label.parent && !(through < label.distance)) continue;
                label = {through, v + 1};
                queue_.push(through, behind.neighbors[arc]);
            }
            if ((before_poll -= behind.degree(v) + 1) < 0) {
                poll_interruption();
                before_poll = 1 << 20;
            }
        }
    }

    // The first path goes along the tree of the search back.
    void propose_first() {
        Candidate first{left_[source_].distance, 0, 0, {source_}, {0}};
        while (first.vertices.back() != target_) {
            const int64_t v = first.vertices.back(), next = left_[v].parent - 1;
            first.vertices.push_back(next);
            first.cost.push_back(first.cost.back() + (left_[v].distance - left_[next].distance));
        }
        candidates_.push(std::move(first));
    }

    void accept(const Candidate& found) {
        const auto number = static_cast<int64_t>(accepted_.size());
        accepted_.push_back({found.vertices, found.cost});
        const std::vector<int64_t>& vertices = accepted_.back().vertices;
        for (int64_t i = 0; i < found.at; ++i) is_closed_[vertices[i]] = true;
        for (int64_t i = found.at; i + 1 < std::ssize(vertices); ++i) {
            is_closed_[vertices[i]] = true;
            const std::vector<int64_t> taken = close_taken(number, i);
            Value bound{};
            if (best_arc(vertices[i], bound)) candidates_.push({accepted_[number].cost[i] + bound, number, i, {}, {}});
            for (const int64_t v : taken) is_closed_[v] = false;
        }
        for (const int64_t v : vertices) is_closed_[v] = false;
    }

    // Closes the vertices that follow vertex number `at` on accepted paths with the same beginning; returns those that
    // were open.
    std::vector<int64_t> close_taken(int64_t number, int64_t at) {
        const std::vector<int64_t>& vertices = accepted_[number].vertices;
        std::vector<int64_t> closed;
        for (const Accepted& other : accepted_) {
            if (std::ssize(other.vertices) < at + 2 || is_closed_[other.vertices[at + 1]]) continue;
            if (!std::equal(vertices.begin(), vertices.begin() + at + 1, other.vertices.begin())) continue;
            closed.push_back(other.vertices[at + 1]);
            is_closed_[closed.back()] = true;
        }
        return closed;
    }

    bool best_arc(int64_t u, Value& best) const {
        bool is_found = false;
        for (int64_t arc = rows_.offset[u]; arc < rows_.offset[u + 1]; ++arc) {
            const int64_t v = rows_.neighbors[arc];
            if (is_closed_[v] || !left_[v].parent) continue;
            const Value through = rows_.weight(arc) + left_[v].distance;
            if (!is_found || through < best) best = through;
            is_found = true;
        }
        return is_found;
    }

    // Replaces a bound by the shortest path of its set, if there is one.
    void search(const Candidate& set) {
        const Accepted& from = accepted_[set.path];
        const std::vector<int64_t> root(from.vertices.begin(), from.vertices.begin() + set.at + 1);
        for (const int64_t v : root) is_closed_[v] = true;
        const std::vector<int64_t> taken = close_taken(set.path, set.at);
        const int64_t start = root.back();
        reach(start, 0, start);
        bool is_first = true;  // whose next vertices are restricted, those of others are not
        for (bool is_found = false; !queue_.empty() && !is_found; is_first = false) {
            const auto [key, u] = queue_.pop();
            if (u == target_) is_found = true;
            if (is_found || label_[u].distance + left_[u].distance < key) continue;
            for (int64_t arc = rows_.offset[u]; arc < rows_.offset[u + 1]; ++arc) {
                const int64_t v = rows_.neighbors[arc];
                const Value through = label_[u].distance + rows_.weight(arc);
                const bool is_nearer = !label_[v].parent || through < label_[v].distance;
                if (is_closed_[v] || !left_[v].parent || !is_nearer) continue;
                reach(v, through, u);
            }
            if (is_first)
                for (const int64_t v : taken) is_closed_[v] = false;
        }
        for (const int64_t v : root) is_closed_[v] = false;
        if (label_[target_].parent) candidates_.push(with_rest(set, root));
        for (const int64_t v : touched_) label_[v] = {};
        touched_.clear();
        queue_.clear();
    }

    void reach(int64_t v, Value distance, int64_t from) {
        if (!label_[v].parent) touched_.push_back(v);
        label_[v] = {distance, from + 1};
        queue_.push(distance + left_[v].distance, v);
    }

    Candidate with_rest(const Candidate& set, const std::vector<int64_t>& root) const {
        const std::vector<int64_t> rest = walk_back(target_, [&](int64_t v) {
            return v == root.back() ? int64_t{-1} : label_[v].parent - 1;
        });
        const Accepted& from = accepted_[set.path];
        Candidate found{{}, set.path, set.at, root, {from.cost.begin(), from.cost.begin() + set.at + 1}};
        const Value before = from.cost[set.at];
        for (std::size_t i = 1; i < rest.size(); ++i) {
            found.vertices.push_back(rest[i]);
            found.cost.push_back(before + label_[rest[i]].distance);
        }
        found.key = found.cost.back();
        return found;
    }
};

template <class Weight>
auto k_shortest(In<int64_t> offset, In<void> neighbors, In<Weight> weights, In<int64_t> in_offset,
                In<void> in_neighbors, In<Weight> in_weights, int64_t source, int64_t target, int64_t count) {
    const PathRows<Distance<Weight>> ahead(offset, neighbors, weights), behind(in_offset, in_neighbors, in_weights);
    return KShortest<Distance<Weight>>(ahead, behind, source, target).run(count);
}

template <class Weight>
void bind(Module& module) {
    module.def("k_shortest", &k_shortest<Weight>,
               "offset, neighbors, weights?, in_offset, in_neighbors, in_weights?, source, target, count");
}

}  // namespace

void bind_k_shortest(Module& module) {
    for_each_weight([&]<class Weight>() { bind<Weight>(module); });
}

}  // namespace tgraph
