"""Few combinations of parameters among which any values meet: covering arrays."""

import itertools


def chosen(combinations, strength):
    """Which of these dicts from the name of a parameter to its value are chosen, so that values of as many parameters
    as `strength` says meet in one that is where they meet in any. Greedily: always the one in which most meet that have
    not yet, the first of several. Values are told apart by their identity."""
    meetings = [
        {tuple((name, id(each[name])) for name in names) for names in itertools.combinations(sorted(each), strength)}
        for each in combinations
    ]
    missing, taken = set().union(*meetings), [False] * len(meetings)
    while missing:
        best = max(range(len(meetings)), key=lambda place: len(meetings[place] & missing))
        taken[best] = True
        missing -= meetings[best]
    return taken
