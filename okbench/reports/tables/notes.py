"""The sentences below a table: what its columns mean, and what a reader must know of its cells."""

from __future__ import annotations

from okbench.base.quantities import spoken_time
from okbench.protocols.metrics import ACCURACY, METRICS
from okbench.reports import numbers
from okbench.reports.tables.cells import CellKey, outdated_notes
from okbench.reports.tables.report import MACHINE_UNKNOWN, Report
from okbench.reports.tables.verdicts import count_words

PAPER = "paper prints"
BLESSED = "baseline"
OURS = "okbench"
BALANCED = "balanced"
_CLOCK_NOTES = {
    "all": "Mean seconds inside the learner per trial.",
    "training": "Mean time inside the learner while training; predicting test rows is not counted.",
    "search + training": "Time inside the learner: total (search + one training at the settings it "
    "chose), or training alone where nothing was searched. The search is all of its trials, with "
    "the scoring of what was held out; predicting test rows is not counted.",
    "without map": "Mean seconds inside the learner per trial, without those of its feature map.",
}


def metric_notes(report: Report, bold: bool = False, compared: bool = True) -> tuple[str, ...]:
    """What a reader must know of the metric. `bold` says how the best is marked, `compared` that
    the printed numbers stand beside ours."""
    measured = report.cells.values()
    notes = ["Mean ± standard deviation (n − 1) over trials."]
    notes += [report.order_note] if report.order_note else []
    notes.append(direction_note(report))
    if report.has_printed and compared:
        notes.append(
            f"{PAPER}: copied from the paper; outcome: {OURS} beside the paper; rests on: the "
            "weakest source of settings and rows (docs/verdicts.md)."
        )
        counted = count_words(list(report.verdicts.values()))
        notes += [f"Outcomes: {counted}."] if counted else []
        notes += [*_single_trials(report), *_remarks(report)]
    notes += _baseline_notes(report)
    if report.best:
        marked = "Bold: the best, italic: the runner-up" if bold else "*: the best"
        notes.append(f"{marked} of {OURS}'s complete cells, dataset by dataset.")
    if any(cell.values and not cell.complete for cell in measured):
        notes.append("(n/N): only n of N trials are done, and the mean is of these alone.")
    if any(cell.shortfall == "not run" for cell in measured):
        notes.append("not run: left out by the paper.")
    if report.shown.stars:
        level = f"{report.shown.stars:g}"
        notes.append(
            "A star: the best differs from the runner-up, which is underlined (paired t test over "
            f"the repetitions, two-sided, p < {level}; one-sample where one of them is run once)."
        )
    notes += _class_notes(report) if report.shown.classes else []
    if any(cell.na for cell in measured):
        notes.append(
            f"NA: search and training take longer than {spoken_time(report.na_after)} (with the "
            "time, or its estimate), or the learner did not converge."
        )
    for words in sorted({cell.over_limit for cell in measured if cell.over_limit}):
        notes.append(f"{words}: every trial outran the paper's own limit, and was ended there.")
    notes += [f"{name}: {'; '.join(said)}." for name, said in report.remarks.items()]
    notes += [*report.settings, *report.warnings]
    if report.disputed:
        notes.append(
            f"Measured more than once, with different scores: {report.disputed} trials; "
            "the later counts."
        )
    if report.others:
        notes.append(
            f"Not counted: stored outcomes of other settings, versions or seeds ({report.others})."
        )
    if report.absent:
        notes.append(f"Not here: {', '.join(report.absent)}.")
    return (*notes, *outdated_notes(measured))


def direction_note(report: Report) -> str:
    """Which direction of the metric is better, and which of the time."""
    metric = METRICS[report.metric].words
    if report.lower_is_better:
        return f"Lower is better (↓): {metric}, time."
    return f"Higher is better (↑): {metric}. Lower is better (↓): time."


def differing(report: Report) -> list[CellKey]:
    """The cells whose mean is another one than that of the baseline."""
    return [
        key
        for key, kept in report.blessed.items()
        if (cell := report.cells.get(key)) is not None and cell.values and cell.mean != kept.mean
    ]


def _baseline_notes(report: Report) -> list[str]:
    """The column of the baseline explained; where it would repeat ours, the sentence instead."""
    if differing(report):
        return [f"{BLESSED}: the results kept in results/, with which okbench check compares."]
    same = sum(key in report.cells and report.cells[key].values != () for key in report.blessed)
    cells = "its cell" if same == 1 else f"all {same} cells"
    return [f"The baseline in results/ has the same mean in {cells}."] if same else []


