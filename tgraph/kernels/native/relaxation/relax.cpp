// Binding of relaxations to a fixpoint, advanced in time slices by Python.
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <tuple>

#include "base/classes.hpp"
#include "relaxation/relax.hpp"

namespace tgraph {
namespace {

// Arrays of a dtype known at run time.
using Weights = In<void>;
using Values = Out<void>;

Number number_of(DType type) {
    if (type == dtype_of<int32_t>) return Number::i32;
    if (type == dtype_of<int64_t>) return Number::i64;
    if (type == dtype_of<float>) return Number::f32;
    if (type == dtype_of<double>) return Number::f64;
    throw TypeError("expected int32, int64, float32 or float64");
}

Constant constant_of(nb::handle number) {
    if (nb::isinstance<nb::int_>(number)) {
        const auto integer = nb::cast<int64_t>(number);
        return {static_cast<double>(integer), integer};
    }
    return {nb::cast<double>(number), 0};
}

// A relaxation and its values. int64 values that cannot exceed 32 bits are converted to int32 meanwhile, which halves
// the memory that arcs access at random.
class Relaxation {
public:
    // `growth` : bound on the difference of a value to the initial values, negative if unknown.
    Relaxation(Problem problem, Values values, int64_t growth) {
        const Number type = number_of(values.dtype());
        num_vertices_ = problem.num_vertices;
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
        if (!fixpoint_) throw TypeError("weights: their dtype does not fit that of the values");
    }

    State advance(int64_t max_rounds, double seconds) {
        if (!interrupted_) fixpoint_->rounds.clear();
        const State state = fixpoint_->advance(max_rounds, seconds);
        interrupted_ = state == State::needs_transpose;
        if (narrow_ && !interrupted_) convert(narrow_.data(), wide_);
        return state;
    }

    Fixpoint& fixpoint() { return *fixpoint_; }
    int64_t num_vertices() const { return num_vertices_; }

private:
    // The value of unreached vertices.
    template <class V>
    V identity() const {
        return is_min_ ? highest<V>() : lowest<V>();
    }

    bool stays_small(const int64_t* values, int64_t growth) const {
        if (growth >= highest<int32_t>()) return false;
        const int64_t limit = highest<int32_t>() - growth, unreached = identity<int64_t>();
        return holds_for_all(size_, [=](int64_t i) {
            return (values[i] == unreached) | ((values[i] < limit) & (values[i] > -limit));
        });
    }

    template <class From, class To>
    void convert(const From* from, To* to) const {
        const From unreached = identity<From>();
        const To replacement = identity<To>();
        for_each_entry(size_, [=](int64_t i) {
            to[i] = from[i] == unreached ? replacement : static_cast<To>(from[i]);
        });
    }

