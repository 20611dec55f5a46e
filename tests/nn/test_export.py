"""torch.export with dynamic sizes."""

import pytest
import torch
from nn_samples import close, edges, features, layers
from torch.export import Dim, export

# Strictly, torch traces what torch.compile traces, which is tested for each layer.
OFTEN = {("GATConv", True), ("GATConv", False), ("SAGEConv", False), ("TransformerConv", False)}
CASES = [
    pytest.param(name, strict, marks=() if (name, strict) in OFTEN else pytest.mark.thorough)
    for name in layers()
    for strict in (True, False)
]


@pytest.mark.parametrize(("name", "strict"), CASES)
def test_one_program_serves_all_sizes(name, strict):
    layer, (edge_index, n) = layers()[name], edges("hub")
    shapes = {"x": {0: Dim("n")}, "edge_index": {1: Dim("m")}}
    program = export(layer, (features(n, 6), edge_index), dynamic_shapes=shapes, strict=strict).module()
    others = torch.randint(0, 40, (2, 90), generator=torch.Generator().manual_seed(0))
    for x, given in ((features(40, 6), others), (features(n, 6), edge_index)):
        close(program(x, given), layer(x, given))
