// Grammar compression of rows: repeated pairs of adjacent symbols are replaced by new symbols, in rounds.
//
// Re-Pair (Larsson and Moffat, "Offline dictionary-based compression", DCC 1999) replaces the most frequent pair, one
// at a time. A round here replaces all sufficiently frequent pairs at once, as in recompression (Jez, "Recompression",
// J. ACM 63, 2016): of overlapping pairs, those that are local maxima of a precedence order are replaced. The decision
// is local, so equal substrings are parsed alike, and chunks of rows can be processed in parallel with a deterministic
// result. `tgraph/kernels/operators/compressed/pairing.py` computes the same in torch operators.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "compressed/compression/pair_table.hpp"
#include "threads/parallel.hpp"
#include "base/rows.hpp"

namespace tgraph {

class PairReplacement {
public:
    // The rows of `num_rows` + 1 offsets that ascend from 0; tokens are in [0, num_tokens), and num_tokens + size / 2
    // is below 2^31.
    PairReplacement(const int64_t* offset, int64_t num_rows, const int32_t* tokens, int64_t size, int64_t num_tokens,
                    int max_depth)
        : size_(size), num_tokens_(num_tokens), max_depth_(max_depth), symbols_(size), slots_(size) {
        const int parts = part_count(size);
        for_each_part(parts, [&](int part) {
            each_row(offset, num_rows, part_of(size, part, parts), [&](int64_t row, Range arcs) {
                for (int64_t i = arcs.begin; i < arcs.end; ++i) symbols_.data()[i] = static_cast<uint32_t>(tokens[i]);
                if (arcs.end == offset[row + 1]) symbols_.data()[arcs.end - 1] |= row_end;
            });
        });
        while (round()) {
        }
    }

    int64_t num_symbols() const { return size_; }
    int64_t num_rules() const { return static_cast<int64_t>(rules_.size()); }

    // pairs : [2 R], the children of each rule. symbols, offset : the compressed rows. old_offset : offsets of the
    // original rows.
    void write(const int64_t* old_offset, int64_t num_rows, int64_t* offset, int32_t* symbols, int32_t* pairs) const {
        for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
            pairs[2 * rule] = static_cast<int32_t>(rules_[rule] >> 32);
            pairs[2 * rule + 1] = static_cast<int32_t>(rules_[rule]);
        }
        int64_t next = 0;
        offset[0] = 0;
        for (int64_t row = 0; row < num_rows; ++row) {
            for (bool inside = old_offset[row] < old_offset[row + 1]; inside; ++next) {
                inside = !(symbols_.data()[next] & row_end);
                symbols[next] = static_cast<int32_t>(symbols_.data()[next] & ~row_end);
            }
            offset[row + 1] = next;
        }
    }

private:
    static constexpr uint32_t row_end = uint32_t{1} << 31;  // marks the last symbol of a row
    static constexpr uint32_t no_slot = PairTable::no_slot;
    static constexpr int64_t grain = 1 << 14;
    static constexpr std::size_t largest_count = 1 << 16;  // larger counts share the last bin of the histogram
    // A round replaces the most frequent pairs that make up 1 / share of all repeated occurrences. More rounds of fewer
    // pairs approach Re-Pair: twice as many rounds save 1 % of the size.
    static constexpr int64_t share = 4;
    static constexpr int64_t worth = 512;  // the last round has fewer than size / worth repeated occurrences

    int64_t size_, num_tokens_;
    int max_depth_;
    uint32_t threshold_ = largest_count - 1;
    Scratch<uint32_t> symbols_, slots_;
    std::vector<Pair> rules_;
    std::vector<uint8_t> depth_;
    std::vector<int64_t> starts_;  // of the chunks, which consist of whole rows

    bool round() {
        cut_chunks();
        const PairTable table = count_pairs();
        if (!lower_threshold(table)) return false;
        for_each_chunk(num_chunks(), part_count(size_), [&](int64_t chunk) { choose(table, chunk); });
        if (!name_pairs(table)) return (threshold_ /= 2) > 1;
        replace(table);
        return true;
    }

    int64_t num_chunks() const { return static_cast<int64_t>(starts_.size()) - 1; }

    // A chunk begins after the first end of a row in its share of the symbols.
    void cut_chunks() {
        const int64_t chunks = (size_ + grain - 1) / grain;
        starts_.assign(chunks + 1, size_);
        for_each_chunk(chunks, part_count(size_), [&](int64_t chunk) {
            const int64_t begin = chunk * grain, end = std::min(begin + grain, size_);
            const auto is_end = [](uint32_t symbol) { return (symbol & row_end) != 0; };
            const uint32_t* found = std::find_if(symbols_.data() + begin, symbols_.data() + end, is_end);
            starts_[chunk] = found == symbols_.data() + end ? -1 : found - symbols_.data() + 1;
        });
        starts_[0] = 0;
        for (int64_t chunk = chunks - 1; chunk > 0; --chunk)
            if (starts_[chunk] < 0) starts_[chunk] = starts_[chunk + 1];
    }

