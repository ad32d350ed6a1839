"""A user's own rows and own learner, from one command to a table that every command knows."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from pathlib import Path

import pytest

from tests.cli.conftest import Okbench, Printed

pytestmark = pytest.mark.usefixtures("in_threads")
MINE = """\
import numpy as np


class Mine:
    \"\"\"The class of the nearest mean.\"\"\"

    def __init__(self, prior: float = 1.0):
        self.prior = prior

    def begin(self, problem, draws):
        self.classes = problem.classes
        self.sums = np.zeros((len(problem.classes), problem.n_features))
        self.counts = np.full(len(problem.classes), float(self.prior))

    def _nearest(self, x):
        means = self.sums / self.counts[:, None]
        return int(np.argmin(((means - x) ** 2).sum(axis=1)))

    def learn(self, X, y):
        found = []
        for x, label in zip(X, y):
            found.append(self.classes[self._nearest(x)])
            place = self.classes.index(label)
            self.sums[place] += x
            self.counts[place] += 1
        return np.array(found)

    def predict(self, X):
        return np.array([self.classes[self._nearest(x)] for x in X])
"""
FAST = ("--trials", "2", "--jobs", "1")


def rings(path: Path, rows: int = 400, income: bool = False) -> None:
    """Two classes that no plane divides. Their means differ a little, so that the nearest mean is
    better than chance, and worse than a kernel of the right width."""
    chance = random.Random(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", *(["income"] if income else []), "y"])
        for row in range(rows):
            a, b = chance.uniform(-2, 2), chance.uniform(-2, 2)
            inner = (a - 0.5) ** 2 + (b - 0.3) ** 2 < 1.8
            more = [round(math.exp(chance.gauss(6, 2)), 2)] if income else []
            writer.writerow([row, a, b, *more, "in" if inner else "out"])


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a CSV file and a learner."""
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    rings(tmp_path / "my.csv")
    monkeypatch.delitem(__import__("sys").modules, "mine", raising=False)
    return tmp_path


def cells(printed: Printed) -> dict[str, dict[str, str]]:
    assert printed.code == 0, printed.err
    return {cell["learner"]: cell for cell in csv.DictReader(io.StringIO(printed.out))}


def rates(printed: Printed) -> dict[str, float]:
    return {learner: float(cell["mean"]) for learner, cell in cells(printed).items()}


DATA = ("run", "--data", "my.csv", "--target", "y", "--drop", "id")


def test_one_command_compares_an_own_learner_on_own_rows(okbench: Okbench, mine: Path) -> None:
    words = ("--learners", "FOGD,RBP,mine:Mine", "--set", "FOGD.components=50", *FAST)
    done = okbench(*DATA, *words)
    assert done.code == 0, done.err
    assert "search for settings of 2 learners: 90 trials on 400 rows" not in done.out
    assert "search for settings of 2 learners" in done.err
    for words in ("FOGD[components=50]", "RBP", "Mine"):
        assert f"Settings of {words}: " in done.out
    assert "Columns of my.csv have mean 0 and deviation 1 on a sample of the rows." in done.out
    assert "components 50, epsilon 0.1" in done.out


def test_the_cost_of_a_search_is_that_of_its_own_trials(okbench: Okbench, mine: Path) -> None:
    assert ": 50 trials on 400 rows" in okbench(*DATA, "--learners", "FOGD", *FAST).err
    assert ": 10 trials on 400 rows" in okbench(*DATA, "--learners", "FOGD[width=2]", *FAST).err


def test_a_file_named_like_a_table_of_a_paper_does_not_stand_for_it(
    okbench: Okbench, mine: Path
) -> None:
    for name in ("table5", "demo"):
        (mine / "my.csv").rename(mine / name)
        words = ("--target", "y", "--learners", "Perceptron", "--no-tune", *FAST)
        assert okbench("run", "--data", name, *words).code == 0
        assert okbench("report", f"own/{name}").out.startswith(f"own/{name}: ")
        (mine / name).rename(mine / "my.csv")
    refused = okbench("report", "table5")
    assert refused.code == 2
    assert "'table5' could be own/table5 or lsokl/table5; say which" in refused.err
    assert "Did you mean" not in okbench("show", "demo").err


