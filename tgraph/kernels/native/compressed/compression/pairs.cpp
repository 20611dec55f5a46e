// Bindings of pair replacement (pairs.hpp).
#include "compressed/compression/pairs.hpp"

#include "base/classes.hpp"

namespace tgraph {
namespace {

PairReplacement replace_pairs(In<int64_t> offset, In<int32_t> tokens, int64_t num_tokens, int max_depth) {
    return {offset.data(), static_cast<int64_t>(offset.shape(0)) - 1, tokens.data(),
            static_cast<int64_t>(tokens.shape(0)), num_tokens, max_depth};
}

void write_pairs(const PairReplacement& replaced, In<int64_t> old_offset, Out<int64_t> offset, Out<int32_t> symbols,
                 Out<int32_t> pairs) {
    replaced.write(old_offset.data(), static_cast<int64_t>(old_offset.shape(0)) - 1, offset.data(), symbols.data(),
                   pairs.data());
}

}  // namespace

void bind_pairs(Module& module) {
    const nb::call_guard<nb::gil_scoped_release> released;
    nb::class_<PairReplacement> replacement = bind_class<PairReplacement>(module, "PairReplacement");
    replacement.def_prop_ro("num_symbols", &PairReplacement::num_symbols)
        .def_prop_ro("num_rules", &PairReplacement::num_rules)
        .def("write", &write_pairs, nb::arg("old_offset"), nb::arg("offset"),
             nb::arg("symbols"), nb::arg("pairs"), released);
    python_module(module).def("replace_pairs", &replace_pairs, nb::arg("offset"), nb::arg("tokens"),
               nb::arg("num_tokens"), nb::arg("max_depth"), released);
}

}  // namespace tgraph