    int depth_of_symbol(uint32_t symbol) const { return symbol < num_tokens_ ? 0 : depth_[symbol - num_tokens_]; }

    int depth_of(Pair pair) const {
        return 1 + std::max(depth_of_symbol(static_cast<uint32_t>(pair >> 32)),
                            depth_of_symbol(static_cast<uint32_t>(pair)));
    }

    // The pair that begins at a position that does not end a row.
    Pair pair_at(int64_t i) const {
        return static_cast<Pair>(symbols_.data()[i]) << 32 | (symbols_.data()[i + 1] & ~row_end);
    }

    // Estimates the number of distinct pairs from a sample of 1/64 of the hash values.
    int64_t estimate_pairs() const {
        std::vector<std::vector<Pair>> samples(std::max<int64_t>(num_chunks(), 1));
        for_each_chunk(num_chunks(), part_count(size_), [&](int64_t chunk) {
            std::vector<Pair>& sample = samples[chunk];
            for (int64_t i = starts_[chunk]; i < starts_[chunk + 1]; ++i)
                if (!(symbols_.data()[i] & row_end) && mix(pair_at(i)) % 64 == 0)
                    sample.push_back(pair_at(i));
            std::sort(sample.begin(), sample.end());
            sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
        });
        std::vector<Pair> all;
        for (const std::vector<Pair>& sample : samples) all.insert(all.end(), sample.begin(), sample.end());
        std::sort(all.begin(), all.end());
        return (std::unique(all.begin(), all.end()) - all.begin()) * 64;
    }

    // Counts all pairs, and stores for each position the slot of the pair that begins there.
    PairTable count_pairs() {
        const int64_t most = size_ + size_ / 2 + 64;
        for (int64_t capacity = estimate_pairs() * 3 / 2 + 4096;; capacity *= 2) {
            capacity = std::min(most, capacity);
            PairTable table(capacity, capacity == most ? most : 1 << 10);
            std::atomic<bool> full{false};
            for_each_chunk(num_chunks(), part_count(size_), [&](int64_t chunk) {
                if (!full.load(std::memory_order_relaxed) && !count_chunk(table, chunk)) full = true;
            });
            if (!full) return table;
        }
    }

    bool count_chunk(const PairTable& table, int64_t chunk) {
        constexpr int64_t lookahead = 16;       // prefetch distance in positions
        std::array<uint64_t, lookahead> homes;  // of these positions, a ring buffer
        const int64_t begin = starts_[chunk], end = starts_[chunk + 1];
        const auto prepare = [&](int64_t i) {
            if (i >= end || symbols_.data()[i] & row_end) return;
            fetch(&table[homes[i & (lookahead - 1)] = table.home(pair_at(i))]);
        };
        for (int64_t i = begin; i < begin + lookahead; ++i) prepare(i);
        for (int64_t i = begin; i < end; ++i) {
            const bool begins = !(symbols_.data()[i] & row_end);
            const uint32_t slot = begins ? table.count(pair_at(i), homes[i & (lookahead - 1)]) : no_slot;
            if (begins && slot == no_slot) return false;
            slots_.data()[i] = slot;
            prepare(i + lookahead);
        }
        return true;
    }

    // Lowers the threshold, the smallest count of a pair that is replaced, by a histogram of the counts. Pairs that
    // would exceed the depth limit are dropped. Returns false if too few pairs repeat.
    bool lower_threshold(const PairTable& table) {
        const int parts = part_count(table.size());
        std::vector<std::vector<int64_t>> occurrences(parts);
        for_each_part(parts, [&](int part) {
            const Range range = part_of(table.size(), part, parts);
            occurrences[part].resize(largest_count);
            for (int64_t slot = range.begin; slot < range.end; ++slot)
                if (uint32_t& count = table[slot].count; count > 1) {
                    if (depth_of(table[slot].pair) > max_depth_) count = 0;
                    occurrences[part][std::min<std::size_t>(count, largest_count - 1)] += count;
                }
        });
        for (int part = 1; part < parts; ++part)
            std::transform(occurrences[part].begin(), occurrences[part].end(), occurrences[0].begin(),
                           occurrences[0].begin(), std::plus<>());
        const int64_t repeated = std::reduce(occurrences[0].begin(), occurrences[0].end());
        int64_t above = std::reduce(occurrences[0].begin() + threshold_, occurrences[0].end());
        while (threshold_ > 2 && above * share < repeated) above += occurrences[0][--threshold_];
        return repeated * worth > size_;
    }

