// The array types of all bindings.
#pragma once

#include "base/arrays.hpp"
#include "base/numbers.hpp"

namespace tgraph {

// Numbers as Python passes them: bfloat16 and float16 as int16 bits.
template <class T>
using Passed = std::conditional_t<is_narrow<T>, int16_t, T>;

}  // namespace tgraph