    bool interrupted_ = false, is_min_;
    int64_t num_vertices_, size_;
    int64_t* wide_ = nullptr;
    Scratch<int32_t> narrow_;
    std::unique_ptr<Fixpoint> fixpoint_;
};

void check_ids(const int64_t* ids, int64_t count, int64_t num_vertices) {
    if (count > num_vertices) throw std::invalid_argument("ids: expected distinct vertices");
    for (int64_t i = 0; i < count; ++i)
        if (static_cast<uint64_t>(ids[i]) >= static_cast<uint64_t>(num_vertices))
            throw std::out_of_range("ids: no such vertex");
}

using GivenRows = std::vector<std::pair<In<int64_t>, In<int32_t>>>;

RowPieces pieces_of(const GivenRows& rows) {
    RowPieces found;
    if (rows.empty() || rows.size() > std::size(found.pieces)) throw std::invalid_argument("rows: one or two pieces");
    for (const auto& [offset, neighbors] : rows) {
        if (offset.shape(0) != rows[0].first.shape(0)) throw std::invalid_argument("rows: of other vertices");
        found.pieces[found.count++] = {offset.data(), neighbors.data()};
    }
    return found;
}

// Where a relaxation begins. The caller keeps the arrays alive.
Problem problem_of(const GivenRows& rows, Weights weights, nb::handle weight, nb::handle best_weight, int64_t width,
                   bool is_min, int edge, int mode, const std::array<int64_t, 4>& thresholds, double delta) {
    Problem problem{};
    problem.rows = pieces_of(rows);
    problem.num_vertices = static_cast<int64_t>(rows[0].first.shape(0)) - 1, problem.width = width;
    if (weights.is_valid()) {
        problem.weights = weights.data();
        problem.weight_type = number_of(weights.dtype());
    } else {
        problem.weight = constant_of(weight);
    }
    problem.bounded = !best_weight.is_none();
    if (problem.bounded) problem.best_weight = constant_of(best_weight);
    problem.is_min = is_min, problem.edge = static_cast<Edge>(edge);
    problem.mode = static_cast<DirectionPolicy::Mode>(mode);
    problem.thresholds = {thresholds[0], thresholds[1], thresholds[2], thresholds[3]};
    problem.delta = delta;
    return problem;
}

void begin_at(Problem& problem, In<int64_t> ids) {
    static const int64_t none = 0;  // null is for all vertices
    problem.ids = ids.is_valid() && !ids.data() ? &none : ids.data();
    problem.num_ids = static_cast<int64_t>(ids.shape(0));
    check_ids(problem.ids, problem.num_ids, problem.num_vertices);
}

void make(Relaxation* self, const GivenRows& rows, Weights weights, nb::object weight, nb::object best_weight,
          Values values, int64_t width, int64_t growth, bool is_min, int edge, int mode,
          std::array<int64_t, 4> thresholds, In<int64_t> ids, double delta) {
    Problem problem = problem_of(rows, weights, weight, best_weight, width, is_min, edge, mode, thresholds, delta);
    begin_at(problem, ids);
    nb::gil_scoped_release released;
    new (self) Relaxation(problem, values, growth);
}

// All that relaxations by one rule along the same rows have in common, of which each begins in one call.
struct Relaxations {
    Problem problem;
    int64_t growth;
    bool is_symmetric;
};

void prepare(Relaxations* self, const GivenRows& rows, Weights weights, nb::object weight, nb::object best_weight,
             int64_t width, int64_t growth, bool is_min, int edge, int mode, std::array<int64_t, 4> thresholds,
             double delta, bool is_symmetric) {
    new (self) Relaxations{
        problem_of(rows, weights, weight, best_weight, width, is_min, edge, mode, thresholds, delta), growth,
        is_symmetric};
}

// The number of rounds where values [n, ...] reach their fixpoint within `rounds` and `seconds`, else the state of the
// relaxation, to be advanced, and the relaxation.
nb::object relax(const Relaxations& self, Values values, In<int64_t> ids, int64_t rounds, double seconds) {
    Problem problem = self.problem;
    if (static_cast<int64_t>(values.shape(0)) != problem.num_vertices * problem.width)
        throw std::invalid_argument("values: expected those of all vertices");
    begin_at(problem, ids);
    std::unique_ptr<Relaxation> made;
    State state;
    {
        nb::gil_scoped_release released;
        made = std::make_unique<Relaxation>(problem, values, self.growth);
        if (self.is_symmetric) made->fixpoint().set_transpose(problem.rows, problem.weights);
        state = made->advance(rounds, seconds);
    }
    if (state == State::done) return nb::int_(made->fixpoint().rounds.size());
    return nb::make_tuple(static_cast<int>(state), nb::cast(made.release(), nb::rv_policy::take_ownership));
}

// The rounds of the last advance: (pull, active vertices, active arcs, changed vertices, milliseconds).
std::vector<std::tuple<bool, int64_t, int64_t, int64_t, double>> rounds(Relaxation& relaxation) {
    std::vector<std::tuple<bool, int64_t, int64_t, int64_t, double>> found;
    for (const Round& round : relaxation.fixpoint().rounds)
        found.emplace_back(round.pull, round.active, round.arcs, round.changed, round.milliseconds);
    return found;
}

void restart(Relaxation& relaxation, In<int64_t> ids, int mode) {
    const auto count = static_cast<int64_t>(ids.shape(0));
    check_ids(ids.data(), count, relaxation.num_vertices());
    const int64_t none = 0;
    relaxation.fixpoint().restart(ids.is_valid() && !ids.data() ? &none : ids.data(), count, mode);
}

void list(Relaxation& relaxation, Out<int64_t> vertices) {
    if (static_cast<int64_t>(vertices.shape(0)) != relaxation.fixpoint().active())
        throw std::invalid_argument("vertices: expected room for the active ones");
    relaxation.fixpoint().list(vertices.data());
}

void set_transpose(Relaxation& relaxation, const GivenRows& rows, Weights weights) {
    relaxation.fixpoint().set_transpose(pieces_of(rows), weights.data());
}

}  // namespace

void bind_relax(Module& module) {
    bind_class<Relaxation>(module, "Relaxation")
        .def("__init__", &make, nb::arg("rows"), nb::arg("weights").none(), nb::arg("weight"),
             nb::arg("best_weight").none(),
             nb::arg("values"), nb::arg("width"), nb::arg("growth"), nb::arg("is_min"), nb::arg("edge"),
             nb::arg("mode"), nb::arg("thresholds"), nb::arg("ids").none(), nb::arg("delta"))
        .def("set_transpose", &set_transpose, nb::arg("rows"), nb::arg("weights").none())
        .def(
            "advance",
            [](Relaxation& self, int64_t rounds, double seconds) {
                return static_cast<int>(self.advance(rounds, seconds));
            },
            nb::arg("rounds"), nb::arg("seconds"), nb::call_guard<nb::gil_scoped_release>(),
            "0 at the fixpoint, 1 if it is to be called again, 2 if it needs `set_transpose` first.")
        .def("restart", &restart, nb::arg("ids").none(), nb::arg("mode"))
        .def("list", &list, nb::arg("vertices"), "Writes the active vertices, int64 [active].")
        .def("rounds", &rounds)
        .def_prop_ro("num_rounds", [](Relaxation& self) { return self.fixpoint().rounds.size(); })
        .def_prop_ro("active", [](Relaxation& self) { return self.fixpoint().active(); });
    bind_class<Relaxations>(module, "Relaxations")
        .def("__init__", &prepare, nb::arg("rows"), nb::arg("weights").none(), nb::arg("weight"),
             nb::arg("best_weight").none(), nb::arg("width"), nb::arg("growth"), nb::arg("is_min"), nb::arg("edge"),
             nb::arg("mode"), nb::arg("thresholds"), nb::arg("delta"), nb::arg("is_symmetric"))
        .def("relax", &relax, nb::arg("values"), nb::arg("ids").none(), nb::arg("rounds"), nb::arg("seconds"));
}

}  // namespace tgraph
