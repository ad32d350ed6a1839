"""Every format, on outcomes counted by hand."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from okbench.base.errors import UsageError
from okbench.papers.table_types import DatasetRow, LearnerColumn, PrintedCell, Protocol, Table
from okbench.reports.csv_text import csv_text
from okbench.reports.tables import render as render_module
from okbench.reports.tables.render import FORMATS, Layout, render
from okbench.reports.tables.report import Report, report
from okbench.trials.trial_types import Outcome, Trial
from tests.shared import not_checked

PRINTED = {
    ("rows", "A_1"): PrintedCell("rows", "A_1", 11.0, 0.5, 0.112, "11.0 % ± 0.5", "0.112"),
    ("rows", "B"): PrintedCell("rows", "B", 12.0, 0.5, 3.0, "12.0 % ± 0.5", "3.0"),
}
TABLE = Table(
    name="ours/table1",
    title="Rows & more",
    paper="ours",
    protocol=Protocol("single-pass", "mistake_rate", runs=3),
    datasets=(DatasetRow("rows"), DatasetRow("big")),
    learners=(LearnerColumn("A_1", "A"), LearnerColumn("B", "B")),
    settings={},
    printed=PRINTED,
    left_out=frozenset({("big", "B")}),
)
IDS = {("rows", "A_1"): ["a0", "a1", "a2"], ("rows", "B"): ["b0", "b1", "b2"]}
MACHINES = {"e1": "a machine, 2 cores"}


def outcome(mistakes: int, seconds: float) -> Outcome:
    trial = Trial("rows", "", "f", "A", 1, (), "single-pass", "mistake_rate", repetition=0)
    return Outcome(trial, "done", 200, mistakes, seconds, environment="e1")


STORED = {
    "a0": outcome(20, 0.5),
    "a1": outcome(30, 0.25),
    "a2": outcome(25, 0.75),
    "b0": outcome(10, 2000.0),
    "stranger": outcome(200, 9.0),
}


@pytest.fixture
def beside_paper() -> Report:
    return report(TABLE, STORED, IDS, MACHINES)


@pytest.fixture
def own() -> Report:
    return report(replace(TABLE, printed={}), STORED, IDS, MACHINES)


def rows_of(page: str) -> list[list[str]]:
    """The words of each line of a page, split at two spaces or more."""
    return [
        [part.strip() for part in line.split("  ") if part.strip()] for line in page.splitlines()
    ]


def test_what_is_odd_about_printed_numbers_stands_below_them_once(beside_paper: Report) -> None:
    printed = {key: replace(cell, note="both are copies") for key, cell in PRINTED.items()}
    page = render(report(replace(TABLE, printed=printed), STORED, IDS, MACHINES), "terminal")
    assert page.count("rows, A_1, B: both are copies.") == 1
    assert "copies" not in render(beside_paper, "terminal")


def test_printed_numbers_of_single_trials_are_named(beside_paper: Report) -> None:
    protocol = replace(TABLE.protocol, printed_runs=1)
    page = render(report(replace(TABLE, protocol=protocol), STORED, IDS, MACHINES), "terminal")
    assert "the number of a single trial of A_1, B, which have several here." in page
    assert "single trial" not in render(beside_paper, "terminal")


def test_the_terminal_shows_paper_and_ours_with_the_outcome(beside_paper: Report) -> None:
    rows = rows_of(render(beside_paper, "terminal"))
    assert ["mistake rate, % ↓", "time ↓"] in rows
    assert [
        *("learner", "paper prints", "okbench", "outcome", "rests on", "paper prints", "okbench")
    ] in rows
    assert ["rows", "s", "s"] in rows
    first = ["A_1", "11.0 ± 0.5", "* 12.50 ± 2.50", "within", "printed", "0.112", "0.500"]
    assert first in rows
    assert ["B", "12.0 ± 0.5", "5.00 (1/3)", "too few trials", "3.0", "2000"] in rows
    assert ["big", "s", "s"] in rows
    assert ["A_1", "missing", "missing"] in rows
    assert ["B", "not run", "not run"] in rows


def test_seconds_that_may_include_compiling_are_named() -> None:
    stored = {**STORED, "a1": replace(STORED["a1"], extra={"warm_up": "cut"})}
    page = render(report(TABLE, stored, IDS, MACHINES), "md")
    words = "The warm-up of {} was cut in some trials, so that its seconds may include imports"
    assert words.format("A_1") in page.replace("\\", "")
    assert "warm-up of B" not in page


def test_the_direction_that_is_better_is_written_in_head_and_notes(own: Report) -> None:
    page = render(own, "terminal")
    assert "Lower is better (↓): mistake rate, time." in page
    accuracy = replace(TABLE, protocol=Protocol("train-test", "accuracy", runs=3))
    other = render(report(accuracy, STORED, IDS), "terminal")
    assert "accuracy, % ↑" in other
    assert "Higher is better (↑): accuracy. Lower is better (↓): time." in other


def timed(seconds: tuple[float, float], **more: object) -> dict[str, Outcome]:
    """A trial of A_1 and one of B, each measured alone."""
    pair = (outcome(20, seconds[0]), outcome(10, seconds[1]))
    return {
        name: replace(one, timed=True, **more)  # type: ignore[arg-type]
        for name, one in zip(("a0", "b0"), pair, strict=True)
    }


PAIR = {("rows", "A_1"): ["a0"], ("rows", "B"): ["b0"]}


def test_times_below_a_second_are_milliseconds_of_ours_and_of_the_paper() -> None:
    rows = rows_of(render(report(TABLE, timed((0.00186, 0.0123)), PAIR, MACHINES), "terminal"))
    assert ["rows", "ms", "ms"] in rows
    assert [row[-2:] for row in rows if row[:1] in (["A_1"], ["B"])][:2] == [
        ["112", "* 1.86"], ["3000", "12.3"],
    ]  # fmt: skip
    slow = rows_of(render(report(TABLE, timed((0.00186, 1.5)), PAIR, MACHINES), "terminal"))
    assert ["rows", "s", "s"] in slow
    assert ["0.112", "* 0.00186"] in [row[-2:] for row in slow]


@pytest.mark.parametrize("form", ["terminal", "md", "latex"])
@pytest.mark.parametrize("layout", ["paper", "compare"])
def test_times_that_were_not_measured_alone_are_never_marked(form: str, layout: Layout) -> None:
    marks = {"terminal": ("* 1.86",), "md": ("**1.86**",), "latex": (r"\textbf{1.86}",)}[form]
    alone = timed((0.00186, 0.0123))
    crowded = {**alone, "b0": replace(alone["b0"], timed=False)}
    elsewhere = {**alone, "b0": replace(alone["b0"], environment="e2")}
    for stored, is_marked in ((alone, True), (crowded, False), (elsewhere, False)):
        page = render(report(TABLE, stored, PAIR, MACHINES), form, layout=layout)
        assert any(mark in page for mark in marks) is is_marked
        assert "1.86" in page
        assert ("may have run side by side" in page) == (stored is crowded)


def test_the_machine_is_named(beside_paper: Report) -> None:
    assert "\nMachine of okbench: a machine, 2 cores.\n" in render(beside_paper, "terminal")


@pytest.mark.parametrize("layout", ["paper", "compare"])
@pytest.mark.parametrize("printed", [PRINTED, {}])
def test_pages_fit_a_hundred_columns(layout: Layout, printed: dict[str, PrintedCell]) -> None:
    names = [f"a dataset of {number}" for number in range(12)]
    many = replace(TABLE, datasets=tuple(map(DatasetRow, names)), printed=printed, title="t " * 99)
    found = report(many, STORED, {(names[3], "B"): ["b0"]}, {"e1": "a machine " * 20})
    page = render(found, "terminal", layout=layout, width=100)
    assert max(map(len, page.splitlines())) <= 100
    assert all(page.count(name) == 1 for name in names[2:])


def test_columns_of_a_dataset_stay_together() -> None:
    names = tuple(f"rows{number}" for number in range(9))
    many = replace(TABLE, datasets=tuple(map(DatasetRow, names)), printed={})
    ids = {(name, "A_1"): ["a0", "a1", "a2"] for name in names}
    page = render(report(many, STORED, ids), "terminal", width=60)
    heads = [line for line in page.splitlines() if line.startswith("learner")]
    assert len(heads) > 1
    assert all(
        line.split()[1:] == ["%", "↓", "ms", "↓"] * (len(line.split()) // 4) for line in heads
    )
    lines = [line for line in page.splitlines() if line.startswith("A_1")]
    assert len(lines) == len(heads)
    assert sum(line.count("12.50 ± 2.50") for line in lines) == 9
    assert sum(line.count(" 500") for line in lines) == 9


def test_an_unknown_machine_is_told_as_such() -> None:
    assert "Machine of okbench: not recorded" in render(report(TABLE, {}, {}), "terminal")


def test_columns_of_the_terminal_are_aligned(beside_paper: Report) -> None:
    page = render(beside_paper, "terminal").splitlines()
    ruler = next(number for number, line in enumerate(page) if line.startswith("---"))
    assert len({len(line) for line in page[ruler - 1 : ruler + 3]}) == 1


def test_without_printed_numbers_datasets_go_across(own: Report) -> None:
    page = render(own, "terminal")
    rows = rows_of(page)
    assert ["rows", "big"] in rows
    assert ["learner", "% ↓", "s ↓", "% ↓", "s ↓"] in rows
    assert ["A_1", "* 12.50 ± 2.50", "0.500", "missing"] in rows
    assert ["B", "5.00 (1/3)", "2000", "not run"] in rows
    assert "paper" not in page.replace("left out by the paper", "")


def test_an_incomplete_cell_is_never_marked_best(own: Report) -> None:
    assert "* 5.00" not in render(own, "terminal")


def test_the_best_of_accuracies_is_the_largest() -> None:
    accuracy = replace(TABLE, printed={}, protocol=Protocol("train-test", "accuracy", runs=3))
    ids = {("rows", "A_1"): ["a0"], ("rows", "B"): ["b0"]}
    assert ["B", "* 95.00", "2000", "not run"] in rows_of(
        render(report(accuracy, STORED, ids), "terminal")
    )


def test_outcomes_not_counted_are_told(own: Report) -> None:
    assert "other settings, versions or seeds (1)." in render(own, "terminal")


def test_markdown_is_a_table_with_the_best_in_bold(beside_paper: Report) -> None:
    lines = render(beside_paper, "md").splitlines()
    header = next(line for line in lines if line.startswith("| learner"))
    assert [part.strip() for part in header.strip("|").split("|")] == [
        "learner",
        *(f"mistake rate, % ↓: {name}"
          for name in ("paper prints", "okbench", "outcome", "rests on")),
        *("time ↓: paper prints", "time ↓: okbench"),
    ]  # fmt: skip
    row = next(line for line in lines if "12.50" in line)
    assert "**12.50 ± 2.50**" in row
    assert "A\\_1" in row
    assert any(line.startswith("|:--") for line in lines)


def test_csv_comes_back_as_it_was_measured(beside_paper: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(render(beside_paper, "csv"))))
    assert list(rows[0]) == [
        *("table", "dataset", "learner", "metric", "mean", "std", "n", "seconds", "status"),
        *("printed", "outcome", "rests_on", "printed_mean", "printed_std", "printed_seconds"),
        *("difference", "baseline", "timed", "bytes"),
    ]
    assert len(rows) == 4
    first = rows[0]
    assert (float(first["mean"]), float(first["std"]), int(first["n"])) == (12.5, 2.5, 3)
    assert (float(first["seconds"]), first["status"]) == (0.5, "done")
    beside = [first[name] for name in list(first)[12:]]
    assert beside == ["11.0", "0.5", "0.112", "1.5", "", "False", ""]
    assert (first["outcome"], first["rests_on"]) == ("within", "printed")
    assert (rows[1]["mean"], rows[1]["std"], rows[1]["status"]) == ("5.0", "", "1/3")
    assert [(row["mean"], row["n"], row["status"]) for row in rows[2:]] == [
        ("", "0", "missing"),
        ("", "0", "not run"),
    ]


def test_csv_does_not_round() -> None:
    stored = {"a0": outcome(1, 1 / 3), "a1": outcome(2, 1 / 3), "a2": outcome(2, 1 / 3)}
    first = next(csv.DictReader(io.StringIO(render(report(TABLE, stored, IDS), "csv"))))
    assert float(first["mean"]) == (0.5 + 1.0 + 1.0) / 3
    assert float(first["seconds"]) == 1 / 3


def test_json_holds_everything(beside_paper: Report) -> None:
    page = json.loads(render(beside_paper, "json"))
    first = page["cells"][0]
    assert (page["okbench"], page["schema"], page["table"]) == ("report", 1, "ours/table1")
    assert (page["machines"], page["others"]) == (["a machine, 2 cores"], 1)
    assert (first["values"], first["mean"], first["difference"]) == ([10.0, 15.0, 12.5], 12.5, 1.5)
    assert first["printed"]["text"] == "11.0 % ± 0.5"
    assert page["cells"][2]["mean"] is None
    assert (first["verdict"]["outcome"], first["rests_on"]) == ("within", "printed")
    assert page["counts"] == {"printed": {"within": 1}}
    assert "family" not in page
    assert page["cells"][1]["verdict"]["reason"] == "1 of 3 are done"
    assert page["cells"][3]["left_out"] is True


def test_csv_holds_the_baseline_and_the_memory() -> None:
    stored = {name: replace(STORED[name], bytes=800) for name in ("a0", "a1", "a2")}
    baseline = report(TABLE, {"a0": outcome(24, 1.0)}, {("rows", "A_1"): ["a0"]}).cells
    page = render(report(TABLE, stored, IDS, MACHINES, baseline), "csv")
    first = next(csv.DictReader(io.StringIO(page)))
    assert (first["baseline"], first["bytes"]) == ("12.0", "800.0")


def test_latex_is_one_table_set_like_the_paper(beside_paper: Report) -> None:
    page = render(beside_paper, "latex")
    assert page.count(r"\begin{table}") == page.count(r"\end{table}") == 1
    assert page.count(r"\begin{tabular}{@{}lrrrr@{}}") == page.count(r"\bottomrule") == 1
    assert r"& \multicolumn{2}{c}{rows} & \multicolumn{2}{c}{big} \\" in page
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in page
    assert r"learner & \% $\downarrow$ & s $\downarrow$ & \% $\downarrow$ & s $\downarrow$" in page
    assert r"A\_1 & \textbf{12.5 $\pm$ 2.5} & 0.500 & missing &  \\" in page
    assert (
        r"\caption{Rows \& more: mistake rate in \% (mean $\pm$ standard deviation over 3 "
        r"permutations; lower is better) and time per trial."
    ) in page
    assert r"\label{tab:ours-table1}" in page
    assert page.index(r"\caption") < page.index(r"\label") < page.index(r"\begin{tabular}")
    assert page.isascii()


def test_notes_are_comments_beside_a_caption(beside_paper: Report) -> None:
    page = render(beside_paper, "latex")
    comments, _, table = page.partition("\\begin{table}")
    assert "% Machine of okbench: a machine, 2 cores." in comments
    assert all(line.startswith("% ") for line in comments.splitlines())
    assert "Machine" not in table


def test_latex_beside_the_paper_is_escaped_and_ruled(beside_paper: Report) -> None:
    page = render(beside_paper, "latex", layout="compare")
    assert r"A\_1 & 11.0 $\pm$ 0.5 & \textbf{12.5 $\pm$ 2.5} & within & printed & " in page
    assert page.count(r"\begin{tabular}{@{}lrrrrrr@{}}") == 1
    assert page.count(r"\toprule") == page.count(r"\bottomrule") == 1
    assert page.isascii()


def test_latex_marks_the_best_bold_and_the_runner_up_italic() -> None:
    page = render(report(TABLE, STORED, PAIR), "latex")
    assert r"\textit{10.0}" in page  # as many digits as the paper prints
    assert r"\textbf{5.0}" in page
    assert "The best of each dataset is bold, the runner-up italic." in page


def has_latex() -> bool:
    """Whether pdfLaTeX is here with booktabs, which Debian keeps in a package of its own."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    found = subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False)
    return found.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["paper", "compare"])
