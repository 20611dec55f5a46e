// Bindings of relaxations.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <tuple>

#include "base/bindings.hpp"
#include "relaxation/relax.hpp"

namespace tgraph {
namespace {

// Arrays of whichever number; what it is, is looked up.
using Weights = In<void>;
using Values = Out<void>;

Number number_of(nb::dlpack::dtype type) {
    if (type == nb::dtype<int32_t>()) return Number::i32;
    if (type == nb::dtype<int64_t>()) return Number::i64;
    if (type == nb::dtype<float>()) return Number::f32;
    if (type == nb::dtype<double>()) return Number::f64;
    throw nb::type_error("expected int32, int64, float32 or float64");
}

Constant constant_of(nb::handle number) {
    if (nb::isinstance<nb::int_>(number)) {
        const auto integer = nb::cast<int64_t>(number);
        return {static_cast<double>(integer), integer};
    }
    return {nb::cast<double>(number), 0};
}

// A relaxation and its values. int64 values that cannot grow beyond 32 bits are kept in as many meanwhile: half the
// memory, of which every arc reads an entry at random.
class Relaxation {
public:
    // `growth` is how far a value can move away from the first values, negative where that is not known.
    Relaxation(Problem problem, Values values, int64_t growth) {
        const Number type = number_of(values.dtype());
        size_ = problem.num_vertices * problem.width;
        is_min_ = problem.is_min;
        if (type == Number::i64 && growth >= 0 && stays_small(static_cast<int64_t*>(values.data()), growth)) {
            wide_ = static_cast<int64_t*>(values.data());
            narrow_ = Scratch<int32_t>(size_);
            convert(wide_, narrow_.data());
            fixpoint_ = start(problem, narrow_.data());
        } else if (type == Number::i32) {
            fixpoint_ = start(problem, static_cast<int32_t*>(values.data()));
        } else if (type == Number::i64) {
            fixpoint_ = start(problem, static_cast<int64_t*>(values.data()));
        } else if (type == Number::f32) {
            fixpoint_ = start(problem, static_cast<float*>(values.data()));
        } else {
            fixpoint_ = start(problem, static_cast<double*>(values.data()));
        }
        if (!fixpoint_) throw nb::type_error("the values cannot hold sums of such weights");
    }

    State advance(int64_t max_rounds, double seconds) {
        if (!interrupted_) fixpoint_->rounds.clear();
        const State state = fixpoint_->advance(max_rounds, seconds);
        interrupted_ = state == State::wants_transpose;
        if (narrow_ && state != State::wants_transpose) convert(narrow_.data(), wide_);
        return state;
    }

    Fixpoint& fixpoint() { return *fixpoint_; }

private:
    // What stands for "not reached", the one number that has another meaning than its value.
    template <class V>
    V identity() const {
        return is_min_ ? highest<V>() : lowest<V>();
    }

    bool stays_small(const int64_t* values, int64_t growth) const {
        if (growth >= highest<int32_t>()) return false;
        const int parts = part_count(size_);
        std::vector<char> small(parts, true);
        const int64_t limit = highest<int32_t>() - growth, unreached = identity<int64_t>();
        for_each_part(parts, [&](int part) {
            const Range range = part_of(size_, part, parts);
            bool fits = true;
            for (int64_t i = range.begin; i < range.end; ++i)
                fits &= (values[i] == unreached) | ((values[i] < limit) & (values[i] > -limit));
            small[part] = fits;
        });
        return std::find(small.begin(), small.end(), 0) == small.end();
    }

    template <class From, class To>
    void convert(const From* from, To* to) const {
        const int parts = part_count(size_);
        for_each_part(parts, [&](int part) {
            const Range range = part_of(size_, part, parts);
            for (int64_t i = range.begin; i < range.end; ++i)
                to[i] = from[i] == identity<From>() ? identity<To>() : static_cast<To>(from[i]);
        });
    }

