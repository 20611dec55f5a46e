"""Random programs, fused and as they are written: equal values, types, gradients, attributes and exceptions."""

import random
import warnings

import numpy as np
import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.core.system import native
from tgraph.engine import fusion

pytestmark = [
    pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of torch.jit
]

N, ARCS = 24, 120


@pytest.fixture(autouse=True)
def small_graphs_are_fused(monkeypatch):
    monkeypatch.setattr(fusion, "LEAST_ARCS", 0)


def scripted(x: torch.Tensor) -> torch.Tensor:
    return x * 0.5 + 0.25


# Expressions of vertex data, in which V is another expression, A an aggregation, C a constant and S a number.
VALUES = [
    *("x", "x", "x", "self.kept", "(V + V)", "(V - V)", "(V * C)", "(V / C)", "(S * V)", "(V / S)", "(V * S)"),
    *("-V", "V.abs()", "A", "A", "A", "S - V", "(S / (V.abs() + 1))", "torch.where(self.mask, V, C)", "V.clone()"),
    *("self.scripted(V)", "torch.func.grad(lambda q: (q * q * C).sum())(V)", "torch.func.vmap(lambda q: q * 2)(V)"),
    *("torch.func.jvp(lambda q: q * C, (V,), (V,))[1]", "V.detach()", "V.detach().add_(1)", "V.clamp(-2, 2)"),
    *("V.nan_to_num(0.5, 2, -2)", "(V - V.mean())", "(V / V.sum())", "torch.add(V, V, out=torch.empty(N))", "V[:]"),
    *(
        "V.to(torch.float64).float()",
        "torch.stack([V, V])[1]",
        "(V * (V > S))",
        "V.data",
        "torch.from_numpy(V.numpy())",
    ),
    *("torch.nn.Parameter(V).detach()", "self.slope(V)", "self.slope(A)", "torch.tanh(V)", "V.flip(0)", "V.sqrt()"),
]
SUMS = ["aggregate(sub, V).values", "aggregate(sub, V * C).values", "aggregate(sub.graph, V)"]
SUMS += [
    "aggregate(sub.reverse(), V).values",
    "aggregate(sub, V, 'max').values",
    "aggregate(sub, V, edge='mul', weights=self.on_arcs).values",
]
CONSTANTS = [
    "self.share",
    "self.bias",
    "self.array",
    "self.degree",
    "self.exported",
    "self.alias",
    "(1 / C)",
    "(C + C)",
]
CONSTANTS += ["C.clamp(min=0.1)", "sub.graph.out_degree", "self.zeros", "(C * S)", "torch.full((N,), S)", "self.wide"]
NUMBERS = ["0.5", "2", "-1", "0", "0.0", "1", "0.1", "1e-3", "x.sum()", "float(x.max())", "x[0]", "self.rate", "7"]
NUMBERS += ["torch.inf", "torch.nan", "1e-9", "2**20"]
STATEMENTS = [
    *("y = V", "y = V", "y = y + V", "z = V", "y = y * C", "self.kept = V", "self.log.append(V)", "x = V", "y = z - V"),
    *(
        "y += V",
        "y *= S",
        "y[:3] = 0",
        "y[self.mask] = S",
        "torch.mul(y, S, out=y)",
        "self.memory *= 0.5",
        "self.rate *= 0.5",
    ),
    *(
        "self.share.mul_(0.5)",
        "self.bias += 1",
        "self.exporter *= 0.9",
        "self.aliased.mul_(0.75)",
        "self.log[-1:] = [y]",
    ),
    *(
        "self.flags.append((isinstance(self.kept, Tensor), y.requires_grad, y.dtype, tuple(y.shape)))",
        "y = scripted_in(y)",
    ),
    *(
        "self.flags.append(bool(y.sum() > S))",
        "y = y if y.sum() > S else z",
        "z = y.requires_grad_().sum().backward() or y.grad",
    ),
    *(
        "q = V.requires_grad_(); (aggregate(sub.graph, q * C).sum() + (q * q).sum()).backward(); y = q.grad",
        "y.add_(V)",
    ),
    *("q = torch.nn.Parameter(V); (aggregate(sub.graph, q) * C).sum().backward(); z = q.grad", "y = update(x, V, y)"),
    *("with torch.enable_grad(): y = (V * self.parameter).detach()", "with torch.no_grad(): y = V * self.parameter"),
    "(0.1 * A * self.parameter).sum().backward()",
]


