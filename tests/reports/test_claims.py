from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from printed_papers import PAPERS, printed_report, transcribed

from okbench.base.errors import ConfigError
from okbench.base.shipped import shipped
from okbench.cli.claims import claims as command
from okbench.papers import table_catalogue
from okbench.papers.table_types import PrintedCell
from okbench.reports.claims import claim_evidence
from okbench.reports.claims.claims_file import Claim, claims_of, papers_with_claims, read_claims
from okbench.reports.claims.judge import settle_claim
from okbench.reports.claims.sources import Outcomes
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report
from okbench.trials.plan.options import Options

# Where a claim, put to the printed tables as configs/claims says it, stands otherwise than its
# reader found. Each for a reason.
READ_OTHERWISE = {
    "bkm/claim2": "it holds on all datasets but poker; the reader counts that as failed",
    "bkm/claim4": "the seconds of training are not read from the printed total",
    "bkm/claim6": "nobody runs fifty days",
    "ik/claim1": "the transcription has the seconds of the dual form in its text alone",
    "ik/claim12": "no GPU here",
    "ik/claim17": "the reader also asks that IK-OGD be high everywhere",
    "lsokl/claim4": "'in general' is read as most of the datasets, the reader takes all",
    "lsokl/claim7": "'very high' is read as higher than every other on most datasets",
    "lsokl/claim17": "without a quantifier it is read as most of the datasets",
    "rrf/claim13": "holds on the rows that are printed; the reader waits for those that are lost",
}

# Sentences about streams and Figure 4, which the transcription has with the figures.
MORE = tuple(f"ik/claim{number}" for number in range(19, 24))


def test_every_claim_of_the_papers_is_written_down() -> None:
    assert papers_with_claims() == PAPERS
    assert sum(len(claims_of(paper)) for paper in PAPERS) == 71 + len(MORE)


@pytest.mark.shared("the claims of the papers")
@pytest.mark.parametrize("paper", PAPERS)
def test_the_claims_are_those_transcribed(paper: str) -> None:
    told = [claim["id"] for claim in transcribed(paper)["claims"]]
    more = [id_ for id_ in MORE if id_.startswith(f"{paper}/")]
    assert [claim.id for claim in claims_of(paper)] == [*told, *more]


@pytest.mark.shared("the claims of the papers")
@pytest.mark.parametrize("paper", PAPERS)
def test_on_the_printed_tables_claims_stand_as_their_reader_found(paper: str) -> None:
    found = {claim["id"]: claim["as_printed"] for claim in transcribed(paper)["claims"]}
    words = {"not tested": "not_checkable_from_tables", "holds partly": "holds_partly"}
    stands = {}
    for claim in claims_of(paper):
        if claim.id in MORE:
            continue
        settled = settle_claim(claim, printed_report, claim_evidence.printed, table_catalogue.find)
        standing = words.get(settled.standing, settled.standing)
        if standing == "refuted":  # a reader who met both calls that "partly"
            borne_out = any(tested.yes for tested in settled.tests)
            standing = "holds_partly" if borne_out else "fails"
        stands[claim.id] = standing
    otherwise = {id_ for id_, word in stands.items() if word != found[id_]}
    assert otherwise == {id_ for id_ in READ_OTHERWISE if id_.startswith(f"{paper}/")}


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_name_learners_and_datasets_that_their_tables_have(paper: str) -> None:
    known = {card.name for card in table_catalogue.names()}
    for claim in claims_of(paper):
        for test in claim.tests:
            if test.table in known:
                table = table_catalogue.find(test.table)
                labels = {column.label for column in table.learners}
                assert {*test.learners, *test.others} <= labels, claim.id
                assert set(test.on) <= {row.name for row in table.datasets}, claim.id


def written(tmp_path: Path, test: str) -> Claim:
    path = tmp_path / "made.yml"
    path.write_text(
        f"paper: made\nclaims:\n  claim1:\n    says: A is good\n    where: here\n    {test}\n",
        encoding="utf-8",
    )
    return read_claims(path)[0]


def cell(dataset: str, learner: str, values: tuple[float, ...], **more: Any) -> Cell:
    repetitions = tuple(range(len(values)))
    return Cell(dataset, learner, "mistake_rate", values, 6, repetitions, **more)


LOW = (10.0, 10.2, 9.8, 10.1, 9.9, 10.0)
HIGH = (12.0, 12.1, 11.8, 12.2, 11.9, 12.0)
WILD = (14.0, 7.0, 13.0, 6.5, 12.0, 8.0)


