// Decoding of rows of a linear DAG by depth-first search: the inputs reached from an output, ascending, with subtracted
// inputs cancelled. Parallel over rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compressed/evaluation/dag_plan.hpp"

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
        bool subtracts = false, ascends = true;
        walk(output, [&](const DagLeaf& leaf) {
            ascends = ascends && (leaves_.empty() || leaves_.back().input <= leaf.input);
            leaves_.push_back(leaf);
            subtracts |= leaf.subtracted;
        });
        if (!ascends)
            std::stable_sort(leaves_.begin(), leaves_.end(),
                             [](const DagLeaf& a, const DagLeaf& b) { return a.input < b.input; });
        if (subtracts) cancel();
        return leaves_;
    }

    // How many these are, which need no order unless some are subtracted.
    int64_t count(int64_t output) {
        int64_t found = 0;
        bool subtracts = false;
        walk(output, [&](const DagLeaf& leaf) {
            ++found;
            subtracts |= leaf.subtracted;
        });
        return subtracts ? static_cast<int64_t>((*this)(output).size()) : found;
    }

private:
    // The children of a row that are left, and the arc that carries the weight of the paths to it.
    struct Node {
        int64_t next, end, arc;
        bool weighs, subtracted;
    };

    // Calls see(leaf) for each input at the end of a path, depth-first.
    template <class See>
    void walk(int64_t output, const See& see) {
        stack_.clear();
        enter(rows_.num_virtual() + output, -1, false);
        while (!stack_.empty()) {
            Node& node = stack_.back();
            if (node.next == node.end) {
                stack_.pop_back();
                continue;
            }
            const int64_t i = node.next++, child = rows_.child(i), below = node_of(child);
            const bool is_input = below < rows_.num_vertices, subtracted = node.subtracted != (child < 0);
            const int64_t arc = node.weighs || (is_input && !of_outputs_) ? i : node.arc;
            if (is_input) see(DagLeaf{below, arc, subtracted});
            else enter(below - rows_.num_vertices, arc, subtracted);
        }
    }

    void enter(int64_t row, int64_t arc, bool subtracted) {
        const bool weighs = of_outputs_ && row >= rows_.num_virtual();
        stack_.push_back({rows_.offset[row], rows_.offset[row + 1], arc, weighs, subtracted});
    }

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

// Calls visit(i, decoder) for each output.
template <class Visit>
void decode_rows(const DagRows& rows, bool of_outputs, const int64_t* outputs, int64_t count, Visit visit) {
    constexpr int64_t grain = 64;
    for_each_chunk((count + grain - 1) / grain, part_count(count * 64), [&](int64_t chunk) {
        DagDecoder decode(rows, of_outputs);
        for (int64_t i = chunk * grain; i < std::min(count, (chunk + 1) * grain); ++i) visit(i, decode);
    });
}

}  // namespace tgraph
