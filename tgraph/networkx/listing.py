"""Prints the module `_tgraph_networkx.functions`: the functions that run here, for networkx to know without torch.

python -m tgraph.networkx.listing > _tgraph_networkx/functions.py
"""

from tgraph.networkx import functions
from tgraph.networkx.registry import FUNCTIONS


def listing() -> str:
    """The text of the module."""
    functions.load()
    lines = ['"""What networkx\'s backend tgraph runs: functions by name, and what each leaves to networkx."""', ""]
    lines.append("FUNCTIONS: dict[str, str] = {")
    lines += [f'    "{name}": "{_text(FUNCTIONS[name].gaps)}",' for name in sorted(FUNCTIONS)]
    return "\n".join([*lines, "}", ""])


def _text(gaps: str) -> str:
    return f"Left to networkx: {gaps}." if gaps else ""


if __name__ == "__main__":
    print(listing(), end="")