def test_latex_compiles(beside_paper: Report, layout: Layout, tmp_path: Path) -> None:
    if not has_latex():
        not_checked(
            "whether LaTeX compiles the tables not checked: no pdflatex with booktabs (make latex)"
        )
    pages = [
        render(beside_paper, "latex", layout=layout),
        latex_of_many(12, {}, layout),
        latex_of_many(30, PRINTED, layout),
    ]
    source = "\n".join(pages)
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
        f"{source}\n\\end{{document}}\n",
        encoding="ascii",
    )
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Misplaced" not in done.stdout
    assert "multiply defined" not in done.stdout


def latex_of_many(count: int, printed: dict[tuple[str, str], PrintedCell], layout: Layout) -> str:
    datasets = tuple(DatasetRow(f"rows {number}") for number in range(count))
    cells = {(row.name, "A_1"): PRINTED["rows", "A_1"] for row in datasets} if printed else {}
    table = replace(TABLE, name=f"ours/{count}", datasets=datasets, printed=cells)
    return render(report(table, {}, {}), "latex", layout=layout)


@pytest.mark.parametrize("count", [3, 12, 30])
@pytest.mark.parametrize("layout", ["paper", "compare"])
def test_every_row_of_latex_has_as_many_entries_as_columns(count: int, layout: Layout) -> None:
    for table in latex_of_many(count, PRINTED, layout).split("\\begin{tabular}")[1:]:
        columns = sum(letter in "lr" for letter in table.partition("\n")[0])
        for line in table.splitlines()[1:]:
            if line.endswith("\\\\"):
                spans = [int(n) - 1 for n in re.findall(r"multicolumn\{(\d+)\}", line)]
                assert line.count(" & ") + line.startswith("& ") + 1 + sum(spans) <= columns
    environments = re.findall(r"\\(begin|end)\{(\w+)\}", latex_of_many(count, PRINTED, layout))
    opened: list[str] = []
    for kind, name in environments:
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []


def test_the_baseline_has_a_column_where_it_is_another_number() -> None:
    baseline = report(TABLE, {"a0": outcome(24, 1.0)}, {("rows", "A_1"): ["a0"]}).cells
    page = render(report(TABLE, STORED, IDS, MACHINES, baseline), "terminal")
    rows = rows_of(page)
    header = ["learner", "paper prints", "baseline", "okbench", "outcome", "rests on"]
    assert [*header, "paper prints", "okbench"] in rows
    line = ["A_1", "11.0 ± 0.5", "12.00", "* 12.50 ± 2.50", "within", "printed", "0.112", "0.500"]
    assert line in rows
    assert "baseline: the results kept in results/" in page
    cells = json.loads(render(report(TABLE, STORED, IDS, MACHINES, baseline), "json"))
    assert [cell["mean"] for cell in cells["blessed"]] == [12.0]


def test_a_baseline_that_says_the_same_is_one_sentence() -> None:
    baseline = report(TABLE, STORED, IDS).cells
    for layout in get_args(Layout):
        page = render(report(TABLE, STORED, IDS, MACHINES, baseline), "terminal", layout=layout)
        assert "The baseline in results/ has the same mean in all 2 cells." in page
        assert "baseline:" not in page
        assert "blessed" not in page
        key = next(iter(baseline))
        page = render(
            report(TABLE, STORED, IDS, MACHINES, {key: baseline[key]}), "terminal", layout=layout
        )
        assert "The baseline in results/ has the same mean in its cell." in page


