"""The command `okbench`, and `python -m okbench`.

Nothing is imported before `main` runs, so that Ctrl-C ends a command with one word and exit code
130 also while its modules are still being loaded.
"""

from typing import NoReturn


def main() -> NoReturn:
    """Load the commands and run one."""
    try:
        from okbench.cli import main

        main()
    except KeyboardInterrupt:
        import sys

        sys.stderr.write("Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