def report_of(**values: dict[str, tuple[float, ...]]) -> Report:
    """Datasets by name: what each learner scored."""
    learners = ("A", "B", "C")
    cells = {
        (dataset, learner): cell(dataset, learner, scores.get(learner, ()))
        for dataset, scores in values.items()
        for learner in learners
    }
    return Report("made/t", "", "mistake_rate", True, tuple(values), learners, cells, ())


def standing(tmp_path: Path, test: str, report: Report | None) -> tuple[str, str, str]:
    settled = settle_claim(
        written(tmp_path, test),
        lambda _: report,
        claim_evidence.measured_evidence,
        table_catalogue.find,
    )
    tested = settled.tests[0]
    return settled.standing, tested.reason, tested.command


BEATS = "tests: [{in: made/t, of: [A], beats: [B]}]"


def test_a_claim_holds_when_every_dataset_bears_it_out(tmp_path: Path) -> None:
    report = report_of(one={"A": LOW, "B": HIGH}, two={"A": LOW, "B": HIGH})
    assert standing(tmp_path, BEATS, report)[0] == "holds"


def test_one_counterexample_refutes_all(tmp_path: Path) -> None:
    report = report_of(one={"A": LOW, "B": HIGH}, two={"A": HIGH, "B": LOW})
    assert standing(tmp_path, BEATS, report)[0] == "refuted"
    report = report_of(one={"A": LOW, "B": HIGH}, two={"A": HIGH, "B": LOW}, three={"A": LOW})
    assert standing(tmp_path, BEATS, report)[0] == "refuted"


def test_a_claim_holds_partly_while_nothing_is_against_it(tmp_path: Path) -> None:
    report = report_of(one={"A": LOW, "B": HIGH}, two={"A": WILD, "B": LOW})
    assert standing(tmp_path, BEATS, report)[0] == "holds partly"


def test_a_claim_is_refuted_when_no_dataset_bears_it_out(tmp_path: Path) -> None:
    assert standing(tmp_path, BEATS, report_of(one={"A": HIGH, "B": LOW}))[0] == "refuted"


def test_most_is_more_than_half(tmp_path: Path) -> None:
    most = "tests: [{in: made/t, of: [A], beats: [B], for: most}]"
    good, bad = {"A": LOW, "B": HIGH}, {"A": HIGH, "B": LOW}
    assert standing(tmp_path, most, report_of(one=good, two=good, three=bad))[0] == "holds"
    assert standing(tmp_path, most, report_of(one=good, two=bad))[0] == "refuted"
    assert standing(tmp_path, most, report_of(one=good, two=bad, three={}))[0] == "holds partly"


def test_what_is_not_decided_cannot_be_said(tmp_path: Path) -> None:
    found = standing(tmp_path, BEATS, report_of(one={"A": WILD, "B": LOW}))
    assert found[:2] == ("not tested", "not decided on one")


def test_what_is_not_measured_names_the_command_that_would_tell(tmp_path: Path) -> None:
    report = report_of(one={"A": LOW, "B": HIGH}, two={"A": LOW})
    found = standing(tmp_path, BEATS, report)
    assert found == (
        "holds partly",
        "not measured on two",
        "okbench run made/t --datasets two --learners B",
    )


@pytest.mark.parametrize(("trials", "standing_"), [(5, "holds"), (4, "not tested")])
def test_five_pairs_are_enough(tmp_path: Path, trials: int, standing_: str) -> None:
    """As many as a paper that repeats a learner five times has."""
    report = report_of(one={"A": LOW[:trials], "B": HIGH[:trials]})
    whole = {key: replace(one, expected=trials) for key, one in report.cells.items()}
    assert standing(tmp_path, BEATS, replace(report, cells=whole))[0] == standing_


def test_what_is_run_once_has_the_same_value_in_every_repetition(tmp_path: Path) -> None:
    def single(value: float, *, once: bool = True) -> Report:
        report = report_of(one={"A": LOW})
        single = replace(cell("one", "B", (value,)), expected=1, once=once)
        return replace(report, cells={**report.cells, ("one", "B"): single})

    assert standing(tmp_path, BEATS, single(12.0))[0] == "holds"
    assert standing(tmp_path, BEATS, single(8.0))[0] == "refuted"
    assert standing(tmp_path, BEATS, single(12.0, once=False))[0] == "not tested"  # one of several
    other = "tests: [{in: made/t, of: [B], beats: [A]}]"
    assert standing(tmp_path, other, single(8.0))[0] == "holds"


