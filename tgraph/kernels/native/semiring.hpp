// Reductions and edge operations, on numbers and on vectors of them, and the way from their names to their types.
#pragma once

#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "numbers.hpp"
#include "simd.hpp"

namespace tgraph {

// Vectors of integers, and those of the same unsigned ones.
template <class A>
concept IntegerVector = requires(A a) { requires std::is_integral_v<std::remove_cvref_t<decltype(a[0])>>; };

template <IntegerVector A>
struct UnsignedVector {
    using Element = std::make_unsigned_t<std::remove_cvref_t<decltype(std::declval<A&>()[0])>>;
    typedef Element type __attribute__((vector_size(sizeof(A))));
};

// Integers wrap around as torch's do, which for signed ones C++ leaves undefined.
template <class A>
TGRAPH_INLINE A plus(A a, A b) {
    if constexpr (std::is_integral_v<A>) {
        return static_cast<A>(static_cast<std::make_unsigned_t<A>>(a) + static_cast<std::make_unsigned_t<A>>(b));
    } else if constexpr (IntegerVector<A>) {
        using Wrapping = typename UnsignedVector<A>::type;
        return (A)((Wrapping)a + (Wrapping)b);
    } else {
        return a + b;
    }
}

template <class A>
TGRAPH_INLINE A times(A a, A b) {
    if constexpr (std::is_integral_v<A>) {
        return static_cast<A>(static_cast<std::make_unsigned_t<A>>(a) * static_cast<std::make_unsigned_t<A>>(b));
    } else if constexpr (IntegerVector<A>) {
        using Wrapping = typename UnsignedVector<A>::type;
        return (A)((Wrapping)a * (Wrapping)b);
    } else {
        return a * b;
    }
}

// Both hand a NaN on, whichever argument it is. A number goes through a vector, whose selection takes no branch: which
// of two messages is the lesser is as hard to predict as can be.
template <class A>
TGRAPH_INLINE A lesser(A a, A b) {
    if constexpr (std::is_integral_v<A>) {
        return b < a ? b : a;
    } else if constexpr (std::is_floating_point_v<A>) {
        using Lanes = Vector<A, 16 / sizeof(A)>;
        return lesser(Lanes{a}, Lanes{b})[0];
    } else {
        return ((b < a) | (b != b)) ? b : a;
    }
}

template <class A>
TGRAPH_INLINE A greater(A a, A b) {
    if constexpr (std::is_integral_v<A>) {
        return b > a ? b : a;
    } else if constexpr (std::is_floating_point_v<A>) {
        using Lanes = Vector<A, 16 / sizeof(A)>;
        return greater(Lanes{a}, Lanes{b})[0];
    } else {
        return ((b > a) | (b != b)) ? b : a;
    }
}

#define TGRAPH_OPERATION(Name, function)          \
    struct Name {                                 \
        static constexpr bool weighted = true;    \
        template <class A>                        \
        TGRAPH_INLINE static A apply(A a, A b) {  \
            return function(a, b);                \
        }                                         \
    };
TGRAPH_OPERATION(Plus, plus)
TGRAPH_OPERATION(Times, times)
TGRAPH_OPERATION(Lesser, lesser)
TGRAPH_OPERATION(Greater, greater)
#undef TGRAPH_OPERATION

struct Copy {
    static constexpr bool weighted = false;
    template <class A>
    TGRAPH_INLINE static A apply(A a, A) {
        return a;
    }
};

// Calls visit(Reduce{}) for a reduction by its name. Narrow integers are compared but never added: sums are int64.
template <class A, class Visit>
void with_reduction(std::string_view name, Visit visit) {
    if (name == "min") return visit(Lesser{});
    if (name == "max") return visit(Greater{});
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t)) {
        if (name == "sum") return visit(Plus{});
        if (name == "prod") return visit(Times{});
    }
    throw std::invalid_argument("reduce: no such reduction");
}

// Calls visit(Edge{}) for an edge operation by its name.
template <class A, class Visit>
void with_edge(std::string_view name, Visit visit) {
    if (name == "copy") return visit(Copy{});
    if constexpr (sizeof(A) > 1) {
        if (name == "add") return visit(Plus{});
        if (name == "mul") return visit(Times{});
        if (name == "min") return visit(Lesser{});
        if (name == "max") return visit(Greater{});
    }
    throw std::invalid_argument("edge: no such operation");
}

}  // namespace tgraph
