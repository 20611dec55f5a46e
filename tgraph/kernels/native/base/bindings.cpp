// Calls of kernels from Python: arguments by position and name to their C++ types, the choice of an overload, and
// errors.
#include "base/bindings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <string>
#include <typeindex>

#include "base/classes.hpp"

namespace tgraph {
namespace {

constexpr std::size_t most_parameters = 32;

struct Overload {
    std::vector<Parameter> parameters;
    Module::Function function;
    Module::Call call;
    Gil gil;
    bool keeps_nothing;  // of its arguments, so that copies of them may go when it returns
};

// All functions of one name. They have the same names of parameters.
struct Kernel {
    std::string name;
    std::vector<std::string> parameters;
    std::vector<bool> accepts_none;
    std::vector<Overload> overloads;
    PyMethodDef method;

    PyObject* operator()(PyObject* const* given, Py_ssize_t positional, PyObject* keywords) const;

private:
    using Objects = std::array<PyObject*, most_parameters>;

    void place(PyObject* const* given, Py_ssize_t positional, PyObject* keywords, Objects& objects) const;
    std::size_t index_of(PyObject* keyword) const;
    [[noreturn]] void refuse(const Objects& objects, std::size_t i) const;
};

// The Python classes of C++ classes, for parameters of these.
std::map<std::type_index, PyObject*>& classes() {
    static std::map<std::type_index, PyObject*> found;
    return found;
}

// ---- arguments ------------------------------------------------------------------------------------------------------

bool succeeded() {
    if (!PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

// Owners of arrays that are not tensors, and contiguous copies: they have their memory until the call ends.
using Held = std::vector<nb::object>;

struct Conversion {
    PyObject* object;
    Argument& to;
    bool read = false, writable = false;  // an array: read once, whatever the number of overloads

    // False if the parameter does not accept the object.
    bool as(const Parameter& parameter, bool accepts_none, bool copies, Held& held) {
        if (object == Py_None && accepts_none) return true;
        switch (parameter.kind) {
            case Parameter::boolean: return to.integer = object == Py_True, object == Py_True || object == Py_False;
            case Parameter::integer: return as_integer(parameter);
            case Parameter::number: return as_number();
            case Parameter::text: return as_text();
            case Parameter::array: return as_array(parameter, copies, held);
            default: return as_instance(parameter);
        }
    }

private:
    bool as_integer(const Parameter& parameter) {
        if (PyFloat_Check(object)) return false;
        if (parameter.most < parameter.least) {
            to.integer = static_cast<int64_t>(PyLong_AsUnsignedLongLong(object));
            return succeeded();
        }
        to.integer = PyLong_AsLongLong(object);
        return succeeded() && to.integer >= parameter.least && to.integer <= parameter.most;
    }

    bool as_number() {
        if (!PyFloat_Check(object) && !PyLong_Check(object)) return false;
        to.number = PyFloat_AsDouble(object);
        return succeeded();
    }

    bool as_text() {
        if (!PyUnicode_Check(object)) return false;
        Py_ssize_t size = 0;
        const char* const data = PyUnicode_AsUTF8AndSize(object, &size);
        if (data) to.text = {data, static_cast<std::size_t>(size)};
        return succeeded();
    }

    // A tensor that is only read need not be contiguous: the kernel is given a copy.
    bool as_array(const Parameter& parameter, bool copies, Held& held) {
        if (!read) {
            nb::object owner;
            writable = read_array(object, to.array, owner), read = true;
            if (owner.is_valid()) held.push_back(std::move(owner));
        }
        if (!to.array.is_valid() && copies && !parameter.is_written) copy(held);
        return to.array.is_valid() && (writable || !parameter.is_written) &&
               (parameter.dtype == DType::other || parameter.dtype == to.array.dtype());
    }

    void copy(Held& held) {
        nb::object copied = contiguous(object), owner;
        if (!copied.is_valid()) return;
        writable = false, read_array(copied.ptr(), to.array, owner);
        held.push_back(std::move(copied));
    }

    bool as_instance(const Parameter& parameter) {
        const auto found = classes().find(*parameter.type);
        if (found == classes().end() || PyObject_IsInstance(object, found->second) != 1) return succeeded() && false;
        if (!nb::inst_ready(object)) return false;  // made by __new__ alone
        to.object = nb::inst_ptr<void>(object);
        return true;
    }
};

// A local array of as many objects as there are arguments, at most most_parameters.
template <class T>
struct Local {
    alignas(T) std::byte memory[most_parameters * sizeof(T)];

    T& operator[](std::size_t i) { return *std::launder(reinterpret_cast<T*>(memory) + i); }
};

PyObject* Kernel::operator()(PyObject* const* given, Py_ssize_t positional, PyObject* keywords) const {
    Objects objects;
    place(given, positional, keywords, objects);
    const std::size_t count = parameters.size();
    Local<Argument> arguments;
    Local<Conversion> conversions;
    for (std::size_t i = 0; i < count; ++i) {
        new (&arguments[i]) Argument;
        new (&conversions[i]) Conversion{objects[i], arguments[i]};
    }
    Held held;
    std::size_t farthest = 0;  // the argument that the overload which fits best does not accept
    for (const Overload& overload : overloads) {
        std::size_t i = 0;
        const bool copies = overload.keeps_nothing;
        while (i < count && conversions[i].as(overload.parameters[i], accepts_none[i], copies, held)) ++i;
        if (i == count) return overload.call(overload.function, &arguments[0], overload.gil);
        farthest = std::max(farthest, i);
    }
    refuse(objects, farthest);
}

void Kernel::place(PyObject* const* given, Py_ssize_t positional, PyObject* keywords, Objects& objects) const {
    const auto count = static_cast<Py_ssize_t>(parameters.size());
    if (positional > count) throw TypeError(name + "(): too many arguments");
    objects.fill(nullptr);
    std::copy_n(given, positional, objects.begin());
    const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < named; ++i) objects[index_of(PyTuple_GetItem(keywords, i))] = given[positional + i];
    for (Py_ssize_t i = 0; i < count; ++i)
        if (!objects[i]) throw TypeError(name + "(): " + parameters[i] + " is missing");
}

std::size_t Kernel::index_of(PyObject* keyword) const {
    const nb::str text = nb::borrow<nb::str>(keyword);
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i] == text.c_str()) return i;
    throw TypeError(name + "(): no parameter " + text.c_str());
}

const char* said(DType type) {
    constexpr const char* names[] = {"bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64",
                                     "numbers"};
    return names[static_cast<int>(type)];
}

std::string said(const Parameter& parameter) {
    switch (parameter.kind) {
        case Parameter::boolean: return "a bool";
        case Parameter::integer: return "an int";
        case Parameter::number: return "a float";
        case Parameter::text: return "a str";
        case Parameter::array: return parameter.is_written ? "a writable contiguous array on the CPU of "
                                                           : "a contiguous array on the CPU of ";
        default: return nb::type_name(classes().at(*parameter.type)).c_str();
    }
}

void Kernel::refuse(const Objects& objects, std::size_t i) const {
    if (lacks_memory(objects[i]))
        throw TypeError(name + "(): " + parameters[i] + ": its storage holds fewer numbers than its shape says, as it "
                        "was resized or freed; pass a tensor that holds its values");
    std::string message = name + "(): " + parameters[i] + ": expected " + said(overloads[0].parameters[i]);
    std::vector<std::string> dtypes;
    for (const Overload& overload : overloads) {
        std::string dtype = said(overload.parameters[i].dtype);
        if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(std::move(dtype));
    }
    if (overloads[0].parameters[i].kind == Parameter::array)
        for (const std::string& dtype : dtypes) message += (&dtype == &dtypes[0] ? "" : " or ") + dtype;
    if (accepts_none[i]) message += " or None";
    message += std::string(", got ") + nb::inst_name(objects[i]).c_str();
    const nb::object dtype = nb::getattr(nb::handle(objects[i]), "dtype", nb::none());
    if (!dtype.is_none()) message += std::string(" of ") + nb::str(dtype).c_str();
    throw TypeError(message);
}

// ---- the module -----------------------------------------------------------------------------------------------------

PyObject* call_kernel(PyObject* self, PyObject* const* given, Py_ssize_t positional, PyObject* keywords) noexcept {
    const auto fail = [](PyObject* type, const std::exception& error) { PyErr_SetString(type, error.what()); };
    try {
        return (*static_cast<const Kernel*>(PyCapsule_GetPointer(self, nullptr)))(given, positional, keywords);
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const TypeError& error) {
        const nb::object type = nb::module_::import_("tgraph.errors").attr("KernelArgumentError");
        fail(type.ptr(), error);
    } catch (const std::bad_alloc& error) {
        fail(PyExc_MemoryError, error);
    } catch (const std::out_of_range& error) {
        fail(PyExc_IndexError, error);
    } catch (const std::overflow_error& error) {
        fail(PyExc_OverflowError, error);
    } catch (const std::range_error& error) {
        fail(PyExc_ValueError, error);
    } catch (const std::invalid_argument& error) {
        fail(PyExc_ValueError, error);
    } catch (const std::domain_error& error) {
        fail(PyExc_ValueError, error);
    } catch (const std::length_error& error) {
        fail(PyExc_ValueError, error);
    } catch (const std::exception& error) {
        fail(PyExc_RuntimeError, error);
    }
    return nullptr;
}

}  // namespace

