"""The `tgraph` command, also as `python -m tgraph`; launchers of several processes start it so.

The command is imported when an interrupt is heeded already.
"""

from tgraph.interrupts import leaving_at_once


def main() -> None:
    """The entry point of the `tgraph` command."""
    with leaving_at_once():
        from tgraph.cli import main

        main()


if __name__ == "__main__":
    main()
