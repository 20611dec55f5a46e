"""Completion of commands, options, their values and file names by the tab key in bash, zsh and fish.

The shell runs `tgraph` with the line in the environment, and shows its output: typer's scripts and protocol.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tgraph.errors import ArgumentError

VARIABLE = "_TGRAPH_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


def prepare() -> None:
    """Make typer ready for the request of a shell, where this process is one."""
    if VARIABLE not in os.environ:
        return
    sys.modules.setdefault("rich", None)  # type: ignore[arg-type] # texts have no markup: not worth its import
    from typer.completion import completion_init

    completion_init()


def script() -> str:
    """The script for the present shell. Raises ArgumentError for other shells."""
    from typer.completion import get_completion_script

    return get_completion_script(prog_name="tgraph", complete_var=VARIABLE, shell=_shell("--show-completion"))


def _shell(option: str) -> str:
    import shellingham

    try:
        shell = shellingham.detect_shell()[0]
    except shellingham.ShellDetectionFailure:
        shell = Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise ArgumentError(
            f"{option}: {shell or 'this'} is no shell that it knows, {', '.join(SHELLS)}; start it from one"
        )
    return shell


def install() -> str:
    """Write the script for the present shell where it looks for such, and say where.

    Raises ArgumentError for other shells, and where the home cannot be written.
    """
    from typer.completion import install

    shell = _shell("--install-completion")
    try:
        path = install(shell=shell, prog_name="tgraph")[1]
    except OSError as fault:
        script = f"{VARIABLE}=source_{shell} tgraph"
        once = f"{script} | source" if shell == "fish" else f'eval "$({script})"'
        raise ArgumentError(
            f"--install-completion: {fault.filename}: {fault.strerror}; for the present shell alone: {once}"
        ) from fault
    return f"{path}: completion for {shell}, from the next terminal on"
