"""okbench replay and okbench record: single trials, for comparison with other programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli import options
from okbench.cli.choices import DATASETS, LEARNERS, TABLE

EQUAL, DIFFERENT, NOTHING, FAILED = "equal", "parts", "nothing to compare", "failed"
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
    them differs. Of several records, one that is damaged or cannot be run has a line that says why,
    and the others are run.
    """
    if conformance:
        from okbench.base.shipped import shipped

        records += tuple(sorted(shipped("configs/conformance").glob("*.json")))
    if not records:
        raise UsageError("name one or more records, or give --conformance")
    if scores and len(records) > 1:
        raise UsageError(f"--scores needs a single record, and there are {len(records)}")
    if len(records) == 1:
        verdicts = [_replayed(records[0], scores)]
    else:
        verdicts = [_replayed_or_failed(path) for path in records]
    pairs = zip(records, verdicts, strict=True)
    wrong = [path.name for path, verdict in pairs if verdict in (FAILED, DIFFERENT)]
    if wrong:
        shown = ", ".join(wrong[:5]) + (", …" if len(wrong) > 5 else "")
        failed = verdicts.count(FAILED)
        more = f", {failed} of which could not be run" if failed else ""
        raise OkbenchError(
            f"{len(wrong)} of {len(verdicts)} records have another outcome{more}: {shown}"
        )


def _replayed_or_failed(path: Path) -> str:
    """The verdict on a record; one that cannot be run has a line that says why."""
    try:
        return _replayed(path, None)
    except OkbenchError as error:
        _print({"record": str(path), "verdict": FAILED, "error": str(error)})
        return FAILED


def _replayed(path: Path, scores: Path | None) -> str:
    """The verdict on a record, once its line is printed."""
    from okbench.trials.replay.differences import differences
    from okbench.trials.replay.record import read_record
    from okbench.trials.replay.replaying import replay

    with redirect_stdout(sys.stderr):  # what a user-defined learner prints
        record = read_record(path)
        replayed = replay(record)
    line, found = replayed.figures(), differences(replayed)
    verdict = DIFFERENT if found else EQUAL
    if record.expected is None or record.expected.is_empty:
        verdict = NOTHING
    if record.expected is not None:
        line["verdict"] = verdict
        line |= {"differences": found} if found else {}
    _print(line)
    if scores:
        replayed.save_scores(scores)
    return verdict


def _print(line: Mapping[str, Any]) -> None:
    import json

    click.echo(json.dumps(line, ensure_ascii=False))


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
    from okbench.papers.table_catalogue import find
    from okbench.reports.results_paths import RUNS
    from okbench.trials.plan.user_table import load_of
    from okbench.trials.replay import recording
    from okbench.trials.store.files import Store

    found = find(table, results=results or RUNS)
    load = load_of(found)
    with redirect_stdout(sys.stderr):  # what a user-defined learner prints
        label, chosen = recording.chosen_trial(found, load, datasets, learners, trial, seed)
        path = output or Path(recording.file_name(found, label, chosen))
        run = recording.ran(chosen, load(chosen.dataset, chosen.variant), path)
    if results:
        stored = Store.of(results, found.trials_of).outcomes().get(chosen.id)
        recording.refuse_other(run, stored)
    recording.write_record(run, f"{found.name}: {chosen.spelled}")
    click.echo(path)