def _single_trials(report: Report) -> list[str]:
    """Whose printed numbers are those of single trials, where ours are means of several."""
    single = (cell for cell in report.cells.values() if cell.printed and cell.values)
    names = dict.fromkeys(cell.learner for cell in single if cell.runs == 1 < cell.expected)
    if not names:
        return []
    return [
        f"{PAPER}: the number of a single trial of {', '.join(names)}, which have several here."
    ]


def _remarks(report: Report) -> list[str]:
    """What is odd about printed numbers, once for all cells of a dataset that share it."""
    about: dict[tuple[str, str], list[str]] = {}
    for cell in report.cells.values():
        if cell.printed and cell.printed.text and cell.printed.note:
            about.setdefault((cell.dataset, cell.printed.note), []).append(cell.learner)
    return [f"{name}, {', '.join(who)}: {note}." for (name, note), who in about.items()]


def _class_notes(report: Report) -> list[str]:
    """What accuracies are worth where one class has most of the test rows."""
    notes = [f"{BALANCED}: the mean of the accuracies of the classes."]
    for dataset in report.datasets:
        cells = [cell for cell in report.cells.values() if cell.dataset == dataset]
        known = [cell.majority for cell in cells if cell.majority is not None]
        if not known:
            continue
        words = numbers.mean_and_std(ACCURACY.name, known[0], None)
        right = {
            cell.learner: 100.0 - cell.mean if cell.lower_is_better else cell.mean
            for cell in cells
            if cell.mean is not None
        }
        no_more = [name for name, share in right.items() if round(share, 2) <= round(known[0], 2)]
        equal = f"; no more than that: {', '.join(no_more)}" if no_more else ""
        notes.append(
            f"{dataset}: always answering its most frequent class is right on {words} % of the "
            f"test rows{equal}."
        )
    return notes


def time_notes(report: Report) -> tuple[str, ...]:
    """What was timed, where, and how."""
    clocked = [cell for cell in report.cells.values() if cell.time is not None]
    notes = [f"Machine of {OURS}: {machine}." for machine in report.machines or (MACHINE_UNKNOWN,)]
    notes += [f"Device of {name}: {', '.join(on)}." for name, on in report.devices.items()]
    notes.append(_CLOCK_NOTES[report.shown.seconds])
    notes += [
        f"The warm-up of {name} was {' or '.join(lacks)} in some trials, so that its seconds may "
        "include imports and compiling."
        for name, lacks in report.warm_ups.items()
    ]
    notes += _shares_of_maps(report)
    notes += _cut_searches(report)
    if len(report.machines) > 1:
        notes.append("Seconds of several machines: do not compare them with each other.")
    if any(not cell.timed for cell in clocked):
        notes.append(
            "Trials may have run side by side (okbench run --timing measures each alone). Where "
            "that is so, no time is marked as the best."
        )
    if report.has_printed:
        notes.append(f"{PAPER}: on its authors' machine; compare ratios only.")
    return tuple(notes)


def _shares_of_maps(report: Report) -> list[str]:
    """How much of their time learners spent on feature maps, of those that state it."""
    found: dict[str, list[float]] = {}
    for cell in report.cells.values():
        if cell.mapping is not None and cell.seconds:
            found.setdefault(cell.learner, []).append(100.0 * cell.mapping / cell.seconds)
    return [
        f"The feature map of {name} took {_span(shares)} % of all its seconds."
        for name, shares in found.items()
    ]


def _span(numbers_: list[float]) -> str:
    """The least and the greatest of some numbers, in whole numbers."""
    least, greatest = f"{min(numbers_):.0f}", f"{max(numbers_):.0f}"
    return least if least == greatest else f"{least} to {greatest}"


def _cut_searches(report: Report) -> list[str]:
    """In which way searches were smaller than the table asks for."""
    found: dict[str, list[str]] = {}
    for cell in report.cells.values():
        if cell.cut_time and cell.time is not None:
            found.setdefault(cell.search_cut, []).append(f"{cell.learner} on {cell.dataset}")
    return [
        f"(cut): the search was smaller than the table asks for, {words}: {', '.join(who)}."
        for words, who in found.items()
    ]
