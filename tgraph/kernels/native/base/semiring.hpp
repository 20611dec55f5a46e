// Semirings: reductions and edge operations on scalars and vectors.
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

}  // namespace tgraph
