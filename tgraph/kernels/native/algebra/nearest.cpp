// The k most similar others of each row: rows of the product of a matrix and its transpose, of which only the best
// entries are kept.
#include <string>
#include <vector>

#include "algebra/spgemm.hpp"
#include "base/bindings.hpp"

namespace tgraph {
namespace {

enum class Score { common, jaccard, overlap, sorensen, cosine };

Score score_named(std::string_view name) {
    if (name == "common") return Score::common;
    if (name == "jaccard") return Score::jaccard;
    if (name == "overlap") return Score::overlap;
    if (name == "sorensen") return Score::sorensen;
    if (name == "cosine") return Score::cosine;
    throw std::invalid_argument("score: no such score is compiled");
}

// common : the sum over common columns; a, b : the sizes of both rows.
double score_of(Score score, double common, double a, double b) {
    switch (score) {
        case Score::jaccard: return common / (a + b - common);
        case Score::overlap: return common / std::min(a, b);
        case Score::sorensen: return 2 * common / (a + b);
        case Score::cosine: return common * common / (a * b);  // its square, which is exact where ties are
        default: return common;
    }
}

struct Candidate {
    double score;
    int32_t column;

    bool operator<(const Candidate& other) const {  // better ones first
        return score != other.score ? score > other.score : column < other.column;
    }
};

// At most `size` of the best candidates, in a heap whose top is the worst.
class Best {
public:
    explicit Best(std::size_t size) : size_(size) {}

    void offer(Candidate candidate) {
        if (kept_.size() == size_) {
            if (!(candidate < kept_.front())) return;
            std::pop_heap(kept_.begin(), kept_.end());
            kept_.back() = candidate;
        } else {
            kept_.push_back(candidate);
        }
        std::push_heap(kept_.begin(), kept_.end());
    }

    template <class Write>
    void drain(const Write& write) {
        std::sort_heap(kept_.begin(), kept_.end());
        for (std::size_t i = 0; i < kept_.size(); ++i) write(i, kept_[i]);
        kept_.clear();
    }

private:
    std::size_t size_;
    std::vector<Candidate> kept_;
};

// Row r of A is vertex ids[r] (r without ids), and leaves out itself and, with `others_only`, its own columns.
// `columns` and `scores` [rows x k] are filled with -1 and 0 before.
void nearest_rows(In<int64_t> ids, In<int64_t> a_offset, In<int32_t> a_columns, In<double> weights,
                  In<int64_t> b_offset, In<int32_t> b_columns, In<int64_t> sizes, bool others_only,
                  const std::string& score, int64_t k, Out<int64_t> columns, Out<double> scores) {
    const auto rows_of = [](const In<int64_t>& offset) { return static_cast<int64_t>(offset.shape(0)) - 1; };
    const SparseMatrix<double> a{{a_offset.data(), a_columns.data(), rows_of(a_offset)}, weights.data(), true};
    const SparseMatrix<double> b{{b_offset.data(), b_columns.data(), rows_of(b_offset)}, nullptr, false};
    const Mask mask{others_only ? Pattern(a) : Pattern{}, true};
    const int64_t num_columns = b.num_rows;
    const Score kind = score_named(score);
    const Terms terms(a, b);
    const RowSets sets(b, num_columns, terms.total());
    Chunks left(terms.chunks().size());
    run_team(terms.threads(), [&](int) {
        RowProduct product(a, b, sets, mask, num_columns, Semiring<double, Plus, Times>{}, true);
        Best best(static_cast<std::size_t>(k));
        const Scratch<int32_t> others(num_columns);
        const Scratch<double> common(num_columns);
        left.each([&](int64_t chunk) {
            const Range rows = terms.chunks()[chunk];
            for (int64_t row = rows.begin; row < rows.end; ++row) {
                const int64_t vertex = ids.is_valid() ? ids.data()[row] : row;
                const auto size = static_cast<double>(sizes.data()[vertex]);
                const int64_t found = product.multiply(row, terms.of(row), others.data(), common.data());
                for (int64_t i = 0; i < found; ++i) {
                    const int32_t other = others.data()[i];
                    if (other == vertex) continue;
                    const auto other_size = static_cast<double>(sizes.data()[other]);
                    best.offer({score_of(kind, common.data()[i], size, other_size), other});
                }
                best.drain([&](std::size_t i, const Candidate& found) {
                    columns.data()[row * k + static_cast<int64_t>(i)] = found.column;
                    scores.data()[row * k + static_cast<int64_t>(i)] = found.score;
                });
            }
        });
    });
}

}  // namespace

void bind_nearest(Module& module) {
    module.def("nearest_rows", &nearest_rows,
               "ids?, a_offset, a_columns, weights?, b_offset, b_columns, sizes, others_only, score, k, columns, "
               "scores");
}

}  // namespace tgraph
