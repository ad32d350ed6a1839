"""Records: what they may say, what comes of them, and how bad ones are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from trial_material import Linear, load

from okbench.base.errors import ConfigError, DataError, OkbenchError
from okbench.trials.replay import record_rows
from okbench.trials.replay.differences import differences
from okbench.trials.replay.record import read_record
from okbench.trials.replay.replaying import replay
from tests.trials.replay_suite import FOLDER

X = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0]]
TWO = {"X": X, "y": [1, -1, 1, -1]}
FAR = {"values": [1, 2], "columns": [0, 2**40], "starts": [0, 0, 1, 1, 2], "width": 2}
WHOLE = {
    "okbench": "record",
    "schema": 1,
    "task": "binary",
    "rows": TWO,
    "learner": "Perceptron",
    "settings": {"width": 1.0},
}


def written(folder, **changed):
    """The path of a small record; None leaves a key out."""
    told = {key: value for key, value in {**WHOLE, **changed}.items() if value is not None}
    path = folder / "r.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def run(folder, **changed):
    return replay(read_record(written(folder, **changed)))


def shipped(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def test_a_run_gives_its_figures(tmp_path):
    figures = run(tmp_path, ticks=[2, 4]).figures()
    # Row 0 scores 0, which is +1 and right. Row 1 scores 0 as well, and is wrong.
    assert figures["rows"] == 4
    assert figures["curve"] == (1, figures["mistakes"])
    assert figures["support_size"] == figures["updates"] == figures["mistakes"]
    assert figures["support_curve"] == figures["curve"]
    assert figures["sum_abs_f"] >= abs(figures["sum_f"]) > 0


def test_rows_are_met_in_the_order_given(tmp_path):
    turned = {"X": X[::-1], "y": TWO["y"][::-1]}
    direct = run(tmp_path, rows=turned)
    ordered = run(tmp_path, order=[3, 2, 1, 0])
    np.testing.assert_array_equal(ordered.scores, direct.scores)


def test_rows_may_be_left_out_and_met_again(tmp_path):
    assert len(run(tmp_path, order=[2, 2, 0]).errors) == 3


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_sparse_rows_are_the_dense_ones(tmp_path, task):
    told = shipped(f"rbp-{task}")
    matrix = sp.csr_array(np.array(told["rows"]["X"]))
    np.savez(tmp_path / "a.npz", v=matrix.data, c=matrix.indices, s=matrix.indptr)
    parts = {"values": "v", "columns": "c", "starts": "s"}
    X = {name: {"file": "a.npz", "key": key} for name, key in parts.items()}
    told["rows"]["X"] = {**X, "width": matrix.shape[1]}
    assert differences(run(tmp_path, **told)) == []


def test_a_matrix_holds_rows_and_target(tmp_path):
    matrix = np.column_stack([TWO["y"], X])
    scipy.io.savemat(tmp_path / "a.mat", {"data": matrix.astype(np.int16), "half": matrix})
    np.savez(tmp_path / "a.npz", data=np.roll(matrix, -1, axis=1))
    from_mat = run(tmp_path, rows={"file": "a.mat", "key": "half", "target": 0})
    from_npz = run(tmp_path, rows={"file": "a.npz", "key": "data"})  # the last column
    for found in (from_mat, from_npz):
        assert found.figures() == run(tmp_path).figures()


@pytest.mark.parametrize(
    ("name", "text", "target"),
    [
        ("a.csv", "y,p,q\n1,0,1\n-1,1,0\n1,.5,.5\n-1,1,1\n", {"target": "y"}),
        ("a.txt", "1 2:1\n-1 1:1\n1 1:.5 2:.5\n-1 1:1 2:1\n", {}),
    ],
    ids=["csv", "libsvm"],
)
def test_a_file_of_rows_is_read_as_any_other(tmp_path, name, text, target):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert run(tmp_path, rows={"file": name, **target}).figures() == run(tmp_path).figures()


def test_arrays_come_from_npy_files_and_by_index(tmp_path):
    np.save(tmp_path / "X.npy", np.array(X))
    np.savez(tmp_path / "orders.npz", all=np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    found = run(
        tmp_path,
        rows={"X": {"file": "X.npy"}, "y": TWO["y"]},
        order={"file": "orders.npz", "key": "all", "index": 1},
    )
    np.testing.assert_array_equal(found.scores, run(tmp_path, order=[3, 2, 1, 0]).scores)


def test_labels_may_be_words_and_classes_named_beyond_those_met(tmp_path):
    words = {"X": X, "y": ["b", "a", "b", "a"]}
    assert run(tmp_path, rows=words).total == run(tmp_path).total
    found = run(tmp_path, rows=words, task="multiclass", classes=["a", "b", "c"])
    assert found.scores.shape == (4, 3)


def test_a_dataset_of_okbench_has_named_orders(tmp_path, monkeypatch):
    monkeypatch.setattr(record_rows, "load", load)
    rows = {"dataset": "ordered", "fingerprint": "print-ordered-600"}
    orders = load("ordered").orders
    found = read_record(written(tmp_path, rows=rows, order="published/1"))
    np.testing.assert_array_equal(found.order, orders[1])
    seeded = read_record(written(tmp_path, rows=rows, order="seeded/0")).order
    np.testing.assert_array_equal(np.sort(seeded), np.arange(600))
    with pytest.raises(DataError, match=r"r\.json: order: .*2 permutations were published"):
        read_record(written(tmp_path, rows=rows, order="published/2"))
    with pytest.raises(DataError, match=r"rows\.fingerprint: the rows here are others"):
        read_record(written(tmp_path, rows={**rows, "fingerprint": "other"}))


def test_a_seed_gives_the_same_draws_each_time(tmp_path):
    told = {"learner": "FOGD", "settings": {"components": 4}, "draws": {"seed": [3, 1]}}
    once, again = run(tmp_path, **told), run(tmp_path, **told)
    np.testing.assert_array_equal(once.scores, again.scores)
    other = run(tmp_path, **{**told, "draws": {"seed": 4}})
    assert not np.array_equal(once.scores, other.scores)


def test_recorded_draws_decide_the_run_and_are_told(tmp_path):
    told = shipped("rbp-binary")
    found = run(tmp_path, **told)
    assert found.uniforms.tolist() == told["draws"]["uniforms"]
    assert found.removal_slots.tolist() == told["expect"]["removal_slots"]
    told["draws"]["uniforms"] = [1 - u for u in told["draws"]["uniforms"]]
    assert differences(run(tmp_path, **told))


def test_draws_that_run_out_are_told(tmp_path):
    told = shipped("rbp-binary")
    told["draws"]["uniforms"] = told["draws"]["uniforms"][:3]
    with pytest.raises(DataError, match=r"r\.json: in rows .*the recorded draws end"):
        run(tmp_path, **told)
    with pytest.raises(DataError, match="the record holds 0 × 0 normals"):
        run(tmp_path, learner="FOGD", settings={})


def test_a_strangers_learner_needs_only_its_verbs(tmp_path):
    found = run(tmp_path, learner="trial_material:Linear", settings={"step": 1})
    assert found.scores is None
    assert found.figures()["support_size"] is None
    with pytest.raises(
        ConfigError, match=r"expect\.sum_f: trial_material:Linear does not report it"
    ):
        differences(
            run(tmp_path, learner="trial_material:Linear", settings={}, expect={"sum_f": 1})
        )


def test_a_strangers_figures_may_be_methods_and_of_any_whole_type(tmp_path):
    expected = {"support_size": 3, "updates": 7}
    replayed = run(tmp_path, learner=f"{__name__}:Counts", settings={}, expect=expected)
    assert differences(replayed) == []
    assert json.loads(json.dumps(replayed.figures()))["support_curve"] == [3] * 4


class Counts(Linear):
    updates = np.int32(7)

    def support_size(self):
        return 3


def test_scores_that_are_no_numbers_part_from_any_sum(tmp_path):
    expected = {"sum_f": 0.5, "sum_abs_f": 0.5}
    replayed = run(tmp_path, learner=f"{__name__}:Lost", settings={}, expect=expected)
    assert [line.partition(":")[0] for line in differences(replayed)] == ["sum_f", "sum_abs_f"]


class Lost(Linear):
    def learn_scores(self, X, y):
        return np.full((len(y), 1), np.nan)


def test_a_learner_that_exits_is_told_with_the_rows(tmp_path):
    told = {"learner": "trial_material:Exits", "settings": {"at": 3}}
    with pytest.raises(OkbenchError, match=r"rows 2 to 3: trial_material:Exits: SystemExit: 0"):
        run(tmp_path, **told, ticks=[2])


def test_a_learner_that_diverges_is_told_with_its_row(tmp_path):
    rows = {"X": [[1e200]] * 4, "y": [0.5] * 4}
    told = {"task": "regression", "rows": rows, "learner": "trial_material:Squares"}
    with pytest.raises(OkbenchError, match=r"r\.json: diverged at row 1$"):
        run(tmp_path, **told, settings={}, ticks=[1, 4])


def test_a_learner_that_raises_is_told_with_the_rows(tmp_path):
    told = {"learner": "trial_material:Raises", "settings": {"at": 3}}
    with pytest.raises(OkbenchError, match=r"r\.json: in rows 2 to 3: trial_material:Raises: "):
        run(tmp_path, **told, ticks=[2])


# --- what is expected ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("mistakes", lambda n: n + 1, "mistakes: "),
        ("support_size", lambda n: n + 1, "support_size: 7, expected 8"),
        ("updates", lambda n: n - 1, "updates: "),
        ("curve", lambda c: [*c[:2], c[2] + 1, c[3]], "mistakes after row 47: "),
        ("support_curve", lambda c: [6, *c[1:]], "support after row 15: 5, expected 6"),
        ("support_curve", lambda c: c[:3], "support: there are 4, expected 3"),
        ("scores", lambda s: [], "score: there are 64, expected 0"),
        ("sum_f", lambda s: s + 1e-6, "sum_f: "),
        ("sum_abs_f", lambda s: s + 1e-6, "sum_abs_f: "),
        ("scores", lambda s: [*s[:9], s[9] + 1e-8, *s[10:]], "score of row 9 (row 3 of the data)"),
        ("removal_slots", lambda s: [*s[:5], 9, *s[6:]], "slot of removal 5: "),
    ],
)
def test_what_comes_out_otherwise_is_told_where_it_parts(tmp_path, name, change, told):
    whole = shipped("rbp-binary")
    whole["expect"][name] = change(whole["expect"][name])
    (found,) = differences(run(tmp_path, **whole))
    assert found.startswith(told)


def test_the_earliest_parting_of_a_run_comes_first(tmp_path):
    whole = shipped("forgetron-binary")
    whole["settings"]["budget"] = 6
    first, *rest = differences(run(tmp_path, **whole))
    assert first.startswith("score of row ")
    assert rest[-1].startswith("sum_abs_f: ")


def test_tolerances_are_widened_on_request(tmp_path):
    whole = shipped("ogd-regression")
    whole["expect"]["summed_squared_loss"] *= 1 + 1e-9
    whole["expect"]["scores"][3] += 1e-6
    assert len(differences(run(tmp_path, **whole))) == 2
    assert differences(run(tmp_path, **whole, tolerance={"loss": 1e-8, "scores": 1e-5})) == []


def test_a_record_without_expectations_parts_from_nothing(tmp_path):
    assert differences(run(tmp_path)) == []


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"okbench": "results"}, "okbench: this is no record"),
        ({"schema": 2}, "schema: written by a newer okbench"),
        ({"learner": None}, "'learner' is missing; add 'learner: …'"),
        ({"lerner": "RBP"}, r"'lerner' is not a key here\. Did you mean 'learner'\?"),
        ({"task": "binarry"}, r"task: no task 'binarry'\. Did you mean 'binary'\?"),
        ({"task": None}, "rows: these rows need a 'task'"),
        ({"learner": "Percepton"}, r"learner: no learner 'Percepton'\. Did you mean 'Perceptron'"),
        ({"learner": "Norma"}, "learner: Norma does not do binary; it does regression"),
        ({"settings": {"widht": 1}}, r"settings\.widht: .*Did you mean 'width'"),
        ({"settings": {"width": "wide"}}, r"settings\.width: .*a number, not 'wide'"),
        ({"settings": {"width": -1}}, "width = -1.0: it must be above 0"),
        ({"settings": {"width": [1]}}, r"settings\.width: .*a number, not \[1\]"),
        ({"settings": {"width": [[1]]}}, r"settings\.width: a setting is a number, a text"),
        ({"settings": {"width": {"a": 1}}}, r"settings\.width: a setting is a number, a text"),
        ({"settings": {"width": [1, None]}}, r"settings\.width: null cannot stand in a list"),
        ({"rows": {}}, "rows: say where the rows are"),
        ({"rows": {"X": X}}, "rows: 'y' is missing"),
        ({"rows": {**TWO, "X": [[1], [1, 2]]}}, r"rows\.X: the lists in it are of different"),
        ({"rows": {**TWO, "X": {"file": "r.json"}}}, r"rows\.X\.file: .*come from \.npy"),
        ({"rows": {**TWO, "X": {"file": "a.npz"}}}, r"rows\.X\.file: the key of the array"),
        ({"rows": {"dataset": "germann"}}, r"rows\.dataset: .*Did you mean 'german'"),
        ({"order": "backwards/1"}, "order: 'backwards/1' is no order"),
        ({"order": "seeded/²"}, "order: 'seeded/²' is no order"),
        ({"order": "seeded/" + 5000 * "9"}, "order: 'seeded/9+' is no order"),
        ({"learner": 5}, "learner: a text is expected, not 5"),
        ({"order": "seeded/1"}, "order: only a dataset of okbench"),
        ({"draws": {"seed": 1, "normals": [[1]]}}, "draws: a seed stands for all draws"),
        ({"draws": {"seed": -1}}, r"draws\.seed: -1 is too small"),
        ({"tolerance": {"scores": -1}}, r"tolerance\.scores: a tolerance is 0 or more"),
        ({"expect": {"mistakes": 1.5}}, r"expect\.mistakes: a whole number"),
        (
            {"expect": {"summed_squared_loss": 1}},
            r"expect\.summed_squared_loss: 'summed_squared_loss' is not a key here",
        ),
    ],
)
def test_a_record_that_says_nonsense_is_refused_with_its_key(tmp_path, changed, message):
    np.savez(tmp_path / "a.npz", X=np.array(X))
    with pytest.raises(ConfigError, match=rf"r\.json: .*{message}|r\.json: {message}"):
        run(tmp_path, **changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": {**TWO, "X": {"file": "no.npy"}}}, r"rows\.X\.file: .*no\.npy is not here"),
        ({"rows": {**TWO, "X": {"file": "a.npz", "key": "XX"}}}, r"no 'XX'\. Did you mean 'X'\?"),
        ({"rows": {**TWO, "X": {"file": "bad.npz", "key": "X"}}}, r"bad\.npz: not a \.npz"),
        ({"rows": {**TWO, "X": {"file": "bad.mat", "key": "X"}}}, r"rows\.X\.key: .*not a \.mat"),
        ({"rows": {**TWO, "X": FAR}}, r"rows\.X: these are no sparse rows: .*< 2"),
        ({"rows": {**TWO, "X": X[:3]}}, "rows: X has 3 rows and y 4"),
        ({"rows": {**TWO, "X": {"file": "inf.npy"}}}, r"the number at \[0, 1\] is not finite"),
        ({"rows": {**TWO, "y": [1, 1, 1, 1]}}, "rows: classes 1 do not make a binary problem"),
        ({"rows": {**TWO, "y": [1, 2, 3, 1]}}, "rows: classes 1, 2, 3 do not make a binary"),
        ({"classes": [0, 1]}, "rows: row 1: label -1 is none of the classes"),
        ({"order": [0, 4]}, "order: 4 at place 1 is none of the 4 rows"),
        ({"order": []}, "order: no row is in it"),
        ({"order": [0.5]}, "order: whole numbers are expected"),
        ({"ticks": [3, 2]}, "ticks: ticks are rising"),
        ({"draws": {"uniforms": [1.0]}}, r"draws\.uniforms: uniforms are from 0 to below 1"),
        ({"rows": {**TWO, "X": {"file": "a.npz", "key": "X", "index": 9}}}, r"rows\.X: no index 9"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_refused_with_their_key(tmp_path, changed, message):
    np.savez(tmp_path / "a.npz", X=np.array(X))
    for name in ("bad.npz", "bad.mat"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 no archive")
    np.save(tmp_path / "inf.npy", np.array([[0.0, np.inf]] * 4))
    with pytest.raises(DataError, match=message):
        run(tmp_path, **changed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"okbench": "record",\n "schema": }', r"r\.json:2: not JSON"),
        ('{"schema": 1, "schema": 1}', "the key 'schema' stands twice"),
        ('{"schema": NaN}', "NaN is no number in JSON"),
        ('{"schema": 99999999999999999999}', "99999999999999999999 is too large a whole number"),
        ("[1]", r"r\.json: a mapping is expected, not \[1\]"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}".encode("latin-1"), "not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_json_object_is_refused(tmp_path, text, message):
    path = tmp_path / "r.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=message):
        read_record(path)


ODD = (
    None, True, -1, 3, 2.5, 1e300, "", "x", [], [[]], [1], [[1, 2], [3]], [None], [{}], {},
    {"a": 1}, {"file": ".", "key": "X"}, {"file": "a.npz", "key": "X"},
    {"file": "a.npz", "key": "words"},
    {"values": [1], "columns": [9], "starts": [0, 1], "width": 2},
)  # fmt: skip


def places(told, above=()):
    """Where the values of an object are: the keys that lead there."""
    for key, value in told.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from places(value, (*above, key))


def refusal(folder, told):
    """The message a record is refused with, or its path."""
    path = folder / "r.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    try:
        differences(replay(read_record(path)))
    except OkbenchError as error:
        return str(error)
    return str(path)


@pytest.mark.parametrize("name", ["rbp-binary", "fogd-multiclass", "bogd-regression"])
def test_an_odd_value_anywhere_is_taken_or_refused_with_the_records_name(tmp_path, name):
    np.savez(tmp_path / "a.npz", X=np.eye(3), words=np.array([["a", "b"]]))
    for place in places(shipped(name)):
        for odd in ODD:
            told = changed = shipped(name)
            for key in place[:-1]:
                changed = changed[key]
            changed[place[-1]] = odd
            assert refusal(tmp_path, told).startswith(str(tmp_path / "r.json"))


def test_a_record_that_is_not_there_is_told(tmp_path):
    with pytest.raises(DataError, match=r"none\.json: cannot be read: No such file"):
        read_record(tmp_path / "none.json")
