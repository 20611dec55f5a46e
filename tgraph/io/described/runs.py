"""Runs of elements that look like those before them, found many at a time by one regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

_BLOCK = 1 << 20  # characters that are matched at once
_FEW = 4  # elements of a run that was not worth while
_MOST = 60  # fields


class Runs:
    """Runs of the elements of one kind, which are parsed one by one elsewhere wherever they look otherwise.

    spelled : the regular expression of an element with such fields, in their order, with a group for each; False for
        those that an element may lack, whose group is empty then.
    part : the number of the part of an element in which a field stands.
    """

    def __init__(self, spelled: Callable[[dict[Any, bool]], str], part: Callable[[Any], int] = lambda name: 0):
        self.fields: dict[Any, bool] = {}
        self._spelled, self._part = spelled, part
        self._pattern: re.Pattern[str] | None = None
        self._wait = self._waited = 0  # elements that are not tried after runs not worth while, and how many were not

    def learn(self, names: Sequence[Any]) -> None:
        """Find elements with fields of these names, too."""
        fields = _merged(self.fields, names) if self.fields else dict.fromkeys(names, True)
        fields = dict(sorted(fields.items(), key=lambda item: self._part(item[0])))
        if len(set(names)) == len(names) and len(fields) <= _MOST and list(fields.items()) != list(self.fields.items()):
            self.fields = fields
            self._pattern = re.compile(rf"{self._spelled(fields)}|([^ \t\r\n][\s\S]*)")

    def are_tried(self) -> bool:
        """Whether to look for a run at the next element."""
        self._waited += 1
        return self._waited > self._wait

    def find(self, text: str, at: int) -> tuple[dict[Any, Sequence[str]], int, int]:
        """(the texts of each field, the number of elements, where they end) of a run that begins at `at`."""
        if self._pattern is None:
            return {}, 0, at
        end = min(len(text), at + _BLOCK)
        found = self._pattern.findall(text, at, end)
        if isinstance(found[-1], str):  # an element without fields
            return {}, 0, at
        if rest := found[-1][-1]:  # what looks otherwise
            end -= len(rest)
            del found[-1]
        self._waited, self._wait = 0, min(2 * self._wait + 1, 1000) if len(found) < _FEW else 0
        return {name: [texts[i] for texts in found] for i, name in enumerate(self.fields)}, len(found), end


def _merged(known: dict[Any, bool], names: Sequence[Any]) -> dict[Any, bool]:
    """Both in one order, that of the names alone where the orders differ."""
    order, place = list(known), 0
    for name in names:
        at = order.index(name) if name in known else place
        if at < place:
            return dict.fromkeys(names, True)
        if name not in known:
            order.insert(at, name)
        place = at + 1
    return {name: known.get(name, False) and name in names for name in order}
