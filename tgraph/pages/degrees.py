"""The degrees of a graph, and a power law fitted to their tail."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from tgraph.markup.charts import Chart, keys
from tgraph.markup.labels import Markup
from tgraph.markup.page import Fact, Figure, Section, number
from tgraph.markup.scales import Scale
from tgraph.pages.study import Study

DRAWN = 220  # points of a distribution
ENOUGH = 50  # vertices in the tail of a meaningful fit
KINDS = {"out": "a", "in": "b", "": "a"}


def degrees(study: Study) -> Section:
    """Mean and largest degrees, their distribution, and the best power law."""
    graph, values, facts, notes = study.graph, dict[str, Any](), list[Fact](), list[str | Markup]()
    found = {"out" if graph.directed else "": graph.out_degree}
    if graph.directed and not study.streams:
        found["in"] = graph.in_degree
    laws: dict[str, tuple[tg.algorithms.PowerLaw, float]] = {}
    facts.append(Fact("Mean degree", number(graph.num_arcs / graph.num_vertices), "arcs of a vertex"))
    for name, degree in found.items():
        title = f"Largest {name}-degree" if name else "Largest degree"
        best = int(degree.argmax())
        facts.append(Fact(title, f"{int(degree[best]):,}", Markup(f"vertex {study.name(best)}")))
        facts.append(Fact(f"Median {name}-degree" if name else "Median degree", f"{int(degree.median()):,}"))
        values[f"largest {name}".strip()] = int(degree[best])
        if len(degree[degree > 0].unique()) > 1:
            law = tg.algorithms.power_law_fit(degree)
            laws[name] = law, tg.algorithms.power_law_p_value(degree, law, seed=study.seed)
            notes.append(_judged(f"{name}-degree" if name else "degree", *laws[name], len(degree)))
    values |= {f"law {name}".strip(): law for name, law in laws.items()}
    if not study.streams and graph.num_arcs:
        mixing = tg.algorithms.degree_assortativity(graph)
        values["assortativity"] = mixing
        facts.append(Fact("Assortativity", number(mixing), "of degrees, -1 to 1"))
    if study.streams and graph.directed:
        notes.append("In-degrees are left out: on a streamed graph they need a sort of all arcs on the disk.")
    figure = _distribution(found, laws)
    return Section("degrees", "Degrees", facts=facts, figures=[figure], notes=notes, values=values, half=True)


def _judged(what: str, law: tg.algorithms.PowerLaw, p_value: float, n: int) -> str:
    """The power law and its goodness of fit, in words."""
    said = (
        f"The tail of the {what} from {law.xmin:,} on ({law.tail:,} of {n:,} vertices) is closest to a power law of "
        f"exponent {law.alpha:.2f} ± {law.sigma:.2f}, at a distance of {law.ks:.3f} by Kolmogorov and Smirnov (fitted "
        "as Clauset, Shalizi and Newman 2009)."
    )
    if law.tail < ENOUGH:
        return f"{said} This is too few vertices for a conclusion."
    if p_value < 0.1:
        return f"{said} It fits badly: {p_value:.0%} of samples from such a law are as far from theirs, below 10%."
    return f"{said} It fits: {p_value:.0%} of samples from such a law are as far from theirs."


def _distribution(found: dict[str, Tensor], laws: dict[str, tuple[tg.algorithms.PowerLaw, float]]) -> Figure:
    """The complementary cumulative distribution of degrees, with logarithmic and linear axes."""
    shares = {name: _shares(degree) for name, degree in found.items()}
    title = "Vertices of a degree or more"
    largest = max((at[-1][0] for at in shares.values() if at), default=1)
    smallest = min((share for at in shares.values() for _, share in at if share), default=1)
    views = {}
    for scale, logarithmic in (("logarithmic", True), ("linear", False)):
        x = Scale.over([1, largest], logarithmic, zero=True)
        y = Scale(smallest / 1.5, 1.3, True) if logarithmic else Scale(0, 1)
        chart = Chart(title, f"The share of vertices of each degree or more, {scale} axes", x, y, "degree", "share")
        for name, at in shares.items():
            shown = [(d, share) for d, share in at if d or not logarithmic]
            kind = KINDS[name]
            tips = [f"{f'{name}-' if name else ''}degree {d:,} or more: {share:.3g} of vertices" for d, share in shown]
            chart.points(shown, f"dot {kind}", tips)
            if name in laws:
                law = laws[name][0]
                begin = next(share for d, share in at if d >= law.xmin)
                style = "c dashed" if name != "in" else "d dashed"
                chart.line(_law(law, begin, largest, smallest), style, f"fitted: {law.alpha:.2f}")
        views[scale] = chart.svg()
    meaning = {KINDS[name]: f"{name}-degree" if name else "degree" for name in found}
    meaning |= {"d" if name == "in" else "c": f"power law, {name}" if name else "power law" for name in laws}
    return Figure(title, views, keys(meaning))


def _shares(degree: Tensor) -> list[tuple[int, float]]:
    """(degree, fraction of vertices of that degree or more), of many degrees a logarithmic selection."""
    count = degree.bincount().cpu()
    above = count.flip(0).cumsum(0).flip(0)
    there = count.nonzero()[:, 0]
    if len(there) > DRAWN:
        place = torch.logspace(0, 1, DRAWN, base=float(there[-1]) + 1, dtype=torch.float64) - 1
        there = there[torch.searchsorted(there, place.floor().to(torch.int64)).clamp(max=len(there) - 1)].unique()
    shares = above[there].to(torch.float64) / max(len(degree), 1)
    return list(zip(there.tolist(), shares.tolist(), strict=True))


def _law(law: tg.algorithms.PowerLaw, begin: float, largest: float, smallest: float) -> list[tuple[float, float]]:
    """The complementary cumulative distribution of the law, from xmin to the border of the chart."""
    place = torch.logspace(0, 1, 60, base=max(largest / law.xmin, 1.01), dtype=torch.float64) * law.xmin
    alpha = torch.tensor(law.alpha, dtype=torch.float64)
    share = begin * torch.special.zeta(alpha, place) / torch.special.zeta(alpha, place[:1])
    inside = share >= smallest / 1.5
    return list(zip(place[inside].tolist(), share[inside].tolist(), strict=True))
