// Linear equations that are followed: x = alpha * sum over arcs u -> v of weight * x[u] / strength[u] + bias, by pushes
// of the largest residuals (Southwell's relaxation; for PageRank: Berkhin, "Bookmark-coloring algorithm", 2006).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "base/classes.hpp"
#include "following/rows.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

// The residual of each vertex, in buckets by what a push of it takes away for each arc.
class Residuals {
public:
    double size = 0, sum = 0;  // L1 norm, and plain sum
    double floor = 0;          // what is no larger is not pushed

    // What is loaded is not pushed before it grows: it is small and everywhere, an iteration over all arcs takes it on.
    void load(In<double> residual) {
        const auto count = static_cast<int64_t>(residual.shape(0));
        slots_.resize(count);
        for (auto& bucket : buckets_) bucket.clear();
        top_ = -1, size = sum = 0;
        for (int64_t v = 0; v < count; ++v) {
            const double amount = residual.data()[v];
            slots_[v] = {amount, static_cast<float>(2 * std::abs(amount)), -1};
            size += std::abs(amount), sum += amount;
        }
    }

    void grow(int64_t count) {
        if (count > static_cast<int64_t>(slots_.size())) slots_.resize(count);
    }

    void add(const FollowedRows& rows, int64_t v, double amount) {
        Slot& slot = slots_[v];
        const double before = std::abs(slot.residual);
        slot.residual += amount;
        const double now = std::abs(slot.residual);
        size += now - before, sum += amount;
        if (now > slot.limit && now > floor) put(rows, v);
    }

    void fetch_slot(int64_t v) const { fetch(slots_.data() + v); }
    int64_t num_vertices() const { return static_cast<int64_t>(slots_.size()); }

    // The vertex to push next, -1 where no residual is left.
    int64_t next(const FollowedRows& rows) {
        while (top_ >= 0) {
            auto& bucket = buckets_[top_];
            if (bucket.empty()) {
                --top_;
                continue;
            }
            const int64_t v = bucket.back();
            bucket.pop_back();
            Slot& slot = slots_[v];
            if (slot.bucket != top_) continue;
            slot.bucket = -1, slot.limit = 0;
            if (slot.residual == 0) continue;
            const int bucket_now = bucket_of(rows, v, std::abs(slot.residual));
            if (bucket_now < top_) {
                put(rows, v);
                continue;
            }
            return v;
        }
        return -1;
    }

    double take(int64_t v) {
        const double amount = slots_[v].residual;
        slots_[v].residual = 0;
        size -= std::abs(amount), sum -= amount;
        return amount;
    }

    double residual(int64_t v) const { return slots_[v].residual; }
    int64_t nbytes() const { return static_cast<int64_t>(slots_.capacity() * (sizeof(Slot) + sizeof(int32_t))); }

private:
    struct Slot {
        double residual = 0;
        float limit = 0;  // beyond it the vertex belongs into a higher bucket
        int32_t bucket = -1;
    };
    static constexpr int num_buckets = 128, middle = 96, arcs_of_a_push = 16;  // which costs as much as so many arcs

    static int bucket_of(const FollowedRows& rows, int64_t v, double amount) {
        const double each = amount / static_cast<double>(rows.degree(v) + arcs_of_a_push);
        return std::clamp(std::ilogb(each), -middle, num_buckets - 1 - middle) + middle;
    }

    void put(const FollowedRows& rows, int64_t v) {
        Slot& slot = slots_[v];
        const double amount = std::abs(slot.residual);
        const int bucket = bucket_of(rows, v, amount);
        slot.limit = static_cast<float>(2 * amount);
        if (bucket <= slot.bucket) return;
        slot.bucket = bucket;
        buckets_[bucket].push_back(static_cast<int32_t>(v));
        top_ = std::max(top_, bucket);
    }

    std::vector<Slot> slots_;
    std::vector<int32_t> buckets_[num_buckets];
    int top_ = -1;
};

struct Sent {
    int64_t vertex;
    double amount;
};

void add_residuals(Residuals& residuals, const FollowedRows& rows, In<int64_t> vertices, In<double> amounts,
                   int64_t num_vertices) {
    residuals.grow(num_vertices);
    for (int64_t i = 0; i < static_cast<int64_t>(vertices.shape(0)); ++i)
        residuals.add(rows, vertices.data()[i], amounts.data()[i]);
}

// Pushes until the L1 norm of the residual, and the size of its sum where it is `centered`, are at most `fixed` +
// `relative` * total, the sum of x; or until more than `limit` arcs have been read, or nothing is left that has grown.
// Returns (whether it is so small, the sum of x, pushes, arcs).
std::tuple<bool, double, int64_t, int64_t> push(Residuals& residuals, const FollowedRows& rows, Out<double> x,
                                                In<double> strength, double alpha, double total, double fixed,
                                                double relative, bool centered, int64_t limit) {
    constexpr int64_t ahead = 16;  // residuals: so many wait for memory at a time
    int64_t pushes = 0, arcs = 0;
    double* const values = x.data();
    std::vector<Sent> sent;
    residuals.floor = (fixed + relative * total) / (4.0 * static_cast<double>(residuals.num_vertices() + 1));
    for (;;) {
        const double left = residuals.size + (centered ? std::abs(residuals.sum) : 0);
        if (left <= fixed + relative * total) return {true, total, pushes, arcs};
        if (arcs > limit) return {false, total, pushes, arcs};
        const int64_t v = residuals.next(rows);
        if (v < 0) return {false, total, pushes, arcs};
        if (++pushes % 1024 == 0) poll_interruption();
        const double amount = residuals.take(v);
        values[v] += amount, total += amount;
        double share = alpha * amount;
        if (strength.is_valid()) {
            if (strength.data()[v] == 0) continue;
            share /= strength.data()[v];
        }
        sent.clear();
        rows.each<double>(v, [&](int32_t c, double weight) {
            sent.push_back({c, share * weight});
            return true;
        });
        const auto count = static_cast<int64_t>(sent.size());
        for (int64_t i = 0; i < count; ++i) {
            residuals.fetch_slot(sent[std::min(i + ahead, count - 1)].vertex);
            residuals.add(rows, sent[i].vertex, sent[i].amount);
        }
        arcs += count;
    }
}

void read_residuals(const Residuals& residuals, Out<double> out) {
    for (int64_t v = 0; v < static_cast<int64_t>(out.shape(0)); ++v) out.data()[v] = residuals.residual(v);
}

}  // namespace

void bind_follow_push(Module& module) {
    bind_class<Residuals>(module, "Residuals")
        .def(nb::init<>())
        .def("load", &Residuals::load, nb::arg("residual"),
             nb::call_guard<nb::gil_scoped_release>())
        .def("add", &add_residuals, nb::arg("rows"), nb::arg("vertices"), nb::arg("amounts"),
             nb::arg("num_vertices"), nb::call_guard<nb::gil_scoped_release>())
        .def("push", &push, nb::arg("rows"), nb::arg("x"), nb::arg("strength").none(), nb::arg("alpha"),
             nb::arg("total"), nb::arg("fixed"), nb::arg("relative"), nb::arg("centered"), nb::arg("limit"),
             nb::call_guard<nb::gil_scoped_release>())
        .def("read", &read_residuals, nb::arg("out"))
        .def_ro("size", &Residuals::size)
        .def_prop_ro("nbytes", &Residuals::nbytes);
}

}  // namespace tgraph
