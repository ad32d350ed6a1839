"""The process in which one version of okbench is timed: it runs what it is asked to, and stays.

Each line of stdin is the arguments of the command okbench, as a JSON list; each answer is a line
of JSON on stdout: an empty text, or why it could not be done. The first line says where okbench
was loaded from. It imports nothing that an older okbench lacks, because that runs it too.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what commands print is for nobody

    import okbench
    from okbench.cli import okbench as command

    print(json.dumps(okbench.__file__), file=answers, flush=True)
    for line in sys.stdin:
        try:
            command.main(args=json.loads(line), prog_name="okbench", standalone_mode=False)
            answer = ""
        except Exception as error:  # the command may raise anything
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