def test_every_command_knows_the_table_by_its_name(okbench: Okbench, mine: Path) -> None:
    first = okbench(*DATA, "--learners", "FOGD,mine:Mine", *FAST)
    assert first.code == 0, first.err
    assert okbench("report", "own/my.csv").out == first.out
    assert okbench("report", "my.csv").out == first.out
    assert "own/my.csv" in okbench("list", "tables").out
    assert okbench("show", "own/my.csv").code == 0
    drawn = okbench("plot", "own/my.csv")
    assert drawn.code == 0, drawn.err
    assert (mine / "runs/own/my.csv.svg").is_file()
    assert "Mine" in okbench("compare", "own/my.csv", "--against", "Mine").out
    assert okbench("tune", "own/my.csv", "--learners", "FOGD").code == 0
    assert okbench("bless", "own/my.csv", "--reason", "the first run").code == 0
    assert "4 same" in okbench("check", "own/my.csv").out
    assert okbench("site").code == 0
    pages = [page.read_text(encoding="utf-8") for page in (mine / "site/tables").rglob("*.html")]
    assert any("400 rows of my.csv" in page for page in pages)
    again = okbench("run", "own/my.csv", "--jobs", "1", "--allow-learner", "mine")
    assert again.out.splitlines()[0] == first.out.splitlines()[0]
    assert okbench("report", "own/yours.csv").err.startswith("Error: no table 'own/yours.csv'. Did")


def test_learners_of_earlier_runs_on_the_same_rows_stay(okbench: Okbench, mine: Path) -> None:
    okbench(*DATA, "--learners", "mine:Mine", *FAST)
    both = okbench(*DATA, "--learners", "RBP", *FAST, "--format", "csv")
    assert list(cells(both)) == ["RBP"]
    whole = rates(okbench("report", "own/my.csv", "--format", "csv"))
    assert list(whole) == ["Mine", "RBP"]
    okbench("run", "--data", "my.csv", "--target", "y", "--learners", "RBP", *FAST)  # with the ids
    other = rates(okbench("report", "own/my.csv", "--format", "csv"))
    assert list(other) == ["RBP"]
    assert other["RBP"] != whole["RBP"]


def test_the_defaults_put_learners_in_the_right_order(okbench: Okbench, mine: Path) -> None:
    """At the width of the papers the nearest mean seems to win; at a width for these rows it is
    far behind."""
    words = ("--learners", "FOGD,OGD,mine:Mine", "--trials", "5", "--jobs", "1", "--format", "csv")
    tuned = rates(okbench(*DATA, *words))
    at_paper = rates(okbench(*DATA, *words, "--set", "FOGD.width=8", "--set", "OGD.width=8",
                             "--set", "FOGD.step=0.002", "--set", "OGD.step=0.2"))  # fmt: skip
    assert at_paper["FOGD[width=8,step=0.002]"] > at_paper["Mine"]
    assert max(tuned["FOGD"], tuned["OGD"]) < 0.7 * tuned["Mine"]


def test_a_wide_column_does_not_bring_learners_to_chance(okbench: Okbench, mine: Path) -> None:
    rings(mine / "my.csv", rows=600, income=True)
    words = ("--learners", "FOGD,NOGD,OGD", *FAST)
    scaled = okbench(*DATA, *words, "--format", "csv")
    assert max(rates(scaled).values()) < 30.0
    plain = okbench(*DATA, *words, "--scale", "none")
    assert "warning: 'income' varies" in plain.err
    assert "use --scale standard" in plain.err
    words = " ".join(plain.out.split())
    assert "not better than always answering the most frequent class" in words


def test_the_search_can_be_left_out(okbench: Okbench, mine: Path) -> None:
    searched = okbench(*DATA, "--learners", "FOGD", *FAST)
    assert "width" in searched.out
    assert "(searched" in searched.out
    plain = okbench(*DATA, "--learners", "FOGD", *FAST, "--no-tune")
    assert "search" not in plain.err
    assert "step 0.002 (default)" in plain.out
    assert "(searched" not in plain.out
    assert okbench("report", "own/my.csv").out == plain.out


def test_rows_in_order_are_scaled_by_the_rows_before(okbench: Okbench, mine: Path) -> None:
    done = okbench(*DATA, "--in-order", "--learners", "FOGD", "--jobs", "1")
    assert done.code == 0, done.err
    assert "have mean 0 and deviation 1 over the rows so far" in done.out