void Module::add(const char* name, const char* parameters, const Parameter* kinds, std::size_t count, Function function,
                 Call call, Gil gil, bool keeps_nothing) {
    static std::map<std::string, Kernel*> kernels;  // never freed: the functions of the module refer to them
    Kernel*& kernel = kernels[name];
    if (!kernel) {
        kernel = new Kernel{name, {}, {}, {}, {}};
        for (std::string_view rest = parameters; !rest.empty();) {
            std::string_view one = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), one.size() + 2));
            kernel->accepts_none.push_back(one.ends_with('?'));
            if (one.ends_with('?')) one.remove_suffix(1);
            kernel->parameters.emplace_back(one);
        }
        kernel->method = {kernel->name.c_str(),
                          reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_kernel)),
                          METH_FASTCALL | METH_KEYWORDS, nullptr};
        const nb::object self = nb::steal(PyCapsule_New(kernel, nullptr, nullptr));
        const nb::object made = nb::steal(PyCFunction_NewEx(&kernel->method, self.ptr(), nullptr));
        nb::setattr(nb::handle(module_), name, made);
    }
    if (kernel->parameters.size() != count || count > most_parameters)
        throw std::logic_error(std::string(name) + ": the names of its parameters are not as many as its parameters");
    kernel->overloads.push_back({{kinds, kinds + count}, function, call, gil, keeps_nothing});
}

