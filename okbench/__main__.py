"""`python -m okbench`: the same as the command `okbench`."""

from okbench.cli import main

main()
