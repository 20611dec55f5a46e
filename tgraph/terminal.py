"""Text for a terminal: characters that would steer it, or turn the direction of the text, are shown as escapes."""

from __future__ import annotations

_JOINERS = "\u200c\u200d"  # between letters, and within emoji


def harmless(text: str, kept: str = "") -> str:
    r"""The text with control characters, marks of direction and lone surrogates as escapes, but for those `kept`.

    >>> tg.terminal.harmless("ann\x1b]0;x\x07")
    'ann\\x1b]0;x\\x07'
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in _JOINERS or each in kept else each.encode("unicode_escape").decode()
        for each in text
    )
