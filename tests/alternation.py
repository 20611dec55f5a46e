"""Every second combination of parameters, as on a chess board."""


def white(combinations):
    """Which of these dicts from the name of a parameter to its value are on the white squares: the sum of the places of
    their values, among the values of each parameter, is even. Any two values of three or more parameters meet on them
    where all combinations are there. Values are told apart by their identity."""
    places = {}
    found = []
    for combination in combinations:
        total = 0
        for name, value in combination.items():
            seen = places.setdefault(name, {})
            total += seen.setdefault(id(value), len(seen))
        found.append(total % 2 == 0)
    return found