@pytest.mark.parametrize(
    ("verb", "other", "standing_"),
    [
        ("beats: [B]", 10.1, "holds"),
        ("beats: [B]", 10.0, "refuted"),
        ("beats: [B]", 9.9, "refuted"),
        ("matches: [B]", 10.0, "holds"),
        ("is near: [B], within: 0.5", 9.6, "holds"),
        ("is near: [B], within: 0.5", 9.4, "refuted"),
    ],
)
def test_two_values_without_random_numbers_differ_as_they_stand(
    tmp_path: Path, verb: str, other: float, standing_: str
) -> None:
    values = {"A": 10.0, "B": other}
    cells = {
        ("one", name): replace(cell("one", name, (value,)), expected=1, once=True)
        for name, value in values.items()
    }
    report = replace(report_of(one={"A": LOW}), cells=cells)
    test = f"tests: [{{in: made/t, of: [A], {verb}}}]"
    assert standing(tmp_path, test, report)[0] == standing_


def test_an_incomplete_cell_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    report = report_of(one={"A": LOW[:5], "B": HIGH})
    assert standing(tmp_path, BEATS, report)[0] == "not tested"


def test_nine_of_ten_trials_count_where_the_tenth_has_ended_without_a_number(
    tmp_path: Path,
) -> None:
    report = report_of(one={"A": LOW, "B": (*HIGH, 12.0)})
    short = replace(cell("one", "A", LOW, statuses={"diverged": 1}), expected=7)
    whole = replace(report.cells["one", "B"], expected=7)
    report = replace(report, cells={**report.cells, ("one", "A"): short, ("one", "B"): whole})
    settled = settle_claim(
        written(tmp_path, BEATS),
        lambda _: report,
        claim_evidence.measured_evidence,
        table_catalogue.find,
    )
    assert settled.standing == "holds"
    assert settled.tests[0].evidence[0].figures.startswith("A 10 (6 of 7) beats B 12")


def test_a_part_that_is_refuted_refutes_the_claim(tmp_path: Path) -> None:
    both = "tests: [{in: made/t, of: [A], beats: [B]}, {in: made/t, of: [C], beats: [A]}]"
    report = report_of(one={"A": LOW, "B": HIGH, "C": HIGH})
    settled = settle_claim(
        written(tmp_path, both),
        lambda _: report,
        claim_evidence.measured_evidence,
        table_catalogue.find,
    )
    assert [tested.standing for tested in settled.tests] == ["holds", "refuted"]
    assert settled.standing == "refuted"


def test_what_follows_from_the_configuration_needs_no_outcome() -> None:
    """16, 40, 20 and 40 times the features of RRF: cod-rna is the counterexample to "20 or 40"."""
    (claim,) = [one for one in claims_of("rrf") if one.id == "rrf/claim7"]
    settled = settle_claim(
        claim, lambda _: None, claim_evidence.measured_evidence, table_catalogue.find
    )
    assert [(tested.yes, tested.no) for tested in settled.tests] == [(3, 1), (3, 1)]
    assert settled.standing == "refuted"
    assert {tested.reason for tested in settled.tests} == {"follows from the configuration"}


def test_a_lost_cell_is_named_and_not_dropped(tmp_path: Path) -> None:
    (claim,) = [one for one in claims_of("rrf") if one.id == "rrf/claim13"]
    reports = Outcomes([tmp_path], Options()).report
    settled = settle_claim(claim, reports, claim_evidence.printed, table_catalogue.find)
    lost = [one for one in settled.tests[0].evidence if one.holds is None]
    assert [one.dataset for one in lost] == ["year", "airlines"]
    assert all("lost in the text" in one.figures for one in lost)
    assert settled.standing == "holds partly"


def test_every_tolerance_is_marked_as_ours() -> None:
    for paper in PAPERS:
        for claim in claims_of(paper):
            for test in claim.tests:
                if test.within:
                    assert "tolerance" in test.reading, claim.id


def test_a_table_that_is_not_written_cannot_tell(tmp_path: Path) -> None:
    found = standing(tmp_path, BEATS, None)
    assert found == ("not tested", "there is no table made/t yet", "")


