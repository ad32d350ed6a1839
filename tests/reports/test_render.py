"""Every format, on outcomes counted by hand."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from okbench.base.errors import UsageError
from okbench.papers.table_types import DatasetRow, LearnerColumn, PrintedCell, Protocol, Table
from okbench.reports.csv_text import csv_text
from okbench.reports.tables import render as render_module
from okbench.reports.tables.render import FORMATS, render
from okbench.reports.tables.report import Report, report
from okbench.trials.trial_types import Outcome, Trial

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


def test_the_terminal_shows_paper_ours_and_their_difference(beside_paper: Report) -> None:
    rows = rows_of(render(beside_paper, "terminal"))
    assert [
        "dataset",
        "learner",
        "paper prints",
        "okbench",
        "difference",
        "outcome",
        "rests on",
    ] in rows
    assert ["rows", "A_1", "11.0 % ± 0.5", "* 12.50 ± 2.50", "+1.50", "within", "printed"] in rows
    assert ["B", "12.0 % ± 0.5", "5.00 (1/3)", "−7.00", "not measured"] in rows
    assert ["big", "A_1", "missing"] in rows
    assert ["B", "not run"] in rows


def test_the_terminal_shows_seconds_with_their_machine(beside_paper: Report) -> None:
    page = render(beside_paper, "terminal")
    seconds = rows_of(page[page.index("(seconds)") :])
    assert ["rows", "A_1", "0.112", "* 0.500"] in seconds
    assert ["B", "3.0", "2000 (1/3)"] in seconds
    assert ["Machine of okbench: a machine, 2 cores."] in seconds


def test_an_unknown_machine_is_told_as_such() -> None:
    assert "Machine of okbench: not recorded" in render(report(TABLE, {}, {}), "terminal")


def test_columns_of_the_terminal_are_aligned(beside_paper: Report) -> None:
    page = render(beside_paper, "terminal").splitlines()
    ruler = next(number for number, line in enumerate(page) if line.startswith("---"))
    ends = {len(page[ruler])}
    ends |= {len(page[ruler + 1])}
    assert len(ends) == 1


def test_without_printed_numbers_datasets_go_across(own: Report) -> None:
    page = render(own, "terminal")
    rows = rows_of(page)
    assert ["learner", "rows", "big"] in rows
    assert ["A_1", "* 12.50 ± 2.50", "missing"] in rows
    assert ["B", "5.00 (1/3)", "not run"] in rows
    assert "paper" not in page.replace("left out by the paper", "")


def test_an_incomplete_cell_is_never_marked_best(own: Report) -> None:
    assert "* 5.00" not in render(own, "terminal")


def test_the_best_of_accuracies_is_the_largest() -> None:
    accuracy = replace(TABLE, printed={}, protocol=Protocol("train-test", "accuracy", runs=3))
    ids = {("rows", "A_1"): ["a0"], ("rows", "B"): ["b0"]}
    assert ["B", "* 95.00", "not run"] in rows_of(render(report(accuracy, STORED, ids), "terminal"))


def test_outcomes_not_counted_are_told(own: Report) -> None:
    assert "other settings, versions or seeds (1)." in render(own, "terminal")


def test_markdown_is_a_table_with_the_best_in_bold(beside_paper: Report) -> None:
    lines = render(beside_paper, "md").splitlines()
    header = next(line for line in lines if line.startswith("| dataset"))
    assert [part.strip() for part in header.strip("|").split("|")] == [
        "dataset",
        "learner",
        "paper prints",
        "okbench",
        "difference",
        "outcome",
        "rests on",
    ]
    row = next(line for line in lines if "12.50" in line)
    assert "**12.50 ± 2.50**" in row
    assert "A\\_1" in row
    assert any(line.startswith("|:--") for line in lines)


def test_csv_comes_back_as_it_was_measured(beside_paper: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(render(beside_paper, "csv"))))
    assert list(rows[0]) == [
        *("table", "dataset", "learner", "metric", "mean", "std", "n", "seconds", "status"),
        *("printed", "outcome", "rests_on"),
    ]
    assert len(rows) == 4
    first = rows[0]
    assert (float(first["mean"]), float(first["std"]), int(first["n"])) == (12.5, 2.5, 3)
    assert (float(first["seconds"]), first["status"]) == (0.5, "done")
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
    assert page["cells"][1]["verdict"]["reason"] == "too few trials (1 of 3)"
    assert page["cells"][3]["left_out"] is True


def test_latex_is_escaped_and_ruled(beside_paper: Report) -> None:
    page = render(beside_paper, "latex")
    assert (
        r"rows & A\_1 & 11.0 \% $\pm$ 0.5 & \textbf{12.5 $\pm$ 2.5} & +1.50 & within & printed \\"
        in page
    )
    assert r"\caption{ours/table1: Rows \& more (mistake rate in \%)}" in page
    assert page.count(r"\begin{tabular}{@{}llrrrrr@{}}") == 1
    assert page.count(r"\toprule") == page.count(r"\bottomrule") == 2
    assert page.isascii()


def test_latex_marks_the_best_bold_and_the_runner_up_italic() -> None:
    ids = {("rows", "A_1"): ["a0"], ("rows", "B"): ["b0"]}
    page = render(report(TABLE, STORED, ids), "latex")
    assert r"\textit{10.0}" in page  # as many digits as the paper prints
    assert r"\textbf{5.0}" in page
    assert "Bold: the best, italic: the runner-up" in page


def test_printed_blessed_and_now_stand_apart() -> None:
    baseline = report(TABLE, {"a0": outcome(24, 1.0)}, {("rows", "A_1"): ["a0"]}).cells
    page = render(report(TABLE, STORED, IDS, MACHINES, baseline), "terminal")
    rows = rows_of(page)
    header = [
        "dataset",
        "learner",
        "paper prints",
        "blessed",
        "okbench",
        "difference",
        "outcome",
        "rests on",
    ]
    assert header in rows
    line = ["rows", "A_1", "11.0 % ± 0.5", "12.00", "* 12.50 ± 2.50", "+1.50", "within", "printed"]
    assert line in rows
    cells = json.loads(render(report(TABLE, STORED, IDS, MACHINES, baseline), "json"))
    assert [cell["mean"] for cell in cells["blessed"]] == [12.0]


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
    first, second, *_ = latex_tables(replace(TABLE, datasets=datasets, printed=printed))
    assert "rows 21 &" in first
    assert "rows 22 &" in second
    assert r"\addtocounter{table}{-1}" in second
    assert "(continued)" in second
    assert ("Mean $" in first, "Mean $" in second) == (False, True)


def test_latex_goes_on_below_where_a_page_is_too_narrow() -> None:
    datasets = tuple(DatasetRow(f"rows {number}") for number in range(12))
    first, second, *_ = latex_tables(replace(TABLE, datasets=datasets, printed={}))
    assert "learner & rows 0 & " in first
    assert "rows 11" not in first
    assert "learner & rows " in second
    assert "& rows 11 " in second


def latex_tables(table: Table) -> list[str]:
    return render(report(table, {}, {}), "latex").split(r"\end{table}")


def test_markdown_headings_are_escaped() -> None:
    odd = replace(TABLE, printed={}, datasets=(DatasetRow("a|b"),))
    assert r" a\|b |" in render(report(odd, {}, {}), "md")


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
    assert "-7.00" in page
    lines = page.splitlines()
    ruler = next(number for number, line in enumerate(lines) if line.startswith("---"))
    assert len({len(line) for line in lines[ruler : ruler + 2]}) == 1


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
