// What every binding file shares: array types, and the list of the files' entry points.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace tgraph {

namespace nb = nanobind;

// One-dimensional CPU arrays, taken as they are: an argument of another dtype or device is a TypeError.
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void bind_csr(nb::module_& module);

}  // namespace tgraph