def test_variants_of_one_learner_stand_in_one_table(okbench: Okbench, mine: Path) -> None:
    words = "FOGD[width=1,step=0.01],FOGD[width=2, step=0.01],FOGD"
    found = rates(okbench(*DATA, "--learners", words, *FAST, "--no-tune", "--format", "csv"))
    assert list(found) == ["FOGD[width=1,step=0.01]", "FOGD[width=2,step=0.01]", "FOGD"]
    assert len(set(found.values())) == 3


def test_a_dry_run_writes_nothing(okbench: Okbench, mine: Path) -> None:
    done = okbench(*DATA, "--learners", "FOGD,mine:Mine", "--dry-run")
    assert done.out.startswith("own/my.csv: 40 trials, 0 done, 40 to run")
    assert not (mine / "runs").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--learners", "FGD"), "no learner 'FGD'. Did you mean 'FOGD'?"),
        (
            ("--learners", "nine:Mine"),
            "No module named 'nine', neither in this folder nor installed",
        ),
        (("--learners", "mine:Mime"), "no 'Mime' in mine. Did you mean 'Mine'?"),
        (("--learners", "FOGD[widht=2]"), "FOGD has no setting 'widht'. Did you mean 'width'?"),
        (("--learners", "FOGD[width]"), "'width' is not a setting; write FOGD[width=2"),
        (("--learners", "FOGD[width=2"), "is not a learner"),
        (("--learners", "FOGD", "--set", "FOGD.widht=2"), "Did you mean 'width'?"),
        (("--learners", "FOGD", "--set", "RBP.width=2"), "the table has no learner 'RBP'"),
        (("--learners", "FOGD", "--set", "width=2"), "is not a setting of a learner"),
        (("--learners", "FOGD", "--set", "FOGD.width=two"), "width is a number, not 'two'"),
        (("--learners", "FOGD", "--set", "FOGD.width=-2"), "width = -2.0: it must be above 0"),
    ],
)
def test_bad_words_get_one_message(
    okbench: Okbench, mine: Path, words: tuple[str, ...], message: str
) -> None:
    done = okbench(*DATA, *words, *FAST)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (mine / "runs").exists()


def test_an_own_learner_joins_a_shipped_table_and_no_verdict_counts_it(
    okbench: Okbench, mine: Path
) -> None:
    (mine / "t.yaml").write_text(
        "title: t\npaper: lsokl\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 2}\n"
        "settings: {width: 8, budget: 20}\ndatasets: {breast-cancer: {}}\n"
        "learners: {RBP: {}, FOGD: {components: 4 * budget, step: 2e-3}}\n"
        "cells: {breast-cancer: {FOGD: {step: 0.01}}}\n"
        "printed: {breast-cancer: {RBP: [10.0 % ± 9.0, 0.1], FOGD: [10.0 % ± 9.0, 0.1]}}\n",
        encoding="utf-8",
    )
    own = json.loads(okbench("run", "t.yaml", "--jobs", "1", "--format", "json").out)
    more = ("--with", "mine:Mine", "--set", "FOGD.width=2", "--set", "Mine.prior=3")
    done = okbench("run", "t.yaml", "--jobs", "1", "--learners", "RBP", *more, "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["learners"] == ["RBP", "Mine[prior=3]", "FOGD[width=2]"]
    whole = json.loads(okbench("report", "t.yaml", *more, "--format", "json").out)
    assert whole["learners"] == ["RBP", "FOGD", "Mine[prior=3]", "FOGD[width=2]"]
    assert whole["counts"] == own["counts"]
    for cell in (*whole["cells"], *own["cells"]):
        cell.pop("marks")  # an added learner may be the best of its dataset
    assert whole["cells"][:2] == own["cells"]
    added = {cell["learner"]: cell for cell in whole["cells"][2:]}
    assert {cell["verdict"]["outcome"] for cell in added.values()} == {"nothing printed"}
    assert (
        "Settings of FOGD[width=2]: components 80, epsilon 0.1, step 0.01, width 2."
        in (whole["settings"])
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--with", "FOGDD"), "no learner 'FOGDD'. Did you mean 'FOGD'?"),
        (("--with", "FOGD"), "the table has it already; for another column write FOGD[width=2]"),
        (("--with", "nine:Mine"), "No module named 'nine'"),
        (("--set", "RPB.budget=7"), "the table has no learner 'RPB'. Did you mean 'RBP'?"),
        (("--set", "RBP.budgt=7"), "Did you mean 'budget'?"),
        (("--set", "RBP.budget=x"), "budget is a whole number, not 'x'"),
        (("--with", "mine:Mine,mine:Mine"), "two columns are named 'Mine'"),
        (("--learners", "mine:Mine"), "--with mine:Mine adds a learner"),
    ],
)
def test_bad_additions_to_a_table_get_one_message(
    okbench: Okbench, mine: Path, words: tuple[str, ...], message: str
) -> None:
    done = okbench("run", "demo", *words, "--trials", "1", "--jobs", "1")
    assert (done.code, message in done.err) == (2, True), done.err
    assert "Traceback" not in done.err


