// Reads the address, size and dtype of a torch tensor through its Python attributes rather than torch's C++ ABI, so
// that one build works with every version of torch; and not by DLPack, which takes ten times as long, more than a small
// kernel.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <string>
#include <utility>

#ifndef _WIN32
#include <dlfcn.h>
#endif

#include "base/classes.hpp"

namespace tgraph {
namespace {

// What the stable C interface of torch (that of ahead-of-time compilation) tells about a tensor, in a few nanoseconds
// each where an attribute of Python takes fifty. Not every version of torch has it, nor is it found on every system.
struct Interface {
    using Handle = void* const*;  // to the address in which a tensor of C++ consists
    int32_t (*contiguous)(Handle, bool*) = nullptr;
    int32_t (*numel)(Handle, int64_t*) = nullptr;
    int32_t (*offset)(Handle, int64_t*) = nullptr;
    int32_t (*storage_size)(Handle, int64_t*) = nullptr;
    int32_t (*device)(Handle, int32_t*) = nullptr;
    int32_t (*layout)(Handle, int32_t*) = nullptr;
    int32_t (*dtype)(Handle, int32_t*) = nullptr;

    bool is_complete() const { return contiguous && numel && offset && storage_size; }
    bool tells_kind() const { return is_complete() && device && layout && dtype; }

    // Looked up in the library that torch has loaded, in the folder of its package.
    explicit Interface([[maybe_unused]] const std::string& folder) {
#ifndef _WIN32
        for (const char* const file : {"/lib/libtorch_cpu.so", "/lib/libtorch_cpu.dylib"}) {
            void* const library = dlopen((folder + file).c_str(), RTLD_LAZY | RTLD_NOLOAD);
            if (!library) continue;
            find(library, contiguous, "is_contiguous"), find(library, numel, "get_numel");
            find(library, offset, "get_storage_offset"), find(library, storage_size, "get_storage_size");
            find(library, device, "get_device_type"), find(library, layout, "get_layout");
            find(library, dtype, "get_dtype");
        }
#endif
    }

private:
    template <class Function>
    static void find([[maybe_unused]] void* library, [[maybe_unused]] Function& function, const char* name) {
#ifndef _WIN32
        function = reinterpret_cast<Function>(dlsym(library, (std::string("aoti_torch_") + name).c_str()));
#endif
    }
};

// Interned attribute names, classes and dtypes of torch: looked up once, never released.
struct Torch {
    PyObject *tensor, *parameter;
    std::pair<PyObject*, DType> types[8];
    PyObject *is_cpu, *requires_grad, *dtype, *numel, *is_contiguous, *data_ptr;
    PyObject *cdata, *storage, *nbytes, *storage_offset, *is_neg, *is_nested, *is_transformed;
    Interface interface;

    explicit Torch(nb::handle torch)
        : tensor(kept(torch.attr("Tensor"))), parameter(kept(torch.attr("nn").attr("Parameter"))),
          types{{kept(torch.attr("float32")), DType::float32}, {kept(torch.attr("int32")), DType::int32},
                {kept(torch.attr("int64")), DType::int64},     {kept(torch.attr("float64")), DType::float64},
                {kept(torch.attr("uint8")), DType::uint8},     {kept(torch.attr("int16")), DType::int16},
                {kept(torch.attr("bool")), DType::boolean},    {kept(torch.attr("int8")), DType::int8}},
          is_cpu(name("is_cpu")), requires_grad(name("requires_grad")), dtype(name("dtype")), numel(name("numel")),
          is_contiguous(name("is_contiguous")), data_ptr(name("data_ptr")), cdata(name("_cdata")),
          storage(name("untyped_storage")), nbytes(name("nbytes")), storage_offset(name("storage_offset")),
          is_neg(name("is_neg")), is_nested(name("is_nested")),
          is_transformed(kept(torch.attr("_C").attr("_functorch").attr("is_functorch_wrapped_tensor"))),
          interface(nb::cast<std::string>(torch.attr("__path__")[0])) {}