def test_trials_with_two_scores_are_told() -> None:
    page = render(report(TABLE, STORED, IDS, MACHINES, disputed=2), "terminal")
    assert "Measured more than once, with different scores: 2 trials; the later counts." in page


def test_latex_escapes_every_sign_that_means_something() -> None:
    odd = replace(TABLE, title="a\\b{c}~^#$ <x|y>", printed={})
    page = render(report(odd, {}, {}), "latex")
    assert (
        r"a\textbackslash{}b\{c\}\textasciitilde{}\textasciicircum{}\#\$ "
        r"\textless{}x\textbar{}y\textgreater{}" in page
    )


def test_latex_has_signs_that_no_row_and_no_dash_can_swallow() -> None:
    odd = replace(TABLE, title="ε ρ² ℓ1 --timing", printed={})
    starred = replace(odd, learners=(LearnerColumn("*a", "A"), LearnerColumn("[b]", "B")))
    page = render(report(starred, {}, {}), "latex")
    assert r"$\varepsilon$ $\rho$$^2$ $\ell$1 -{}-timing" in page
    assert "\n{*}a & " in page
    assert "\n{[}b] & " in page


def test_latex_goes_on_in_another_table_where_a_page_is_too_small() -> None:
    datasets = tuple(DatasetRow(f"rows {number}") for number in range(30))
    printed = {(row.name, "A_1"): PRINTED["rows", "A_1"] for row in datasets}
    table = replace(TABLE, datasets=datasets, printed=printed)
    first, second, _ = latex_tables(table, "compare")
    assert "rows 14 &" in first
    assert "rows 15 &" in second
    assert r"\addtocounter{table}{-1}" in second
    assert "(continued)" in second
    assert ("Mean $" in first, "Mean $" in second) == (False, True)