void Module::add_class(const std::type_info& type, PyObject* bound) { classes()[type] = bound; }

Unlocked::Unlocked(Gil gil) : thread_(gil == Gil::released ? PyEval_SaveThread() : nullptr) {}

void Unlocked::take() {
    if (thread_) PyEval_RestoreThread(static_cast<PyThreadState*>(std::exchange(thread_, nullptr)));
}

PyObject* to_python() { return nb::none().release().ptr(); }
PyObject* to_python(bool found) { return PyBool_FromLong(found); }
PyObject* to_python(int64_t found) { return PyLong_FromLongLong(found); }
PyObject* to_python(uint64_t found) { return PyLong_FromUnsignedLongLong(found); }
PyObject* to_python(double found) { return PyFloat_FromDouble(found); }

PyObject* make_tuple(PyObject** items, std::size_t size) {
    PyObject* const made = PyTuple_New(static_cast<Py_ssize_t>(size));
    for (std::size_t i = 0; i < size; ++i) PyTuple_SetItem(made, static_cast<Py_ssize_t>(i), items[i]);
    return made;
}

PyObject* make_list(PyObject** items, std::size_t size) {
    PyObject* const made = PyList_New(static_cast<Py_ssize_t>(size));
    for (std::size_t i = 0; i < size; ++i) PyList_SetItem(made, static_cast<Py_ssize_t>(i), items[i]);
    return made;
}

}  // namespace tgraph
