// Decoding of rows of a linear DAG by depth-first search: the inputs reached from an output, ascending, with subtracted
// inputs cancelled. Parallel over rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dag/evaluation/dag_plan.hpp"

namespace tgraph {

// An input at the end of a path, and the arc that carries the weight of the path.
struct DagLeaf {
    int64_t input, arc;
    bool subtracted;
};

class DagDecoder {
public:
    DagDecoder(const DagRows& rows, bool of_outputs) : rows_(rows), of_outputs_(of_outputs) {}

    // The leaves below an output, in the order of the inputs.
    const std::vector<DagLeaf>& operator()(int64_t output) {
        leaves_.clear();
        stack_.assign(1, {rows_.num_virtual() + output, -1, false});
        bool subtracts = false, ascends = true;
        while (!stack_.empty()) {
            const Node node = stack_.back();
            stack_.pop_back();
            if (node.row < 0) {
                const int64_t input = ~node.row;
                ascends = ascends && (leaves_.empty() || leaves_.back().input <= input);
                leaves_.push_back({input, node.arc, node.subtracted});
                subtracts |= node.subtracted;
                continue;
            }
            const bool weighs = of_outputs_ && node.row >= rows_.num_virtual();
            for (int64_t i = rows_.offset[node.row + 1]; i-- > rows_.offset[node.row];) {  // the first is popped first
                const int64_t child = rows_.child(i), below = node_of(child);
                const bool is_input = below < rows_.num_vertices;
                stack_.push_back({is_input ? ~below : below - rows_.num_vertices,
                                  weighs || (is_input && !of_outputs_) ? i : node.arc,
                                  node.subtracted != (child < 0)});
            }
        }
        if (!ascends)
            std::stable_sort(leaves_.begin(), leaves_.end(),
                             [](const DagLeaf& a, const DagLeaf& b) { return a.input < b.input; });
        if (subtracts) cancel();
        return leaves_;
    }

private:
    struct Node {
        int64_t row, arc;  // row: or ~input
        bool subtracted;
    };

    // Keeps added minus subtracted leaves of each input.
    void cancel() {
        std::size_t kept = 0;
        for (std::size_t i = 0, next; i < leaves_.size(); i = next) {
            int64_t count = 0;
            for (next = i; next < leaves_.size() && leaves_[next].input == leaves_[i].input; ++next)
                count += leaves_[next].subtracted ? -1 : 1;
            const DagLeaf leaf{leaves_[i].input, leaves_[i].arc, false};
            for (; count > 0; --count) leaves_[kept++] = leaf;
        }
        leaves_.resize(kept);
    }

    DagRows rows_;
    bool of_outputs_;
    std::vector<DagLeaf> leaves_;
    std::vector<Node> stack_;
};

// Calls visit(i, leaves) for each output.
template <class Visit>
void decode_rows(const DagRows& rows, bool of_outputs, const int64_t* outputs, int64_t count, Visit visit) {
    constexpr int64_t grain = 64;
    for_each_chunk((count + grain - 1) / grain, part_count(count * 64), [&](int64_t chunk) {
        DagDecoder decode(rows, of_outputs);
        for (int64_t i = chunk * grain; i < std::min(count, (chunk + 1) * grain); ++i) visit(i, decode(outputs[i]));
    });
}

}  // namespace tgraph