def test_latex_goes_on_below_where_a_page_is_too_narrow() -> None:
    datasets = tuple(DatasetRow(f"rows {number}") for number in range(12))
    (table, _) = latex_tables(replace(TABLE, datasets=datasets, printed={}))
    first, second, *_ = re.findall(r"^& .*$", table, re.MULTILINE)
    assert "{rows 0} & " in first
    assert "{rows 11}" not in first + second
    assert table.count("{rows 11}") == 1
    assert table.count(r"\begin{table}") == 1


def latex_tables(table: Table, layout: Layout | None = None) -> list[str]:
    return render(report(table, {}, {}), "latex", layout=layout).split(r"\end{table}")


def test_markdown_headings_are_escaped() -> None:
    odd = replace(TABLE, printed={}, datasets=(DatasetRow("a|b"),))
    assert r" a\|b: % ↓ |" in render(report(odd, {}, {}), "md")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8", None])
def test_every_format_can_be_written_in_any_encoding(
    beside_paper: Report, form: str, encoding: str | None
) -> None:
    page, written = render(beside_paper, form, encoding), encoding or "utf-8"
    assert page.encode(written).decode(written) == page


def test_ascii_stand_ins_keep_columns_aligned(beside_paper: Report) -> None:
    page = render(beside_paper, "terminal", "ascii")
    assert "12.50 +/- 2.50" in page
    assert "mistake rate, % v" in page
    lines = page.splitlines()
    ruler = next(number for number, line in enumerate(lines) if line.startswith("---"))
    assert len({len(line) for line in lines[ruler - 1 : ruler + 1]}) == 1