def test_learners_are_added_to_tables_of_scores_alone(okbench: Okbench, mine: Path) -> None:
    for figure in ("lsokl/figure1", "lsokl/figure3", "lsokl/table1", "rrf/supplement1"):
        done = okbench("run", figure, "--with", "mine:Mine", "--dry-run")
        assert done.code == 2
        assert "add" in done.err


def test_a_table_extends_another_one_and_shares_its_outcomes(okbench: Okbench, mine: Path) -> None:
    (mine / "ext.yaml").write_text(
        "title: Mine beside the demo\nextends: demo\nlearners:\n"
        "  Mine: {learner: 'mine:Mine'}\n  FOGD of width 2: {learner: FOGD, width: 2}\n",
        encoding="utf-8",
    )
    some = ("--datasets", "breast-cancer", *FAST)
    assert okbench("run", "demo", *some, "--learners", "FOGD").code == 0
    refused = okbench("run", "ext.yaml", *some)
    assert refused.err.rstrip().endswith("--allow-learner mine:Mine")
    plan = okbench("run", "ext.yaml", *some, "--learners", "FOGD,Mine", "--dry-run",
                   "--allow-learner", "mine")  # fmt: skip
    assert plan.out.startswith("ext: 4 trials, 2 done, 2 to run")
    done = okbench("run", "ext.yaml", *some, "--learners", "FOGD of width 2", "--format", "csv")
    assert list(cells(done)) == ["FOGD of width 2"]
    shown = okbench("report", "ext.yaml", *some[:4], "--format", "csv")
    assert cells(shown)["FOGD"]["status"] == "done"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: dmo\nlearners: {A: {learner: RBP, budget: 7}}", "Did you mean 'demo'?"),
        ("extends: demo\nlearners: {RBP: {budget: 7}}", "two columns are named 'RBP'"),
        ("extends: demo\nlearners: {}", "adds learners"),
        ("extends: demo", "'learners' is missing"),
        ("extends: ../demo\nlearners: {A: {learner: RBP}}", "cannot be the name of a table"),
        ("extends: lsokl/figure1\nlearners: {A: {learner: RBP}}", "extend the table behind it"),
        ("extends: demo\nlearners: {A: {learner: RBP}}\nsettings: {}", "'settings' is not a key"),
    ],
)
def test_an_extension_that_makes_no_sense_is_refused(
    okbench: Okbench, mine: Path, text: str, message: str
) -> None:
    (mine / "ext.yaml").write_text(f"title: t\n{text}\n", encoding="utf-8")
    done = okbench("run", "ext.yaml", "--dry-run")
    assert (done.code, message in done.err) == (2, True), done.err


def test_init_writes_a_table_to_edit(okbench: Okbench, mine: Path) -> None:
    words = ("--target", "y", "--drop", "id", "--learners", "RBP,mine:Mine", "--trials", "2")
    done = okbench("init", "my.csv", *words)
    advised = "okbench run my.yaml --allow-learner mine:Mine"
    assert (done.code, done.out) == (0, f"my.yaml  ({advised})\n")
    text = (mine / "my.yaml").read_text(encoding="utf-8")
    assert text.count("#") > 8
    assert f"# Edit it, then run it: {advised}\n" in text
    ran = okbench(*advised.split()[1:], "--jobs", "1", "--format", "csv")
    same = okbench(*DATA, "--learners", "RBP,mine:Mine", *FAST, "--format", "csv")
    assert rates(ran) == rates(same)
    assert rates(okbench("report", "my.yaml", "--format", "csv")) == rates(ran)
    again = okbench("init", "my.csv", *words)
    assert (again.code, "is there already" in again.err) == (2, True)
    (mine / "my.yaml").write_text(text.replace("RBP: {}", "RBP: {budget: 7}"), encoding="utf-8")
    assert (
        rates(okbench("run", "my.yaml", "--jobs", "1", "--learners", "RBP", "--format", "csv"))[
            "RBP"
        ]
        != rates(same)["RBP"]
    )