class Drawn(tg.Program):
    """A program whose step is drawn."""

    rounds = 3

    def __init__(self, step):
        self.step = step
        source = np.random.default_rng(5)
        self.share, self.bias, self.degree = (torch.from_numpy(source.random(N, "f") + 0.1).clone() for _ in range(3))
        self.wide, self.zeros = torch.from_numpy(source.random(N) + 0.5).clone(), torch.arange(N) % 2 * 0.5
        self.memory = source.random(N, dtype="f")
        self.array = torch.from_numpy(self.memory)
        self.exported = torch.from_numpy(source.random(N, "f")).clone()
        self.exporter = self.exported.numpy()
        self.aliased = torch.from_numpy(source.random(N, "f")).clone()
        self.alias = self.aliased.data
        self.parameter = torch.nn.Parameter(self.share.clone())
        self.on_arcs = torch.from_numpy(source.random(ARCS, "f")).clone()
        self.mask, self.rate, self.kept = self.share > 0.5, 0.5, self.bias.clone()
        self.log, self.flags, self.scripted = [], [], SCRIPTED[0]

    def slope(self, values):
        values = (values * 2).requires_grad_()
        (values.sum() + values.square().sum()).backward()
        return values.grad

    def init(self, graph):
        return torch.from_numpy(np.random.default_rng(6).random(N, "f")), graph.everything()

    def compute(self, sub, x, active):
        new = self.step(self, sub, x, lambda *given, **options: tg.aggregate(*given, **options))
        if self.log and len(self.log) % 2:
            return tg.update(x, active, tg.aggregate(sub, new), lambda old, received: 0.1 * received + old)
        return new, active


SCRIPTED = []


def drawn(source, template, depth=3):
    """A template with its capital letters replaced by what they stand for."""
    kinds = {"V": VALUES, "A": SUMS, "C": CONSTANTS, "S": NUMBERS}
    simple = {"V": ["x", "y", "z"], "A": ["aggregate(sub, x).values"], "C": CONSTANTS[:6], "S": NUMBERS[:7]}
    parts = []
    for place, letter in enumerate(template):
        alone = not any(
            each.isalnum() or each in "_'"
            for each in template[max(place - 1, 0) : place] + template[place + 1 : place + 2]
        )
        if letter in kinds and alone:
            parts.append(drawn(source, source.choice((kinds if depth else simple)[letter]), max(depth - 1, 0)))
        else:
            parts.append(letter)
    return "".join(parts)


def program_of(seed):
    source = random.Random(seed)
    lines = ["y = z = x"]
    for _ in range(source.randint(1, 5)):
        lines.append(drawn(source, source.choice(STATEMENTS)))
    lines.append("return 0.5 * y.float() + 0.1 * x.detach()" if source.random() < 0.5 else "return y.float()")
    return "def step(self, sub, x, aggregate):\n    " + "\n    ".join(lines) + "\n"


def outcome(text, graph, fuse):
    """The outcome of a run: an exception's type, or all that may differ."""
    scope = {"torch": torch, "Tensor": torch.Tensor, "N": N, "np": np}
    scope["update"] = lambda x, received, y: y
    scope["scripted_in"] = lambda y: SCRIPTED[0](y)
    exec(text, scope)
    program = Drawn(scope["step"])
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run = tg.run(program, graph, fuse=fuse)
    except Exception as error:  # compared below
        return {"error": type(error), "text": str(error)}
    kept = [program.kept, *program.log, program.share, program.bias, program.parameter.grad]
    return {
        "values": run.values,
        "kept": kept,
        "types": [type(each) for each in (run.values, *kept)],
        "gradients": [getattr(each, "requires_grad", None) for each in (run.values, *kept)],
        "rest": (program.flags, program.rate, run.iterations, run.converged),
    }


