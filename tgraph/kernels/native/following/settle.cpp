// The values of a relaxation after a batch of changes (Vora, Gupta and Xu, "KickStarter", ASPLOS 2017).
//
// A vertex depends on the one whose message its value is, and by a chain of these on a vertex that has its first value.
// Along a chain values get worse, or stay equal and levels rise, so that no chain is a cycle. Where a batch takes away
// the arc that a vertex depends on, it looks for another of the same message, from a vertex that comes before it in
// this order; the best ones look first, so that what they find does not depend on them. Who finds none is reset, and
// those that depend on it look next. In the end those that were reset take the best that the others send, and what the
// new arcs send is taken; what has become better spreads, best first.
#include <cstdint>
#include <deque>
#include <queue>
#include <tuple>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "base/classes.hpp"
#include "following/rows.hpp"
#include "relaxation/relax_semiring.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

// What calls leave to each other: a byte for each vertex, 0 between calls, and the vertices of the last call.
struct SettleScratch {
    std::vector<uint8_t> flags;
    std::vector<int64_t> touched;
};

enum class Settled : int { done, too_much, overflow };

struct Relaxing {
    FollowedRows *out, *in;  // in : null where nothing is looked up against the arcs
    bool both_ways;          // messages go along arcs and against them
    bool is_min;
    Edge edge;
    bool constant;  // all arcs weigh `whole` or `real`
    int64_t whole;
    double real;
    int64_t limit;  // arcs
};

template <class V>
class Settling {
public:
    Settling(const Relaxing& how, V* value, const V* first, int32_t* parent, int32_t* level, int64_t size,
             SettleScratch& scratch)
        : how_(how), semiring_{how.is_min, how.edge}, value_(value), first_(first), parent_(parent), level_(level),
          size_(size), scratch_(scratch), weight_(std::is_integral_v<V> ? static_cast<V>(how.whole)
                                                                        : static_cast<V>(how.real)) {
        if (static_cast<int64_t>(scratch_.flags.size()) < size) scratch_.flags.resize(size, 0);
        scratch_.touched.clear();
    }

    // plants : finds out first on whom each vertex depends, over all arcs.
    Settled run(In<int64_t> pairs, bool plants) {
        const auto count = static_cast<int64_t>(pairs.shape(0));
        if (plants) plant();
        if (parent_ && !plants) {
            for (int64_t i = 0; i < count; ++i) {
                fetch(parent_ + column_of(pairs.data()[std::min(i + ahead, count - 1)]));
                if (how_.both_ways) fetch(parent_ + row_of(pairs.data()[std::min(i + ahead, count - 1)]));
                suspect(row_of(pairs.data()[i]), column_of(pairs.data()[i]));
            }
            while (!suspects_.empty() && is_within()) look(take(suspects_).vertex);
        }
        if (is_within()) {
            reset();
            for (int64_t i = 0; i < count; ++i) {
                fetch(value_ + column_of(pairs.data()[std::min(i + ahead, count - 1)]));
                fetch(value_ + row_of(pairs.data()[std::min(i + ahead, count - 1)]));
                relax_pair(row_of(pairs.data()[i]), column_of(pairs.data()[i]));
            }
            while (!better_.empty() && is_within()) spread(take(better_));
        }
        for (const int64_t v : scratch_.touched) scratch_.flags[v] = 0;
        return overflows_ ? Settled::overflow : work_ > how_.limit ? Settled::too_much : Settled::done;
    }

private:
    static constexpr int64_t ahead = 16;  // pairs: so many wait for memory at a time
    enum : uint8_t { suspected = 1, affected = 2, seen = 4 };
    struct Item {
        V value;
        int32_t level;
        int64_t vertex;
    };
    struct Later {
        AnySemiring<V> semiring;
        bool operator()(const Item& a, const Item& b) const {
            return semiring.better(b.value, a.value) || (a.value == b.value && b.level < a.level);
        }
    };
    using Queue = std::priority_queue<Item, std::vector<Item>, Later>;

    static Item take(Queue& queue) {
        const Item item = queue.top();
        queue.pop();
        return item;
    }