@pytest.mark.parametrize("paper", papers_with_claims())
def test_an_undecidable_claim_gives_a_reason_and_names_tables_that_exist(paper: str) -> None:
    for claim in claims_of(paper):
        assert bool(claim.undecidable) == (not claim.tests and not claim.configured), claim.id
        if claim.command:
            program, verb, table, *options = claim.command.split()
            assert (program, verb in {"run", "tune"}) == ("okbench", True)
            found = table_catalogue.find(table)
            labels = {column.label for column in found.learners}
            lines = {column.line for column in found.learners}
            if "--learners" in options:
                named = options[options.index("--learners") + 1].split(",")
                assert set(named) <= labels | lines, claim.id


def test_the_reason_stands_below_an_undecidable_claim_with_its_command(tmp_path: Path) -> None:
    page = CliRunner().invoke(command, ["rrf", "--results", str(tmp_path)]).output
    lines = page.splitlines()
    (place,) = [number for number, line in enumerate(lines) if "undecidable:" in line]
    assert lines[place].startswith("  undecidable: a theorem; outcomes cannot prove it")
    assert lines[place + 1] == "  → okbench run rrf/supplement1"


def test_a_learner_the_table_does_not_have_is_told(tmp_path: Path) -> None:
    odd = "tests: [{in: made/t, of: [A], beats: [BB]}]"
    assert standing(tmp_path, odd, report_of(one={}))[1].startswith(
        "made/t has no learner 'BB'. Did you mean 'B'?"
    )


def test_the_best_speaks_for_several_and_the_worst_for_every_one(tmp_path: Path) -> None:
    report = report_of(one={"A": LOW, "B": HIGH, "C": tuple(v + 1 for v in LOW)})
    best = "tests: [{in: made/t, of: [A, B], beats: [C]}]"
    every = "tests: [{in: made/t, each of: [A, B], beats: [C]}]"
    assert standing(tmp_path, best, report)[0] == "holds"
    assert standing(tmp_path, every, report)[0] == "refuted"


def test_near_needs_the_whole_interval_inside(tmp_path: Path) -> None:
    report = report_of(one={"A": LOW, "B": HIGH})
    near = "tests: [{in: made/t, of: [A], is near: [B], within: %s}]"
    assert standing(tmp_path, near % 3, report)[0] == "holds"
    assert standing(tmp_path, near % 1, report)[0] == "refuted"
    assert standing(tmp_path, near % 2, report)[0] == "not tested"


def test_seconds_count_only_when_timed_alone_on_one_machine(tmp_path: Path) -> None:
    faster = "tests: [{in: made/t, compare: seconds, of: [A], beats: [B], times: 10}]"

    def timed(b_seconds: float, machine: str = "e1", alone: bool = True) -> Report:
        cells = {
            ("one", "A"): cell("one", "A", LOW, seconds=1.0, timed=True, environments=("e1",)),
            ("one", "B"): cell(
                "one", "B", LOW, seconds=b_seconds, timed=alone, environments=(machine,)
            ),
        }
        return Report("made/t", "", "mistake_rate", True, ("one",), ("A", "B"), cells, ())

    assert standing(tmp_path, faster, timed(20.0))[0] == "holds"
    assert standing(tmp_path, faster, timed(5.0))[0] == "refuted"
    assert standing(tmp_path, faster, timed(10.1))[0] == "not tested"
    assert standing(tmp_path, faster, timed(20.0, machine="e2"))[0] == "not tested"
    crowded = standing(tmp_path, faster, timed(20.0, alone=False))
    assert crowded[0] == "not tested"
    assert crowded[2].endswith("--learners B --timing --jobs 1")


@pytest.mark.parametrize("number", [0.0, 5.0])
def test_equal_printed_numbers_beat_nothing(tmp_path: Path, number: float) -> None:
    cells = {
        ("one", name): cell("one", name, (), printed=PrintedCell("one", name, number))
        for name in "ABC"
    }
    report = Report("made/t", "", "mistake_rate", True, ("one",), ("A", "B", "C"), cells, ())
    settled = settle_claim(
        written(tmp_path, BEATS), lambda _: report, claim_evidence.printed, table_catalogue.find
    )
    (found,) = settled.tests[0].evidence
    assert (settled.standing, found.holds) == ("refuted", False)
    assert found.figures == f"A {number:.4g} equals B {number:.4g}, 1 times"


