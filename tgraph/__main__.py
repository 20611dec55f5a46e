"""`python -m tgraph` is the `tgraph` command; launchers of several processes start it so."""

from tgraph.cli import main

main()
