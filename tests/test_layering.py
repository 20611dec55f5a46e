"""Imports point downwards only: a module imports from lower layers and from its own, never from a higher one, and no
two modules import each other, whether at once, in a function or for the type checker."""

import ast

import interpreters
import networkx
from imports import MODULES, imports, tree

# From the top to the bottom. A module belongs to the layer that names it or its nearest package.
LAYERS = (
    ("tgraph.cli", "tgraph.__main__"),
    ("tgraph.networkx",),
    ("tgraph.pages",),
    ("tgraph.algorithms",),
    ("tgraph",),  # the public names: what algorithms, the command and users import
    ("tgraph.tuning", "tgraph.drawing", "tgraph.pyg"),
    ("tgraph.nn", "tgraph.stream", "tgraph.sampling", "tgraph.stores", "tgraph.dynamic", "tgraph.distributed"),
    ("tgraph.io", "tgraph.generators"),
    ("tgraph.engine",),
    ("tgraph.model",),
    ("tgraph.primitives", "tgraph.formats"),
    ("tgraph.kernels",),
    ("tgraph.core",),
    ("tgraph.markup",),
    ("tgraph.files",),
    ("tgraph._native",),
    ("tgraph.errors", "tgraph.progress", "tgraph.deferred", "tgraph.terminal", "tgraph.interrupts"),
)


def layer(name: str) -> int:
    """The height of a module: 0 is the top."""
    while name:
        for height, members in enumerate(LAYERS):
            if name in members:
                return height
        name = name.rpartition(".")[0]
    raise AssertionError("no layer")


def test_imports_point_downwards():
    upwards = {f"{name} imports {other}" for name in MODULES for other in imports(name) if layer(other) < layer(name)}
    assert not upwards, "what they import stands above them"


def test_no_modules_import_each_other():
    graph = networkx.DiGraph((name, imported) for name in MODULES for imported in set(imports(name)))
    circles = [sorted(circle) for circle in networkx.strongly_connected_components(graph) if len(circle) > 1]
    assert not circles


def test_every_module_has_a_layer_of_its_own_or_its_package():
    listed = {member for members in LAYERS for member in members}
    missing = {".".join(name.split(".")[:2]) for name in MODULES} - listed
    assert not missing, "add them to LAYERS"


def test_algorithms_use_the_public_interface_only():
    for name in [name for name in MODULES if name.startswith("tgraph.algorithms")]:
        inner = {i for i in imports(name) if not i.startswith("tgraph.algorithms")} - {"tgraph"}
        assert not inner, f"{name} imports {', '.join(sorted(inner))}"
        attributes = {node.attr for node in ast.walk(tree(MODULES[name])) if isinstance(node, ast.Attribute)}
        private = {attribute for attribute in attributes - {"__all__"} if attribute.startswith("_")}
        assert not private, f"{name} uses {', '.join(sorted(private))}"


def test_layers_name_modules_that_exist():
    listed = {member for members in LAYERS for member in members}
    assert listed - {"tgraph._native"} <= set(MODULES)


def test_nothing_but_the_command_imports_the_command():
    for name in MODULES:
        for imported in imports(name):
            command = ("tgraph.cli", "tgraph.__main__")
            assert name.startswith(command) or not imported.startswith(command), f"{name} imports {imported}"


def test_what_is_heavy_is_imported_when_it_is_needed():
    """torch's compiler alone is 75 MB and a second."""
    heavy = (
        "torch._dynamo",
        "sympy",
        "cuda.core",
        "pandas",
        "matplotlib",
        "scipy",
        "networkx",
        "pyarrow",
        "torch_geometric",
        "jinja2",
    )
    code = f"import sys, tgraph; print(*(name for name in {heavy!r} if name in sys.modules))"
    assert interpreters.run(code).stdout == "\n"


def test_kernels_are_imported_by_their_operators():
    outside = [name for name in MODULES if not name.startswith("tgraph.kernels")]
    inside = "tgraph.kernels.native"
    assert not [(name, other) for name in outside for other in imports(name) if other.startswith(inside)]


def test_the_registry_is_asked_for_compiled_kernels():
    """So that `backend`, `explain` and traces hold for all of them."""
    own = {name for name in MODULES if name.startswith("tgraph.kernels.native")}
    own |= {
        "tgraph.core.system.native",
        "tgraph.core.system.pages",
        "tgraph.kernels.following",
        "tgraph.cli.examination",
        "tgraph.distributed.ranks.shared",
    }
    assert not [name for name in MODULES.keys() - own if "native.load(" in MODULES[name].read_text()]