def test_add_takes_the_options_for_columns_that_run_takes(okbench: Okbench, mine: Path) -> None:
    lines = [f"{n},{n % 3 or ''},{n % 2},{'u' if n % 5 else 'v'}" for n in range(60)]
    Path("gaps.csv").write_text("\n".join(["id,x,zip,y", *lines, ""]), encoding="utf-8")
    words = ("--drop", "id", "--categorical", "zip", "--missing", "mean", "--task", "binary")
    done = okbench("add", "gaps.csv", "--name", "gaps", *words)
    assert (done.code, done.out) == (0, "gaps: 60 rows, 3 columns, binary\n")
    assert "60, as expected" in okbench("show", "gaps").out
    named = json.loads(okbench("show", "gaps", "--format", "json").out)["fingerprint"]
    words = (*words, "--scale", "none", "--learners", "OGD", *FAST)
    assert okbench("run", "--data", "gaps.csv", *words).code == 0
    assert named in Path("runs/own/gaps.csv.yaml").read_text(encoding="utf-8")


def test_trials_that_were_all_stopped_still_name_their_machine(
    okbench: Okbench, mine: Path
) -> None:
    (mine / "slow.py").write_text(
        "import time\n\n\nclass Slow:\n    def learn(self, X, y):\n        time.sleep(0.1)\n"
        "        return y\n\n"
        "    def predict(self, X):\n        return X[:, 0]\n",
        encoding="utf-8",
    )
    words = ("--datasets", "breast-cancer", "--learners", "Slow", "--with", "slow:Slow")
    done = okbench("run", "demo", *words, "--trials", "1", "--jobs", "1", "--time-limit", "0.05s")
    assert "timeout" in done.out
    assert "not recorded" not in done.out.partition("Machine of okbench")[2]


def test_a_learner_that_cannot_run_leaves_no_trace(okbench: Okbench, mine: Path) -> None:
    (mine / "odd.py").write_text(
        "class NoPredict:\n    def learn(self, X, y):\n        return y\n", encoding="utf-8"
    )
    done = okbench(*DATA, "--learners", "RBP,odd:NoPredict", *FAST)
    assert (done.code, "asks for the methods learn and predict" in done.err) == (2, True)
    assert not (mine / "runs").exists()


def test_a_damaged_definition_is_named_and_stops_no_listing(okbench: Okbench, mine: Path) -> None:
    (mine / "runs/own").mkdir(parents=True)
    (mine / "runs/own/bad.csv.yaml").write_text("{", encoding="utf-8")
    assert "own/bad.csv" in okbench("list", "tables").out
    refused = okbench("report", "own/bad.csv")
    assert (refused.code, "runs/own/bad.csv.yaml:" in refused.err) == (2, True)


@pytest.mark.parametrize("name", ["my data #1: ü.csv", "rows", "a.yaml"])
def test_a_file_may_have_any_name(okbench: Okbench, mine: Path, name: str) -> None:
    rings(mine / name, rows=40)
    words = ("--target", "y", "--learners", "RBP", *FAST, "--format", "csv")
    first = okbench("run", "--data", name, *words)
    assert list(cells(first)) == ["RBP"]
    assert okbench("report", f"own/{name}", "--format", "csv").out == first.out


def test_a_table_with_a_set_that_needs_a_login_is_no_error(
    okbench: Okbench, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from okbench.datasets.catalogue import dataset_catalogue

    (mine / "t.yaml").write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
        "learners: {RBP: {}}\ndatasets: {breast-cancer: {}, german: {}}\n",
        encoding="utf-8",
    )
    plain = okbench("run", "t.yaml", "--jobs", "1")
    assert (plain.code, "not run: german" in plain.err) == (3, True)
    entry = replace(dataset_catalogue.spec("german"), by_hand=("ask for it",))
    known = dataset_catalogue.spec
    monkeypatch.setattr(
        "okbench.datasets.catalogue.dataset_catalogue.spec",
        lambda name: entry if name == "german" else known(name),
    )
    done = okbench("run", "t.yaml", "--jobs", "1")
    assert (done.code, "because a login is needed: german" in done.err) == (0, True)
    named = okbench("run", "t.yaml", "--jobs", "1", "--datasets", "breast-cancer,german")
    assert named.code == 3