    bool interrupted_ = false, is_min_;
    int64_t size_;
    int64_t* wide_ = nullptr;
    Scratch<int32_t> narrow_;
    std::unique_ptr<Fixpoint> fixpoint_;
};

// The caller keeps the arrays alive.
void make(Relaxation* self, In<int64_t> offset, In<int32_t> neighbors, std::optional<Weights> weights,
          nb::object weight, nb::object best_weight, bool bounded, Values values, int64_t width, int64_t growth,
          bool is_min, int edge, int mode, std::array<int64_t, 4> thresholds, std::optional<In<int64_t>> ids,
          double delta) {
    Problem problem{};
    problem.offset = offset.data(), problem.neighbors = neighbors.data();
    problem.num_vertices = static_cast<int64_t>(offset.shape(0)) - 1, problem.width = width;
    if (weights) {
        problem.weights = weights->data();
        problem.weight_type = number_of(weights->dtype());
    } else {
        problem.weight = constant_of(weight);
    }
    problem.bounded = bounded;
    if (bounded) problem.best_weight = constant_of(best_weight);
    problem.is_min = is_min, problem.edge = static_cast<Edge>(edge);
    problem.mode = static_cast<DirectionPolicy::Mode>(mode);
    problem.thresholds = {thresholds[0], thresholds[1], thresholds[2], thresholds[3]};
    if (ids) problem.ids = ids->data(), problem.num_ids = static_cast<int64_t>(ids->shape(0));
    if (problem.num_ids > problem.num_vertices) throw nb::value_error("a frontier names some vertex twice");
    for (int64_t i = 0; i < problem.num_ids; ++i)
        if (static_cast<uint64_t>(problem.ids[i]) >= static_cast<uint64_t>(problem.num_vertices))
            throw nb::index_error("a frontier holds an index that is no vertex");
    problem.delta = delta;
    nb::gil_scoped_release released;
    new (self) Relaxation(problem, values, growth);
}

// What the rounds of the last advance did: (pulled, active vertices, active arcs, changed vertices, milliseconds).
std::vector<std::tuple<bool, int64_t, int64_t, int64_t, double>> rounds(Relaxation& relaxation) {
    std::vector<std::tuple<bool, int64_t, int64_t, int64_t, double>> found;
    for (const Round& round : relaxation.fixpoint().rounds)
        found.emplace_back(round.pull, round.active, round.arcs, round.changed, round.milliseconds);
    return found;
}

void set_transpose(Relaxation& relaxation, In<int64_t> offset, In<int32_t> neighbors,
                   std::optional<Weights> weights) {
    relaxation.fixpoint().set_transpose(offset.data(), neighbors.data(), weights ? weights->data() : nullptr);
}

}  // namespace

void bind_relax(nb::module_& module) {
    using nb::arg;
    nb::class_<Relaxation>(module, "Relaxation")
        .def("__init__", &make, arg("offset").noconvert(), arg("neighbors").noconvert(),
             arg("weights").noconvert().none(), arg("weight"), arg("best_weight").none(), arg("bounded"),
             arg("values").noconvert(), arg("width"), arg("growth"), arg("is_min"), arg("edge"), arg("mode"),
             arg("thresholds"), arg("ids").noconvert().none(), arg("delta"))
        .def("set_transpose", &set_transpose, arg("offset").noconvert(), arg("neighbors").noconvert(),
             arg("weights").noconvert().none())
        .def(
            "advance",
            [](Relaxation& self, int64_t rounds, double seconds) {
                return static_cast<int>(self.advance(rounds, seconds));
            },
            arg("rounds"), arg("seconds"), nb::call_guard<nb::gil_scoped_release>(),
            "0 where nothing is active any more, 1 to be called again, 2 to go on once the transpose is there.")
        .def("rounds", &rounds)
        .def_prop_ro("num_rounds", [](Relaxation& self) { return self.fixpoint().rounds.size(); })
        .def_prop_ro("active", [](Relaxation& self) { return self.fixpoint().active(); });
}

}  // namespace tgraph
