"""okbench replay and okbench record: single runs, to be held against other programs."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli.choices import DATASETS, LEARNERS, TABLE

PATH = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("records", nargs=-1, type=PATH)
@click.option("--conformance", is_flag=True, help="Replay the records that okbench ships.")
@click.option("--scores", type=PATH, help="Write the scores of the one record to this .npy file.")
def replay(records: tuple[Path, ...], conformance: bool, scores: Path | None) -> None:
    """Run what each of RECORDS says, and print what comes of it: a line of JSON for each.

    A record that says what to expect is held to it; exit code 1 says that one came out otherwise.
    """
    if conformance:
        from okbench.base.shipped import shipped

        records += tuple(sorted(shipped("configs/conformance").glob("*.json")))
    if not records:
        raise UsageError("name one record or more, or ask for --conformance")
    if scores and len(records) > 1:
        raise UsageError(f"--scores is for one record, and there are {len(records)}")
    apart = [path for path in records if not _is_as_expected(path, scores)]
    if apart:
        shown = ", ".join(path.name for path in apart[:5]) + (", …" if len(apart) > 5 else "")
        raise OkbenchError(f"{len(apart)} of {len(records)} came out otherwise: {shown}")


def _is_as_expected(path: Path, scores: Path | None) -> bool:
    import json

    from okbench.trials.replay.differences import differences
    from okbench.trials.replay.record import read_record
    from okbench.trials.replay.replaying import replay

    with redirect_stdout(sys.stderr):  # what a stranger's learner prints
        record = read_record(path)
        replayed = replay(record)
    told, found = replayed.figures(), differences(replayed)
    if record.expected:
        told["verdict"] = "parts" if found else "equal"
        told |= {"differences": found} if found else {}
    click.echo(json.dumps(told, ensure_ascii=False))
    if scores:
        replayed.save_scores(scores)
    return not found


@click.command()
@click.argument("table", type=TABLE)
@click.option("--datasets", type=DATASETS, required=True, help="The trial's dataset.")
@click.option("--learners", type=LEARNERS, required=True, help="The trial's learner.")
@click.option("--trial", type=int, default=0, show_default=True, help="Which row order, from 0.")
@click.option("--seed", type=int, default=0, show_default=True, help="Root of all chance.")
@click.option("-o", "--output", type=PATH, help="The record's path; its arrays go beside it.")
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write it only if it comes out as stored in this folder.",
)
def record(
    table: str,
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    trial: int,
    seed: int,
    output: Path | None,
    results: Path | None,
) -> None:
    """Run one trial of TABLE and write it down, for another program to be checked against.

    Rows, order and draws go into a .npz file beside the record.
    """
    from okbench import datasets as rows
    from okbench.papers.table_catalogue import find
    from okbench.trials.replay import recording
    from okbench.trials.store.files import Store

    found = find(table)
    with redirect_stdout(sys.stderr):  # what a stranger's learner prints
        label, chosen = recording.chosen_trial(found, rows.load, datasets, learners, trial, seed)
        path = output or Path(recording.file_name(found, label, chosen))
        run = recording.ran(chosen, rows.load(chosen.dataset, chosen.variant), path)
    if results:
        stored = Store.of(results, found.trials_of).outcomes().get(chosen.id)
        recording.refuse_other(run, stored)
    recording.write_record(run, f"{found.name}: {chosen.spelled}")
    click.echo(path)
