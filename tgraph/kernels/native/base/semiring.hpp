// Semirings: reductions and edge operations on scalars and vectors, and the dispatch from their names to types.
#pragma once

#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/numbers.hpp"
#include "base/simd.hpp"

namespace tgraph {

// Integer vectors, and the unsigned vector of the same width.
template <class A>
concept IntegerVector = requires(A a) { requires std::is_integral_v<std::remove_cvref_t<decltype(a[0])>>; };

template <IntegerVector A>
struct UnsignedVector {
    using Element = std::make_unsigned_t<std::remove_cvref_t<decltype(std::declval<A&>()[0])>>;
    typedef Element type __attribute__((vector_size(sizeof(A))));
};

// Integers wrap around, as in torch: computed unsigned, since signed overflow is undefined.
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

// min and max propagate NaN from either argument. Scalars go through a vector, whose select compiles to no branch: the
// outcome is unpredictable.
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

// Calls visit(Reduce{}, Edge{}) for a pair of names; data is T, weights W, and the accumulator A. Each pair takes
// seconds to compile for each dtype, so only those that algorithms and layers use are compiled; the Python wrapper of
// the native backend lists the same pairs. Integer sums exist in 64 bits only, and bytes have no weights.
template <class T, class A, class W, class Visit>
void with_pair(std::string_view reduce, std::string_view edge, Visit visit) {
    constexpr bool narrow = is_narrow<T>, mixed = !(narrow || std::is_same_v<T, A>) || !std::is_same_v<T, W>;
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t)) {
        if (reduce == "sum" && edge == "copy") return visit(Plus{}, Copy{});
        if (reduce == "sum" && edge == "mul") return visit(Plus{}, Times{});
        if constexpr (!narrow && !mixed)
            if (reduce == "prod" && edge == "copy") return visit(Times{}, Copy{});
    }
    if constexpr (!mixed) {
        const auto with_edge = [&](auto reduction) {
            if (edge == "copy") return visit(reduction, Copy{});
            if constexpr (sizeof(A) > 1)
                if (edge == "mul") return visit(reduction, Times{});
            if constexpr (sizeof(A) > 1 && !narrow)
                if (edge == "add") return visit(reduction, Plus{});
            throw std::invalid_argument("edge: no such operation is compiled");
        };
        if (reduce == "min") return with_edge(Lesser{});
        if (reduce == "max") return with_edge(Greater{});
    }
    throw std::invalid_argument("reduce, edge: no such pair is compiled");
}

}  // namespace tgraph
