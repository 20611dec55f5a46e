// What binds classes, and functions on objects of Python, by nanobind; kernels on arrays and numbers need bindings.hpp
// alone. Arrays are converted by the same code in both.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "base/bindings.hpp"

namespace tgraph {

namespace nb = nanobind;

// Reads an array from a tensor, or from an object with the buffer protocol or DLPack, which `held` then keeps alive.
// `found` is not valid if the object is none of these, is not contiguous or not on the CPU, or requires a gradient.
// Returns whether the array may be written to.
bool read_array(PyObject* object, Array<void>& found, nb::object& held) noexcept;

// A contiguous copy of a tensor that is not contiguous, null for everything else.
nb::object contiguous(PyObject* object) noexcept;

// Whether an object is a tensor whose storage is smaller than itself: it was freed or resized.
bool lacks_memory(PyObject* object);

// Whether all tensors among the arguments of a call are contiguous numbers on the CPU that their storages hold.
bool are_common(nb::tuple arguments, nb::dict named) noexcept;

// An array of numpy, which frees the memory by std::free.
nb::object numpy_array(void* data, int64_t size, DType type);

// The module, for functions on objects of Python, by nanobind.
inline nb::module_ python_module(const Module& module) { return nb::borrow<nb::module_>(module.python()); }

// Binds a class, whose instances kernels take from then on.
template <class C, class... Extra>
nb::class_<C> bind_class(Module& module, const char* name, const Extra&... extra) {
    nb::class_<C> bound(nb::handle(module.python()), name, extra...);
    Module::add_class(typeid(C), bound.ptr());
    return bound;
}

// Results that are instances of these classes, or objects of nanobind.
template <class C>
    requires(std::is_class_v<C> && !is_standard<C>)
struct Returned<C> {
    static PyObject* convert(C&& found) { return nb::cast(std::move(found)).release().ptr(); }
};

}  // namespace tgraph

namespace nanobind::detail {

template <class T>
struct type_caster<tgraph::Array<T>> {
    NB_TYPE_CASTER(tgraph::Array<T>, const_name("array"))

    bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
        value = {};
        if (source.is_none()) return true;
        tgraph::Array<void> found;
        const bool writable = tgraph::read_array(source.ptr(), found, held_);
        if (!found.is_valid() || (!std::is_const_v<T> && !writable)) return false;
        if constexpr (!std::is_void_v<T>)
            if (found.dtype() != tgraph::dtype_of<T>) return false;
        value = {static_cast<T*>(found.data()), found.shape(0), found.dtype()};
        return true;
    }

private:
    object held_;  // during the call
};

}  // namespace nanobind::detail
