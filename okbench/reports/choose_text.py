"""The standings of a race as text and JSON, and the commands with which its winner is used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import fill
from typing import Any

from tabulate import tabulate

from okbench.base.quantities import spoken_bytes, spoken_time
from okbench.base.shared_types import SCALES
from okbench.papers.additions import bracketed
from okbench.papers.commands import command
from okbench.papers.table_types import RowsFile
from okbench.papers.values import Value, spelled
from okbench.reports import numbers
from okbench.trials.choose.standings import Course, Standings

HEADER = ("learner", "metric", "best there", "rows", "rows/s", "memory", "ended")
WIDTH = 100  # of a note; commands stay in one line
_SIDES = ("left", "right", "right", "right", "right", "right", "left")


def text_of(found: Standings, file: RowsFile) -> str:
    """The frontier as text, and how to use the winner."""
    table = tabulate(
        rows_of(found), headers=_header(found), tablefmt="simple", colalign=_SIDES,
        disable_numparse=True,
    )  # fmt: skip
    notes = [_wrapped(note, "  ") for note in notes_of(found)]
    return "\n".join([heading(found), "", table, "", *notes, "", *usage(found, file)])


def _wrapped(words: str, indent: str = "") -> str:
    return fill(
        words, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def json_of(found: Standings, file: RowsFile) -> str:
    """The same for programs."""
    winner = found.winner
    on_it = {course.label for course in found.frontier}
    data = {
        "data": found.name,
        "rows": found.n_rows,
        "features": found.n_features,
        "task": found.task,
        "metric": found.metric_name,
        "scale": found.scale,
        "rows_raced": found.rows,
        "time_limit": found.limit,
        "seconds": found.seconds,
        "search": vars(found.search),
        "seed": found.seed,
        "winner": winner.label if winner else None,
        "nothing_to_recommend": winner is None,
        "not_distinguished": [course.label for course in found.equals],
        "frontier": [course.label for course in found.frontier],
        "learners": [
            {
                "label": course.label,
                "learner": course.learner,
                "settings": dict(course.settings),
                "rows": course.rows,
                "metric": found.value(course),
                "best_on_these_rows": found.best_on(course.rows),
                "seconds": course.marks[-1].seconds,
                "rows_per_second": course.marks[-1].rows / max(course.marks[-1].seconds, 1e-9),
                "bytes": course.marks[-1].bytes,
                "ended": course.ending,
                "reason": course.reason,
                "p": course.p,
                "beats_guessing": course.beats_guessing,
                "random": vars(course.drawn) if course.drawn else None,
                "answers_one_class": course.answers_one_class,
                "on_frontier": course.label in on_it,
                "parts": [vars(mark) for mark in course.marks],
            }
            for course in found.started
        ],
        "guesses": [
            {
                "label": guess.label,
                "learner": guess.learner,
                "rows": guess.rows,
                "metric": found.value(guess),
                "parts": [vars(mark) for mark in guess.marks],
            }
            for guess in found.guesses
        ],
        "left_out": [vars(one) for one in found.left_out],
        "use": winner
        and {"command": command_of(found, winner, file), "python": python_of(found, winner)},
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def heading(found: Standings) -> str:
    """What was raced."""
    rows = max((course.rows for course in found.started), default=0)
    words = f"{rows:,} of {found.rows:,}" if rows < found.rows else f"{rows:,}"
    return (
        f"{found.name}: {words} rows × {found.n_features:,} columns, {found.task}"
        f" ({found.metric.heading})"
    )


def rows_of(found: Standings) -> list[tuple[str, ...]]:
    """One row per learner that finished a part: the furthest first, then the best. Below them are
    the guesses."""
    on_it = set(map(id, found.frontier))
    rows = [_row(found, course, id(course) in on_it) for course in found.started]
    for guess in found.guesses:
        label, value, best, count, *_ = _row(found, guess, False)
        rows.append((label, value, best, count, "", "", "a guess, for comparison"))
    return rows


def notes_of(found: Standings) -> Iterator[str]:
    """What a reader must know of the table."""
    words = "lower" if found.metric.lower_is_better else "higher"
    yield (
        f"* On the frontier: no other learner is as good in metric ({words} is better), rows per"
        " second and memory on the same rows."
    )
    yield "Best there: the best metric of any learner on as many rows."
    search = found.search
    if search.trials:
        yield (
            f"Settings were searched in {search.trials} trials on {search.rows:,} other rows"
            f" ({spoken_time(search.seconds)} in the learners);"
            f" search and race took {spoken_time(found.seconds)}, without reading and compiling."
        )
    for course in found.started:
        if listed := _listed(course.given):
            yield f"Settings of {course.label}: {listed}."
    if constant := _labels(course for course in found.started if course.answers_one_class):
        yield (
            "Not searched, because every setting that was tried answers one class on the rows of"
            f" the search: {constant}."
        )
    if drawn := _labels(course for course in found.started if course.drawn):
        yield (
            f"Learners with random numbers, each measured with one draw (seed {found.seed}):"
            f" {drawn}. The test does not know how much other draws would change."
        )
    yield (
        "A learner is behind if the one-sided paired t-test over blocks of a part gives p below its"
        f" share of {found.level:g} (Bonferroni over parts and learners). It is stopped if it is"
        " behind in two parts and does not catch up. It beats guessing if it costs less than each"
        " guess, and by the same test on some part."
    )
    reasons = [(one.label, one.reason) for one in found.left_out]
    reasons += [(one.label, one.reason) for one in found.courses if not one.marks]
    for reason in dict.fromkeys(why for _, why in reasons):
        labels = ", ".join(label for label, why in reasons if why == reason)
        yield f"Left out: {labels}: {reason}."


def usage(found: Standings, file: RowsFile) -> Iterator[str]:
    """One sentence on the winner, and the commands that use it."""
    winner = found.winner
    yield _wrapped(f"{conclusion(found)}{' To use it:' if winner else ''}")
    if winner:
        yield from ("", f"  {command_of(found, winner, file)}", "")
        yield from (f"  {line}" for line in python_of(found, winner))


def conclusion(found: Standings) -> str:
    """Which learner is best, and which are not shown to be worse."""
    winner = found.winner
    if winner is None:
        return "No learner is better than guessing; nothing to recommend."
    words = f"{winner.label} has the best {found.metric.words} on {winner.rows:,} rows."
    if found.equals:
        words += f" The test does not distinguish it from {_labels(found.equals)}."
    if winner.drawn:
        words += (
            f" Its random numbers were drawn once, with seed {found.seed}: with other draws the"
            f" {found.metric.words} is different."
        )
    return words


def command_of(found: Standings, winner: Course, file: RowsFile) -> str:
    """The command that runs the winner again."""
    settings = {name: spelled(value) for name, value in winner.given.items()}
    option_of = {scale: word for word, scale in SCALES.items()}
    return command(
        "run",
        data=file.path,
        target=file.target,
        task=file.task,
        categorical=file.categorical,
        drop=file.drop,
        missing=None if file.missing == "refuse" else file.missing,
        scale=option_of[file.scale.removeprefix("running ")],
        in_order=found.order == "file",
        order="blocks" if found.order == "block-shuffled" else None,
        seed=found.seed,
        learners=[winner.learner + bracketed(settings)],
        no_tune=True,
    )


def python_of(found: Standings, winner: Course) -> tuple[str, ...]:
    """The lines of Python that make the winner, with the random numbers that it had."""
    module, _, name = winner.target.partition(":")
    settings = {**winner.given, **winner.drawn.seeds}
    arguments = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    lines = [f"from {module} import {name}", f"learner = {name}({arguments})"]
    if found.scale != "none":
        kind = "StandardScaler" if "standard" in found.scale else "MinMaxScaler"
        lines.insert(1, f"from sklearn.preprocessing import {kind}  # its columns were scaled so")
    if entropy := winner.drawn.entropy:
        lines.insert(1, "from okbench.learners.contract import Draws, Problem")
        problem = f"Problem({found.task!r}, {found.n_features}, {found.classes!r}, {found.rows})"
        lines.append(f"learner.begin({problem}, Draws({list(entropy)}))  # of seed {found.seed}")
    return tuple(lines)


def _header(found: Standings) -> list[str]:
    return [found.metric.words if word == "metric" else word for word in HEADER]


def _row(found: Standings, course: Course, is_on_frontier: bool) -> tuple[str, ...]:
    last = course.marks[-1]
    value, best = found.value(course), found.best_on(course.rows)
    speed = f"{float(f'{course.rows_per_second:.3g}'):,.0f}"
    return (
        course.label,
        f"{'* ' if is_on_frontier else ''}{_value(found, value)}",
        _value(found, best),
        f"{course.rows:,}",
        speed,
        "not stated" if last.bytes is None else spoken_bytes(last.bytes),
        _ended(found, course),
    )


def _value(found: Standings, value: float | None) -> str:
    return "—" if value is None else numbers.mean_and_std(found.metric_name, value, None)


def _ended(found: Standings, course: Course) -> str:
    if course.ending == "behind":
        return f"{course.reason} (p = {course.p:.1g})"
    if course.ending != "last":
        return course.reason
    if course is found.winner:
        return "best"
    if course.p is None:
        return "ran to the end"
    return f"not distinguished (p = {course.p:.2g})"


def _labels(courses: Iterable[Course]) -> str:
    return ", ".join(course.label for course in courses)


def _listed(settings: Mapping[str, Value | None]) -> str:
    return ", ".join(f"{name} {_word(value)}" for name, value in settings.items())


def _word(value: Any) -> str:
    return "none" if value is None else spelled(value)