def test_a_claim_no_table_can_tell_cannot_be_said(tmp_path: Path) -> None:
    settled = settle_claim(
        written(tmp_path, "undecidable: a theorem"),
        lambda _: None,
        claim_evidence.measured_evidence,
        table_catalogue.find,
    )
    assert (settled.standing, settled.claim.undecidable) == ("not tested", "a theorem")


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("tests: [{in: made/t, of: [A]}]", "exactly one of beats, matches, is near"),
        ("tests: [{in: made/t, of: [A], beats: [B], within: 1}]", "'within' goes with"),
        (
            "tests: [{in: made/t, compare: seconds, of: [A], is near: [B], within: 1}]",
            "'is near' goes with scores",
        ),
        ("tests: [{in: made/t, of: [A], beat: [B]}]", "'beat' is not a key here. Did you mean"),
        ("tests: [{in: made/t, of: [], beats: [B]}]", "name one or more"),
        ("{}", "a mapping is expected"),
    ],
)
def test_a_claim_written_wrongly_is_refused_with_its_line(
    tmp_path: Path, test: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=r"made\.yml:\d") as error:
        written(tmp_path, test if test != "{}" else "tests: [3]")
    assert message in str(error.value)


def test_the_command_says_how_each_claim_stands_and_what_would_tell(tmp_path: Path) -> None:
    arguments = ["lsokl", "--results", str(tmp_path)]
    page = CliRunner().invoke(command, arguments).output
    assert "lsokl/claim3    not tested" in page
    assert "→ okbench run lsokl/table5 --datasets w7a,w8a,ijcnn1 --learners FOGD,OGD" in page
    assert page.endswith("19 claims: 19 not tested\n")
    page = CliRunner().invoke(command, ["lsokl/claim3", "--results", str(tmp_path)]).output
    assert page.endswith("1 claim: 1 not tested\n")


def test_the_command_puts_claims_to_the_printed_numbers_with_their_figures() -> None:
    page = CliRunner().invoke(command, ["lsokl", "--printed", "--figures"]).output
    assert "w7a: yes, FOGD 2.75 beats OGD 2.96" in page
    data = json.loads(CliRunner().invoke(command, ["lsokl", "--format", "json"]).output)
    assert len(data["claims"]) == 19


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lsoklx"], "no claims of a paper 'lsoklx'. Did you mean 'lsokl'?"),
        (["lsokl/claim22"], "no claim 'lsokl/claim22'. Did you mean"),
        (["rrf", "--learner", "FOGDD"], "no claim is about 'FOGDD'. Did you mean 'FOGD'?"),
        (["--dataset", "iris"], "no claim is about 'iris'"),
    ],
)
def test_claims_that_do_not_exist_are_refused(arguments: list[str], message: str) -> None:
    error = CliRunner().invoke(command, arguments).exception
    assert str(error).startswith(message)


def asked(*arguments: str) -> list[str]:
    page = json.loads(CliRunner().invoke(command, [*arguments, "--format", "json"]).output)
    return [one["claim"]["id"] for one in page["claims"]]


def test_claims_are_chosen_by_number_learner_and_dataset(tmp_path: Path) -> None:
    nowhere = ["--results", str(tmp_path)]
    assert asked("lsokl/claim2", *nowhere) == ["lsokl/claim2"]
    assert asked("lsokl", "--learner", "norma", *nowhere) == ["lsokl/claim14"]
    assert asked("rrf", "--dataset", "slice", "--learner", "Projectron", *nowhere) == [
        "rrf/claim10", "rrf/claim11", "rrf/claim12",
    ]  # fmt: skip
    assert set(asked("rrf", "--learner", "RRF", *nowhere)) >= {"rrf/claim1"}


def test_the_baselines_answer_unless_the_runs_know_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = CliRunner().invoke(command, ["lsokl/claim3"]).output
    assert "lsokl/claim3    holds\n" in page
    line = next(line for line in page.splitlines() if line.startswith("lsokl/table5: outcomes of"))
    assert "results" in line
    few = tmp_path / "runs" / "lsokl"
    few.mkdir(parents=True)
    baseline = shipped("results") / "lsokl" / "table5.jsonl"
    lines = baseline.read_bytes().splitlines(keepends=True)
    (few / "table5.jsonl").write_bytes(b"".join(lines[:20]))
    assert "lsokl/claim3    holds\n" in CliRunner().invoke(command, ["lsokl/claim3"]).output
    (few / "table5.jsonl").write_bytes(baseline.read_bytes())
    page = CliRunner().invoke(command, ["lsokl/claim3"]).output
    assert "lsokl/table5: outcomes of runs (" in page