    bool is_within() const { return work_ <= how_.limit && !overflows_; }
    bool sends(int64_t v) const { return value_[v] != semiring_.identity(); }
    bool depends(int64_t v, int64_t u) const { return parent_[v] == u; }

    V send(V value, V weight) {
        if (how_.constant) weight = weight_;
        if constexpr (std::is_integral_v<V>) {
            V message;
            if (how_.edge == Edge::add) return overflows_ |= __builtin_add_overflow(value, weight, &message), message;
            if (how_.edge == Edge::mul) return overflows_ |= __builtin_mul_overflow(value, weight, &message), message;
        }
        return semiring_.send(value, weight);
    }

    template <class Visit>
    bool arcs_from(int64_t v, Visit&& visit) {
        const auto counted = [&](int32_t u, V weight) { return ++work_, visit(int64_t{u}, weight); };
        const bool one_way = !how_.both_ways || how_.in == how_.out;
        return how_.out->each<V>(v, counted) && (one_way || how_.in->each<V>(v, counted));
    }
    template <class Visit>
    bool arcs_to(int64_t v, Visit&& visit) {
        if (how_.both_ways) return arcs_from(v, visit);
        return how_.in->each<V>(v, [&](int32_t u, V weight) { return ++work_, visit(int64_t{u}, weight); });
    }
    template <class Visit>
    bool arcs_between(int64_t u, int64_t v, Visit&& visit) {
        const auto each = [&](int32_t, V weight) { return ++work_, visit(weight); };
        return how_.out->each_of_pair<V>(u, static_cast<int32_t>(v), each) &&
               (!how_.both_ways || how_.out->each_of_pair<V>(v, static_cast<int32_t>(u), each));
    }

    void mark(int64_t v, uint8_t flag) {
        if (!scratch_.flags[v]) scratch_.touched.push_back(v);
        scratch_.flags[v] |= seen | flag;
    }
    bool is(int64_t v, uint8_t flag) const { return scratch_.flags[v] & flag; }

    // Breadth first from those that have their first value; whom no chain reaches is affected.
    void plant() {
        std::deque<int64_t> reached;
        for (int64_t v = 0; v < size_; ++v) {
            parent_[v] = -1, level_[v] = 0;
            if (value_[v] == first_[v] && sends(v)) reached.push_back(v);
        }
        while (!reached.empty()) {
            const int64_t u = reached.front();
            reached.pop_front();
            arcs_from(u, [&](int64_t v, V weight) {
                if (parent_[v] < 0 && value_[v] != first_[v] && send(value_[u], weight) == value_[v])
                    attach(v, u), reached.push_back(v);
                return true;
            });
        }
        work_ = 0;
        for (int64_t v = 0; v < size_; ++v)
            if (parent_[v] < 0 && value_[v] != first_[v]) affect(v);
    }

    void attach(int64_t v, int64_t u) {
        if (!parent_) return;
        parent_[v] = static_cast<int32_t>(u);
        level_[v] = value_[v] == value_[u] ? level_[u] + 1 : 0;
    }

    void affect(int64_t v) {
        mark(v, affected);
        affected_.push_back(v);
        work_ += how_.out->degree(v);
    }

    void suspect(int64_t u, int64_t v) {
        suspect_one(u, v);
        if (how_.both_ways) suspect_one(v, u);
    }

    // v depended on u: does an arc between them still carry its value?
    void suspect_one(int64_t u, int64_t v) {
        if (!depends(v, u) || is(v, suspected)) return;
        if (arcs_between(u, v, [&](V weight) { return send(value_[u], weight) != value_[v]; })) put_to_suspects(v);
    }

    void put_to_suspects(int64_t v) {
        mark(v, suspected);
        suspects_.push({value_[v], level_[v], v});
    }

    void look(int64_t v) {
        const bool found = !arcs_to(v, [&](int64_t u, V weight) {
            const bool before = value_[u] == value_[v] ? level_[u] < level_[v] : semiring_.better(value_[u], value_[v]);
            if (!before || is(u, affected) || !sends(u) || send(value_[u], weight) != value_[v]) return true;
            parent_[v] = static_cast<int32_t>(u);
            return false;
        });
        scratch_.flags[v] &= static_cast<uint8_t>(~suspected);
        if (found) return;
        affect(v);
        arcs_from(v, [&](int64_t c, V) {
            if (depends(c, v) && !is(c, suspected | affected)) put_to_suspects(c);
            return true;
        });
    }

