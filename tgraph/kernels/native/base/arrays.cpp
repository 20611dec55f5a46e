// Reads the address, size and dtype of a torch tensor through its Python attributes rather than torch's C++ ABI, so
// that one build works with every version of torch.
#include "base/arrays.hpp"

#include <utility>

namespace tgraph {
namespace {

// Interned attribute names, classes and dtypes of torch: looked up once, never released.
struct Torch {
    PyObject *tensor, *parameter;
    std::pair<PyObject*, nb::dlpack::dtype> types[8];
    PyObject *is_cpu, *requires_grad, *dtype, *numel, *is_contiguous, *data_ptr;

    explicit Torch(nb::handle torch)
        : tensor(kept(torch.attr("Tensor"))), parameter(kept(torch.attr("nn").attr("Parameter"))),
          types{{kept(torch.attr("float32")), nb::dtype<float>()},   {kept(torch.attr("int32")), nb::dtype<int32_t>()},
                {kept(torch.attr("int64")), nb::dtype<int64_t>()},   {kept(torch.attr("float64")), nb::dtype<double>()},
                {kept(torch.attr("uint8")), nb::dtype<uint8_t>()},   {kept(torch.attr("int16")), nb::dtype<int16_t>()},
                {kept(torch.attr("bool")), nb::dtype<bool>()},       {kept(torch.attr("int8")), nb::dtype<int8_t>()}},
          is_cpu(name("is_cpu")), requires_grad(name("requires_grad")), dtype(name("dtype")), numel(name("numel")),
          is_contiguous(name("is_contiguous")), data_ptr(name("data_ptr")) {}

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

// -1 for a null object, which is a call that failed.
PyObject* call(PyObject* object, PyObject* method) {  // PyObject_CallMethodNoArgs, which the stable ABI lacks
    return PyObject_VectorcallMethod(method, &object, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

int64_t integer(PyObject* found) {
    const int64_t number = found ? PyLong_AsLongLong(found) : -1;
    Py_XDECREF(found);
    return number;
}

Tensor read(const Torch& torch, PyObject* object, Array<void>& found) {
    if (!is_true(PyObject_GetAttr(object, torch.is_cpu)) || is_true(PyObject_GetAttr(object, torch.requires_grad)) ||
        !is_true(call(object, torch.is_contiguous)))
        return Tensor::refused;
    PyObject* const dtype = PyObject_GetAttr(object, torch.dtype);
    Py_XDECREF(dtype);  // a singleton that torch keeps alive
    for (const auto& [name, type] : torch.types) {
        if (name != dtype) continue;
        PyObject* const address = call(object, torch.data_ptr);
        void* const data = address ? PyLong_AsVoidPtr(address) : nullptr;
        Py_XDECREF(address);
        const int64_t size = integer(call(object, torch.numel));
        if (PyErr_Occurred()) return Tensor::refused;  // a tensor without storage
        found = {data, static_cast<std::size_t>(size), type};
        return Tensor::read;
    }
    return Tensor::refused;
}

}  // namespace

Tensor read_tensor(PyObject* object, Array<void>& found) noexcept {
    try {
        const Torch* const torch = torch_names();
        const PyTypeObject* const type = Py_TYPE(object);
        if (!torch || (type != reinterpret_cast<PyTypeObject*>(torch->tensor) &&
                       type != reinterpret_cast<PyTypeObject*>(torch->parameter)))
            return Tensor::none;
        const Tensor kind = read(*torch, object, found);
        if (kind == Tensor::refused) PyErr_Clear();
        return kind;
    } catch (...) {
        PyErr_Clear();
        return Tensor::refused;
    }
}

}  // namespace tgraph