def differs(fused, written):
    """How two outcomes differ; None where they agree to rounding."""
    if "error" in fused or "error" in written:
        if fused.get("error") == written.get("error") or "fuse=False" in fused.get("text", ""):
            return None
        return f"{fused.get('error')} {fused.get('text')}, {written.get('error')} {written.get('text')}"
    for name in ("types", "gradients", "rest"):
        if fused[name] != written[name]:
            return f"{name}: {fused[name]}, {written[name]}"
    for one, other in zip([fused["values"], *fused["kept"]], [written["values"], *written["kept"]], strict=True):
        if (one is None) != (other is None):
            return f"{one}, {other}"
        if one is None:
            continue
        scale = other.detach().abs().nan_to_num(0, 0, 0).max().item() if other.numel() else 0
        if not torch.allclose(
            one.detach().double(), other.detach().double(), rtol=1e-3, atol=1e-5 * max(scale, 1), equal_nan=True
        ):
            return f"{one}\n{other}"
    return None


def check(seeds):
    SCRIPTED.append(torch.jit.script(scripted))
    graph = random_graph(N, ARCS, directed=True)
    for seed in seeds:
        text = program_of(seed)
        found = differs(outcome(text, graph, True), outcome(text, graph, False))
        assert found is None, f"program {seed}\n{text}\n{found}"


def test_random_programs():
    check(range(60))


@pytest.mark.thorough
def test_many_random_programs():
    check(range(1000, 11000))


# ---- what they found ------------------------------------------------------------------------------------------------

FOUND = {
    "a gradient": "y = (x * 2).requires_grad_(); (aggregate(sub.graph, y).sum() + y.norm()).backward(); y = y.grad",
    "a gradient of a sum": "y = (x * 2).requires_grad_(); (aggregate(sub.graph, y) * 3).sum().backward(); y = y.grad",
    "written through numpy": "self.memory *= 0.5; y = aggregate(sub, x * self.array).values",
    "a tensor's numpy": "self.exporter *= 0.5; y = aggregate(sub, x * self.exported.clamp(min=1e-3)).values",
    "another name": "self.aliased.mul_(0.5); y = aggregate(sub, x * self.alias.clamp(min=1e-3)).values",
    "zero": "y = aggregate(sub, x / 0).values + aggregate(sub, 3 * x / 0.0).values",
    "infinity": "y = aggregate(sub, (x * 0) * torch.inf).values",
    "TorchScript": "y = scripted_in(aggregate(sub, x * self.share).values)",
    "a gradient in TorchScript": "y = (x * 2).requires_grad_(); scripted_in(y).square().sum().backward(); y = y.grad",
    "torch.func": "y = aggregate(sub, torch.func.grad(lambda q: (q * q).sum())(x * self.share)).values",
    "a parameter": "y = torch.nn.Parameter(x * self.share); aggregate(sub.graph, y).sum().backward(); y = y.grad",
    "kept": "self.kept = aggregate(sub, x * self.share).values; self.log.append(1 / self.share); y = self.kept + 1",
    "of a constant": "y = x / (0 * self.share).abs().sum()",
    "an operand that is none": "y = x - aggregate(sub, x).values if (x + x).__sub__(None) is NotImplemented else x",
    "a shape": "y = aggregate(sub, x).values; y.resize_(2, N // 2); y = y.view(-1)",
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name):
    SCRIPTED.append(torch.jit.script(scripted))
    text = f"def step(self, sub, x, aggregate):\n    {FOUND[name]}\n    return y * 0.1\n"
    graph = random_graph(N, ARCS, directed=True)
    assert differs(outcome(text, graph, True), outcome(text, graph, False)) is None


def test_a_run_gives_ordinary_tensors():
    class Kept(Drawn):
        def finish(self, values):
            return {"values": values, "kept": self.kept}

    def step(self, sub, x, aggregate):
        self.kept = aggregate(sub, x * self.share).values
        return self.kept + 1

    found = tg.run(Kept(step), random_graph(N, ARCS, directed=True)).values
    assert all(type(each) is torch.Tensor for each in found.values())
    assert found["kept"].requires_grad_().requires_grad and isinstance(
        torch.nn.Parameter(found["kept"]), torch.nn.Parameter
    )