    // Those affected take the best of their first value and of what the others send.
    void reset() {
        for (const int64_t v : affected_) {
            value_[v] = first_[v];
            parent_[v] = -1, level_[v] = 0;
        }
        for (const int64_t v : affected_) {
            arcs_to(v, [&](int64_t u, V weight) {
                if (!is(u, affected)) relax(u, v, weight, false);
                return true;
            });
        }
        for (const int64_t v : affected_) {
            scratch_.flags[v] &= static_cast<uint8_t>(~affected);
            if (sends(v)) better_.push({value_[v], 0, v});
        }
    }

    void relax(int64_t u, int64_t v, V weight, bool spreads = true) {
        if (!sends(u)) return;
        const V message = send(value_[u], weight);
        if (!semiring_.better(message, value_[v])) return;
        value_[v] = message;
        attach(v, u);
        mark(v, 0);
        if (spreads) better_.push({message, 0, v});
    }

    // Where all arcs send the same, whether a message would be any better.
    bool may_better(int64_t u, int64_t v) {
        if (!how_.constant && how_.edge != Edge::copy) return true;
        return sends(u) && semiring_.better(send(value_[u], weight_), value_[v]);
    }

    void relax_pair(int64_t u, int64_t v) {
        if (!may_better(u, v) && !(how_.both_ways && may_better(v, u))) return;
        how_.out->each_of_pair<V>(u, static_cast<int32_t>(v), [&](int32_t, V weight) {
            relax(u, v, weight);
            if (how_.both_ways) relax(v, u, weight);
            return true;
        });
    }

    void spread(const Item& item) {
        if (value_[item.vertex] != item.value) return;  // it has become better since
        if (++rounds_ % 1024 == 0) poll_interruption();
        arcs_from(item.vertex, [&](int64_t v, V weight) {
            relax(item.vertex, v, weight);
            return true;
        });
    }

    const Relaxing how_;
    const AnySemiring<V> semiring_;
    V* const value_;
    const V* const first_;
    int32_t *const parent_, *const level_;
    const int64_t size_;
    SettleScratch& scratch_;
    const V weight_;
    Queue suspects_{Later{semiring_}}, better_{Later{semiring_}};
    std::vector<int64_t> affected_;
    int64_t work_ = 0, rounds_ = 0;
    bool overflows_ = false;
};

template <class V>
std::tuple<int, int64_t> settle(SettleScratch& scratch, FollowedRows* out, FollowedRows* in, bool both_ways,
                                In<int64_t> pairs, Out<V> value, In<V> first, Out<int32_t> parent,
                                Out<int32_t> level, bool is_min, int edge, bool constant, int64_t whole, double real,
                                int64_t limit, bool plants, int64_t size) {
    const Relaxing how{out, in, both_ways, is_min, static_cast<Edge>(edge), constant, whole, real, limit};
    Settling<V> settling(how, value.data(), first.data(), parent.data(), level.data(), size, scratch);
    const Settled settled = settling.run(pairs, plants);
    return {static_cast<int>(settled), static_cast<int64_t>(scratch.touched.size())};
}

template <class V>
void bind_settle_of(Module& module) {
    module.def("settle", &settle<V>,
               "scratch, out, in_?, both_ways, pairs, value, first, parent?, level?, is_min, edge, constant, whole, "
               "real, limit, plants, size");
}

}  // namespace

void bind_settle(Module& module) {
    bind_class<SettleScratch>(module, "SettleScratch")
        .def(nb::init<>())
        .def(
            "touched",
            [](const SettleScratch& scratch, Out<int64_t> vertices) {
                std::copy(scratch.touched.begin(), scratch.touched.end(), vertices.data());
            },
            nb::arg("vertices"));
    bind_settle_of<int32_t>(module);
    bind_settle_of<int64_t>(module);
    bind_settle_of<float>(module);
    bind_settle_of<double>(module);
}

}  // namespace tgraph
