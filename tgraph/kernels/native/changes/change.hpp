// Changes of the arcs of a graph. A change is one number: the row in bits 32 to 62, the column in bits 1 to 31, and bit
// 0 says that the arc is there. Changes sort by row, then column, and a deletion comes before the arcs that were
// inserted after it: what follows a deletion is all that is left of its pair.
#pragma once

#include <cstdint>

namespace tgraph {

using Change = int64_t;

inline int64_t pair_of(Change change) { return change >> 1; }
inline bool inserts(Change change) { return change & 1; }
inline int64_t row_of(Change change) { return change >> 32; }
inline int64_t column_of(Change change) { return (change >> 1) & 0x7fffffff; }
inline Change change_of(int64_t row, int64_t column, bool there) { return row << 32 | column << 1 | there; }

// What becomes of parallel arcs: the last one stays, their weights are added, or all stay.
enum class Parallel : int { last, sum, keep };

}  // namespace tgraph