    static PyObject* kept(nb::object object) { return object.release().ptr(); }
    static PyObject* name(const char* text) { return PyUnicode_InternFromString(text); }
};

// Null until torch is imported; no argument can be a tensor before.
const Torch* torch_names() {
    static const Torch* names = nullptr;
    if (!names) {
        if (PyObject* torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch")) names = new Torch(torch);
    }
    return names;
}

bool is_true(PyObject* found) {
    const bool yes = found == Py_True;
    Py_XDECREF(found);
    return yes;
}

// Null for a call that failed.
PyObject* call(PyObject* object, PyObject* method) {  // PyObject_CallMethodNoArgs, which the stable ABI lacks
    return PyObject_VectorcallMethod(method, &object, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

int64_t integer(PyObject* found) {
    const int64_t number = found ? PyLong_AsLongLong(found) : -1;
    Py_XDECREF(found);
    return number;
}

// The numbers of a contiguous tensor, and those that its storage holds from its first one on. A storage has fewer where
// it was resized or freed after the tensor was made.
struct Extent {
    int64_t size = -1, held = -1;

    Extent(const Torch& torch, PyObject* tensor, int64_t bytes) {
        int64_t first = -1, stored = -1;
        if (torch.interface.is_complete()) {
            const int64_t address = integer(PyObject_GetAttr(tensor, torch.cdata));
            if (PyErr_Occurred()) return;
            void* const handle = reinterpret_cast<void*>(address);
            bool contiguous = false;
            if (torch.interface.contiguous(&handle, &contiguous) || !contiguous) return;
            if (torch.interface.numel(&handle, &size) || torch.interface.offset(&handle, &first) ||
                torch.interface.storage_size(&handle, &stored))
                return;
        } else {
            if (!is_true(call(tensor, torch.is_contiguous))) return;
            size = integer(call(tensor, torch.numel)), first = integer(call(tensor, torch.storage_offset));
            PyObject* const storage = call(tensor, torch.storage);
            stored = storage ? integer(call(storage, torch.nbytes)) : -1;
            Py_XDECREF(storage);
        }
        held = stored / bytes - first;
    }
};

// A subclass may answer for its attributes as it likes, and need not have memory: it is not read.
bool is_plain(const Torch& torch, PyObject* object) {
    PyTypeObject* const type = Py_TYPE(object);
    return type == reinterpret_cast<PyTypeObject*>(torch.tensor) ||
           type == reinterpret_cast<PyTypeObject*>(torch.parameter);
}

bool is_tensor(const Torch& torch, PyObject* object) {
    return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(torch.tensor));
}

// Bytes of a number by the code of its dtype in the C interface, 0 for what is quantised or unknown.
constexpr int64_t sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 0, 0, 0, 2};

// Whether a tensor is of the most common kind: contiguous numbers on the CPU, all of them in its storage.
bool is_common(const Torch& torch, PyObject* tensor) {
    if (is_true(PyObject_GetAttr(tensor, torch.is_nested)) || is_true(call(tensor, torch.is_neg))) return false;
    PyObject* const given[] = {nullptr, tensor};
    if (!torch.interface.tells_kind() ||
        is_true(PyObject_Vectorcall(torch.is_transformed, given + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)))
        return false;
    const int64_t address = integer(PyObject_GetAttr(tensor, torch.cdata));
    if (PyErr_Occurred()) return false;
    void* const handle = reinterpret_cast<void*>(address);
    int32_t device = -1, layout = -1, dtype = -1;
    if (torch.interface.device(&handle, &device) || torch.interface.layout(&handle, &layout) ||
        torch.interface.dtype(&handle, &dtype))
        return false;
    if (device || layout || dtype < 0 || dtype >= static_cast<int32_t>(std::size(sizes)) || !sizes[dtype]) return false;
    const Extent extent(torch, tensor, sizes[dtype]);
    return extent.size >= 0 && extent.held >= extent.size;
}

void read_tensor(const Torch& torch, PyObject* object, Array<void>& found) {
    if (!is_true(PyObject_GetAttr(object, torch.is_cpu)) || is_true(PyObject_GetAttr(object, torch.requires_grad)))
        return;
    PyObject* const dtype = PyObject_GetAttr(object, torch.dtype);
    Py_XDECREF(dtype);  // a singleton that torch keeps alive
    for (const auto& [name, type] : torch.types) {
        if (name != dtype) continue;
        PyObject* const address = call(object, torch.data_ptr);  // fails for a tensor without storage
        void* const data = address ? PyLong_AsVoidPtr(address) : nullptr;
        Py_XDECREF(address);
        if (PyErr_Occurred()) return;
        const Extent extent(torch, object, bytes_of(type));
        if (PyErr_Occurred() || extent.size < 0 || (extent.size && (!data || extent.held < extent.size))) return;
        found = {data, static_cast<std::size_t>(extent.size), type};
        return;
    }
}

const std::pair<DType, nb::dlpack::dtype> dlpack_types[] = {
    {DType::boolean, nb::dtype<bool>()},   {DType::uint8, nb::dtype<uint8_t>()},  {DType::int8, nb::dtype<int8_t>()},
    {DType::int16, nb::dtype<int16_t>()},  {DType::int32, nb::dtype<int32_t>()},  {DType::int64, nb::dtype<int64_t>()},
    {DType::float32, nb::dtype<float>()},  {DType::float64, nb::dtype<double>()}};

DType from_dlpack(nb::dlpack::dtype type) {
    for (const auto& [ours, theirs] : dlpack_types)
        if (theirs == type) return ours;
    return DType::other;
}

nb::dlpack::dtype to_dlpack(DType type) {
    for (const auto& [ours, theirs] : dlpack_types)
        if (ours == type) return theirs;
    throw std::invalid_argument("no numbers of numpy");
}

template <class... Access>
bool read_buffer(PyObject* object, Array<void>& found, nb::object& held) {
    nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu, Access...> array;
    if (!nb::try_cast(nb::handle(object), array, false)) return false;
    found = {const_cast<void*>(static_cast<const void*>(array.data())), array.shape(0), from_dlpack(array.dtype())};
    held = nb::capsule(new auto(std::move(array)),
                       [](void* kept) noexcept { delete static_cast<decltype(&array)>(kept); });
    return true;
}

}  // namespace

nb::object contiguous(PyObject* object) noexcept {
    const Torch* const torch = torch_names();
    if (!torch || !is_plain(*torch, object) || is_true(call(object, torch->is_contiguous))) return {};
    PyObject* const copied = PyErr_Occurred() ? nullptr : PyObject_CallMethod(object, "contiguous", nullptr);
    if (!copied) PyErr_Clear();
    return nb::steal(copied);
}

bool lacks_memory(PyObject* object) {
    const Torch* const torch = torch_names();
    if (!torch || !is_plain(*torch, object)) return false;
    const nb::handle tensor(object);
    try {
        const auto size = nb::cast<int64_t>(tensor.attr("numel")());
        const auto last = nb::cast<int64_t>(tensor.attr("storage_offset")()) + size;
        const auto bytes = nb::cast<int64_t>(tensor.attr("element_size")());
        return size && nb::cast<int64_t>(tensor.attr("untyped_storage")().attr("nbytes")()) < last * bytes;
    } catch (nb::python_error&) {
        return false;
    }
}

bool are_common(nb::tuple arguments, nb::dict named) noexcept {
    const Torch* const torch = torch_names();
    const auto serves = [torch](PyObject* object) {
        return !torch || !is_tensor(*torch, object) || (is_plain(*torch, object) && is_common(*torch, object));
    };
    bool all = true;
    for (Py_ssize_t i = 0, count = PyTuple_Size(arguments.ptr()); all && i < count; ++i)
        all = serves(PyTuple_GetItem(arguments.ptr(), i));
    PyObject *name = nullptr, *value = nullptr;
    for (Py_ssize_t place = 0; all && PyDict_Next(named.ptr(), &place, &name, &value);) all = serves(value);
    if (PyErr_Occurred()) PyErr_Clear(), all = false;
    return all;
}

nb::object numpy_array(void* data, int64_t size, DType type) {
    nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
    return nb::cast(nb::ndarray<nb::numpy, nb::ndim<1>>(data, {static_cast<std::size_t>(size)}, owner, {},
                                                        to_dlpack(type)));
}

bool read_array(PyObject* object, Array<void>& found, nb::object& held) noexcept {
    bool writable = true;
    try {
        const Torch* const torch = torch_names();
        if (torch && is_plain(*torch, object))
            read_tensor(*torch, object, found);
        else if (torch && is_tensor(*torch, object))
            return false;
        else if (!read_buffer(object, found, held))
            writable = false, read_buffer<nb::ro>(object, found, held);
    } catch (...) {
        found = {};
    }
    if (PyErr_Occurred()) PyErr_Clear();
    return writable;
}

}  // namespace tgraph
