"""The command line of a measurement, by the names and defaults of its options."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS, DATA = ROOT / "bench" / "results", ROOT.parent / "shared" / "data"


def parsed(
    description: str | None,
    known: Mapping[str, Sequence[str]] | None = None,
    hidden: Collection[str] = (),
    **defaults: Any,
) -> argparse.Namespace:
    """The options that were given, or their defaults.

    defaults : of each option, whose type is that of the value: a list is given with commas between, False makes a flag,
    and a type stands for None. known : the values that an option can have, or a list can have some of. hidden : options
    for the processes of a measurement, which the help leaves out.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        values = (known or {}).get(name)
        given: dict[str, Any] = {"default": None if isinstance(default, type) else default}
        shown = "" if given["default"] in (None, False) else str(default)
        if default is False:
            given["action"] = "store_true"
        elif isinstance(default, (list, tuple)):
            given["type"] = partial(listed, type(default[0]) if default else str, values)
            shown = ",".join(map(str, default))
        else:
            given |= {"type": default if isinstance(default, type) else type(default), "choices": values}
        shown = f"some of {', '.join(values)}" if values else shown
        parser.add_argument(f"--{name.replace('_', '-')}", help=argparse.SUPPRESS if name in hidden else shown, **given)
    return parser.parse_args()


def listed(kind: type, known: Sequence[Any] | None, text: str) -> list[Any]:
    """The parts of a text between its commas, in the order of those that are known."""
    wanted = [kind(part) for part in text.split(",") if part]
    if known is None:
        return wanted
    if unknown := sorted(set(wanted) - set(known)):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is none of {', '.join(known)}")
    return [name for name in known if name in wanted]
