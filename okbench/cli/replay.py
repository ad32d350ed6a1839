"""okbench replay and okbench record: single trials, for comparison with other programs."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli import options
from okbench.cli.choices import DATASETS, LEARNERS, TABLE

REPLAY_EPILOG = """\b
Examples:
  okbench replay record.json --scores scores.npy
  okbench replay --conformance
"""
RECORD_EPILOG = """\b
Examples:
  okbench record demo --datasets spirals --learners FOGD -o record.json
  okbench replay record.json
"""


@click.command(epilog=REPLAY_EPILOG)
@click.argument("records", nargs=-1, type=options.FILE)
@click.option("--conformance", is_flag=True, help="Replay the records that come with okbench.")
@click.option(
    "--scores", type=options.FILE, help="Write the scores of a single record to this .npy file."
)
@options.allow_learner
def replay(records: tuple[Path, ...], conformance: bool, scores: Path | None) -> None:
    """Repeat the trial of each of RECORDS, and print its outcome as one line of JSON.

    If a record contains an expected outcome, the two are compared; the exit code is 1 if one of
    them differs.
    """
    if conformance:
        from okbench.base.shipped import shipped

        records += tuple(sorted(shipped("configs/conformance").glob("*.json")))
    if not records:
        raise UsageError("name one or more records, or give --conformance")
    if scores and len(records) > 1:
        raise UsageError(f"--scores needs a single record, and there are {len(records)}")
    different = [path.name for path in records if not _is_as_expected(path, scores)]
    if different:
        shown = ", ".join(different[:5]) + (", …" if len(different) > 5 else "")
        raise OkbenchError(
            f"{len(different)} of {len(records)} records have another outcome: {shown}"
        )


def _is_as_expected(path: Path, scores: Path | None) -> bool:
    import json

    from okbench.trials.replay.differences import differences
    from okbench.trials.replay.record import read_record
    from okbench.trials.replay.replaying import replay

    with redirect_stdout(sys.stderr):  # what a user-defined learner prints
        record = read_record(path)
        replayed = replay(record)
    line, found = replayed.figures(), differences(replayed)
    if record.expected:
        line["verdict"] = "parts" if found else "equal"
        line |= {"differences": found} if found else {}
    click.echo(json.dumps(line, ensure_ascii=False))
    if scores:
        replayed.save_scores(scores)
    return not found


@click.command(epilog=RECORD_EPILOG)
@click.argument("table", type=TABLE)
@click.option("--datasets", type=DATASETS, required=True, help="The dataset of the trial.")
@click.option("--learners", type=LEARNERS, required=True, help="The learner of the trial.")
@click.option(
    "--trial", type=int, default=0, show_default=True, help="Permutation of the trial, from 0."
)
@options.seed
@click.option(
    "-o", "--output", type=options.FILE, help="File of the record; its arrays go beside it."
)
@click.option(
    "--results",
    type=options.FOLDER,
    help="Write the record only if its outcome equals the one stored in this folder.",
)
@options.allow_learner
def record(
    table: str,
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    trial: int,
    seed: int,
    output: Path | None,
    results: Path | None,
) -> None:
    """Run one trial of TABLE and record it, so that another program can be compared with it.

    The rows, their permutation and all random draws go into a .npz file beside the record.
    """
    from okbench import datasets as rows
    from okbench.papers.table_catalogue import find
    from okbench.trials.replay import recording
    from okbench.trials.store.files import Store

    found = find(table)
    with redirect_stdout(sys.stderr):  # what a user-defined learner prints
        label, chosen = recording.chosen_trial(found, rows.load, datasets, learners, trial, seed)
        path = output or Path(recording.file_name(found, label, chosen))
        run = recording.ran(chosen, rows.load(chosen.dataset, chosen.variant), path)
    if results:
        stored = Store.of(results, found.trials_of).outcomes().get(chosen.id)
        recording.refuse_other(run, stored)
    recording.write_record(run, f"{found.name}: {chosen.spelled}")
    click.echo(path)