def test_an_unknown_format_is_refused_with_the_one_meant(own: Report) -> None:
    with pytest.raises(UsageError, match=r"no format 'latexx' .*Did you mean 'latex'"):
        render(own, "latexx")


HOSTILE = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\n=1",
    "＝1",
    "a<script>|`x`\n# b &lt; [l](u)",
)


@pytest.mark.parametrize("form", ["csv", "md", "latex"])
@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_elsewhere_are_shown_and_do_nothing(name: str, form: str) -> None:
    table = replace(
        TABLE,
        name=name,
        title=name,
        datasets=(DatasetRow(name), DatasetRow("big")),
        learners=(LearnerColumn(name, "A"), LearnerColumn("B", "B")),
        printed={},
        left_out=frozenset(),
    )
    found = {"a0": outcome(20, 1.0)}
    page = render(report(table, found, {(name, name): ["a0"]}, MACHINES), form)
    if form == "csv":
        rows = list(csv.reader(io.StringIO(page)))
        assert all(len(row) == len(rows[0]) for row in rows)
        cells = [cell for row in rows for cell in row]
        assert name in [cell.removeprefix("'") for cell in cells]
        assert not [cell for cell in cells if cell[:1] in "=+-@\t\n＝" and cell]
    elif form == "md":
        assert "<script" not in page
        assert "\n# b" not in page
        assert "](u)" not in page.replace("\\]", "")
        assert len({line.count("|") - line.count("\\|") for line in page.splitlines()[2:5]}) == 1
    else:
        assert "\n# b" not in page
        assert "<" not in page
        assert "\n\n" not in page.partition("\\end{tabular}")[0]


def test_every_export_of_text_as_csv_neutralises_formulas() -> None:
    page = csv_text([["=head", "x"], ["@a", -1.5], ["-1", "+2e3"], ["-inf()", "ok"], [None, True]])
    assert list(csv.reader(io.StringIO(page))) == [
        ["'=head", "x"], ["'@a", "-1.5"], ["-1", "+2e3"], ["'-inf()", "ok"], ["", "True"],
    ]  # fmt: skip
    reports = Path(render_module.__file__).parents[1]
    users = [path.name for path in reports.rglob("*.py") if "csv.writer" in path.read_text("utf-8")]
    assert users == ["csv_text.py"]