    // Marks the pairs of a chunk to replace: of two that overlap, the one of higher precedence, which is the more
    // frequent, then the one that begins with an even symbol, then with a smaller one, then the left one.
    void choose(const PairTable& table, int64_t chunk) {
        const int64_t begin = starts_[chunk], size = starts_[chunk + 1] - begin;
        uint32_t* const slots = slots_.data() + begin;
        std::vector<uint64_t> rank(size + 1);  // 0 for pairs that are not candidates, and past the end
        for (int64_t i = 0; i < size; ++i) {
            if (i + 16 < size && slots[i + 16] != no_slot) fetch(&table[slots[i + 16]]);
            if (slots[i] != no_slot) rank[i] = precedence(table[slots[i]].count, symbols_.data()[begin + i]);
        }
        // Descending from each local maximum, every other pair is taken; a local minimum only if it is from both sides.
        std::vector<char> taken(size + 1);
        for (int64_t i = 0; i < size; ++i) taken[i] = rank[i] && !(i && rank[i - 1] >= rank[i] && taken[i - 1]);
        bool after = false;  // whether the next pair is taken in the pass from the right
        for (int64_t i = size - 1; i >= 0; --i) {
            after = rank[i] && !(rank[i + 1] > rank[i] && after);
            if (taken[i] && after)
                std::atomic_ref<uint32_t>(table[slots[i]].taken).fetch_add(1, std::memory_order_relaxed);
            else
                slots[i] = no_slot;
        }
    }

    uint64_t precedence(uint32_t count, uint32_t left) const {
        if (count < threshold_) return 0;
        return static_cast<uint64_t>(count) << 32 | static_cast<uint64_t>(~left & 1) << 31 | (~left & ~row_end) >> 1;
    }

    // Creates rules for the pairs that are replaced at least twice, in ascending order.
    bool name_pairs(const PairTable& table) {
        const int parts = part_count(table.size());
        std::vector<std::vector<std::pair<Pair, int64_t>>> found(parts);
        for_each_part(parts, [&](int part) {
            const Range range = part_of(table.size(), part, parts);
            for (int64_t slot = range.begin; slot < range.end; ++slot) {
                if (table[slot].taken > 1) found[part].emplace_back(table[slot].pair, slot);
                table[slot].taken = 0;
            }
            std::sort(found[part].begin(), found[part].end());
        });
        for (int part = 1; part < parts; ++part) {
            const auto middle = static_cast<std::ptrdiff_t>(found[0].size());
            found[0].insert(found[0].end(), found[part].begin(), found[part].end());
            std::inplace_merge(found[0].begin(), found[0].begin() + middle, found[0].end());
        }
        for (const auto& [pair, slot] : found[0]) {
            table[slot].taken = static_cast<uint32_t>(num_tokens_ + num_rules());
            depth_.push_back(static_cast<uint8_t>(depth_of(pair)));
            rules_.push_back(pair);
        }
        return !found[0].empty();
    }

    // Replaces in place within each chunk, then compacts the chunks.
    void replace(const PairTable& table) {
        std::vector<int64_t> ends(num_chunks() + 1);
        for_each_chunk(num_chunks(), part_count(size_),
                       [&](int64_t chunk) { ends[chunk + 1] = replace_in(table, chunk) - starts_[chunk]; });
        std::partial_sum(ends.begin(), ends.end(), ends.begin());
        for_each_chunk(num_chunks(), part_count(size_), [&](int64_t chunk) {
            const uint32_t* from = symbols_.data() + starts_[chunk];
            std::copy(from, from + (ends[chunk + 1] - ends[chunk]), slots_.data() + ends[chunk]);
        });
        std::swap(symbols_, slots_);
        size_ = ends.back();
    }

    int64_t replace_in(const PairTable& table, int64_t chunk) const {
        uint32_t* const symbols = symbols_.data();
        const int64_t end = starts_[chunk + 1];
        int64_t next = starts_[chunk];
        for (int64_t i = starts_[chunk]; i < end; ++i) {
            if (i + 16 < end && slots_.data()[i + 16] != no_slot) fetch(&table[slots_.data()[i + 16]]);
            const uint32_t slot = slots_.data()[i], named = slot == no_slot ? 0 : table[slot].taken;
            if (named) {
                symbols[next++] = named | (symbols[i + 1] & row_end);
                ++i;
            } else {
                symbols[next++] = symbols[i];
            }
        }
        return next;
    }
};

}  // namespace tgraph
