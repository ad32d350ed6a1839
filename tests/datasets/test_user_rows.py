from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError, StoreError, UsageError
from okbench.datasets import load
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.user.user_entry import add_user_dataset as add
from okbench.datasets.user.user_rows import UserRows
from okbench.datasets.user.user_rows import read_user_rows as read


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))


def written(folder: Path, text: str, name: str = "mine.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def dense(found: UserRows) -> list[list[float]]:
    X = found.dataset.X
    return (X if isinstance(X, np.ndarray) else X.toarray()).tolist()


def test_a_csv_file_needs_no_words(tmp_path: Path) -> None:
    found = read(written(tmp_path, "a,b,y\n1,2,0\n3,4,1\n5,6,0\n"))
    assert dense(found) == [[1, 2], [3, 4], [5, 6]]
    assert found.dataset.y.tolist() == [0, 1, 0]
    assert (found.dataset.task, found.dataset.classes) == ("binary", (0, 1))
    assert found.notes == (
        "target: 'y' (the last one; --target overrides it)",
        "task: binary, from 2 labels (0, 1); --task overrides it",
    )


@pytest.mark.parametrize(
    ("column", "task"),
    [
        (["0", "1", "1"], "binary"),
        (["yes", "no", "yes"], "binary"),
        (["1", "2", "3"], "multiclass"),
        (["0.5", "1", "2"], "regression"),
    ],
)
def test_the_task_is_guessed_and_reported(tmp_path: Path, column: list[str], task: str) -> None:
    text = "x,y\n" + "".join(f"{place},{value}\n" for place, value in enumerate(column))
    found = read(written(tmp_path, text))
    assert found.dataset.task == task
    assert found.notes[-1].startswith(f"task: {task}, from ")


def test_whole_numbers_that_may_be_amounts_are_pointed_out(tmp_path: Path) -> None:
    numbers = read(written(tmp_path, "x,y\n" + "".join(f"{n},{n % 5}\n" for n in range(30))))
    assert "if they are amounts, add --task regression" in numbers.notes[-1]
    words = read(written(tmp_path, "x,y\n" + "".join(f"{n},{'abc'[n % 3]}\n" for n in range(30))))
    assert "amounts" not in words.notes[-1]


def test_many_whole_targets_are_a_regression_unless_stated(tmp_path: Path) -> None:
    path = written(tmp_path, "x,y\n" + "".join(f"1,{value}\n" for value in range(30)))
    assert read(path).dataset.task == "regression"
    assert len(read(path, task="multiclass").dataset.classes) == 30


def test_words_become_a_column_each(tmp_path: Path) -> None:
    path = written(tmp_path, "colour;size;y\nred;1;0\nblue;2;1\nred;3;0\n")
    found = read(path, target="y")
    assert dense(found) == [[0, 1, 1], [1, 0, 2], [0, 1, 3]]
    assert "columns of words, one column per value: 'colour' (2)" in found.notes
    assert dense(read(path, target="y", drop=["colour"])) == [[1], [2], [3]]
    assert dense(read(path, target="y", drop=["colour"], categorical=["size"]))[1] == [0, 1, 0]


def test_libsvm_text_is_recognised_and_its_first_index_reported(tmp_path: Path) -> None:
    found = read(written(tmp_path, "# rows\n+1 1:2 3:1\n-1 2:5\n", "mine.txt"))
    assert dense(found) == [[2, 0, 1], [0, 5, 0]]
    assert found.notes[0] == "LIBSVM text of 3 columns, counted from 1"
    zero = read(written(tmp_path, "+1 0:2\n-1 2:5\n", "zero.txt"))
    assert isinstance(zero.dataset.X, sp.csr_array) or zero.dataset.X.shape == (2, 3)
    assert zero.notes[0].endswith("counted from 0")


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("rows.txt", "1 -1:1 3:1", "an index cannot be negative"),
        ("rows.svm", "1 3 : 1", "'3' is no index:value pair"),
    ],
)
def test_damaged_libsvm_text_is_not_read_as_words(
    tmp_path: Path, name: str, row: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read(written(tmp_path, f"{row}\n-{row}\n", name))


def test_arrays_are_read(tmp_path: Path) -> None:
    X, y = np.array([[1.0, 2], [3, 4]]), np.array(["a", "b"])
    np.save(tmp_path / "mine.npy", np.column_stack([X, [0, 1]]))
    np.savez(tmp_path / "mine.npz", X=X, y=y)
    assert dense(read(tmp_path / "mine.npy")) == X.tolist()
    found = read(tmp_path / "mine.npz")
    assert (dense(found), found.dataset.classes) == (X.tolist(), ("a", "b"))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan, 2.0], r"y\[1\] has no value; delete the rows without a label"),
        (["a", "b", " NA "], r"y\[2\] has no value; delete the rows without a label"),
        ([1.0, 2.0, np.inf], r"y\[2\] is not a finite number"),
        ([1j, 2j, 1j], "labels are numbers or texts"),
        (np.array(["1970", "1971", "1970"], "M8[Y]"), "labels are numbers or texts"),
    ],
)
def test_labels_that_are_none_are_reported(tmp_path: Path, y: object, message: str) -> None:
    np.savez(tmp_path / "mine.npz", X=np.eye(3), y=np.asarray(y))
    with pytest.raises(DataError, match=message):
        read(tmp_path / "mine.npz")


def test_damaged_arrays_are_reported(tmp_path: Path) -> None:
    np.save(tmp_path / "whole.npy", np.eye(3))
    np.savez(tmp_path / "whole.npz", X=np.eye(3), y=[0, 1, 0])
    one, several = ((tmp_path / f"whole.{kind}").read_bytes() for kind in ("npy", "npz"))
    flipped = bytearray(several)
    flipped[several.index(np.eye(3).tobytes())] ^= 1
    for name, raw in {
        "a.npz": several[:200], "b.npz": bytes(flipped), "c.npz": one, "d.npy": several,
        "e.npy": one.replace(b"(3, 3)", b"(3,%d)" % 10**14).replace(b" " * 12 + b"\n", b"\n"),
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(DataError, match=f"{name}: not a "):
            read(tmp_path / name)


def test_missing_values_of_arrays_are_filled_too(tmp_path: Path) -> None:
    X, y = np.array([[2.0, 1], [np.nan, 1]]), [0, 1]
    np.savez(tmp_path / "mine.npz", X=X, y=y)
    np.save(tmp_path / "mine.npy", np.column_stack([X, y]))
    for name in ("mine.npz", "mine.npy"):
        assert dense(read(tmp_path / name, missing="mean")) == [[2, 1], [2, 1]]
        with pytest.raises(DataError, match=r"(X\[1, 0\]|row 1: column 0) has no value.*mean"):
            read(tmp_path / name)


def test_parquet_is_read(tmp_path: Path) -> None:
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"size": [1.5, 2.5], "kind": ["a", "b"], "y": [True, False]})
    frame.to_parquet(tmp_path / "mine.parquet")
    assert dense(read(tmp_path / "mine.parquet")) == [[1.5, 1, 0], [2.5, 0, 1]]
    frame["size"] = [Decimal("1.5"), Decimal("2.5")]
    frame.to_parquet(tmp_path / "mine.parquet")
    assert dense(read(tmp_path / "mine.parquet")) == [[1.5, 1, 0], [2.5, 0, 1]]


@pytest.mark.parametrize("column", [[1.0, np.inf, 2.0], [[1], [2], [3]]])
def test_parquet_that_holds_no_numbers_is_reported(tmp_path: Path, column: list[object]) -> None:
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    pd.DataFrame({"x": column, "y": [0, 1, 0]}).to_parquet(tmp_path / "mine.parquet")
    with pytest.raises(DataError, match="column 'x'"):
        read(tmp_path / "mine.parquet", missing="mean")


def test_numbers_are_names_when_called_so_in_any_format(tmp_path: Path) -> None:
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": [7.5, 8, 7.5], "z": [1, 2, 3], "y": [0, 1, 0]})
    frame.to_parquet(tmp_path / "mine.parquet")
    frame.to_csv(tmp_path / "mine.csv", index=False)
    np.save(tmp_path / "mine.npy", frame.to_numpy())
    head = "@relation r\n@attribute x real\n@attribute z real\n@attribute y real\n@data\n"
    written(tmp_path, head + frame.to_csv(index=False, header=False), "mine.arff")
    for kind in ("csv", "parquet", "npy", "arff"):
        found = read(tmp_path / f"mine.{kind}", categorical=[0])
        assert dense(found) == [[1, 0, 1], [0, 1, 2], [1, 0, 3]], kind
        added = add(tmp_path / f"mine.{kind}", kind, categorical=[0])
        assert load(kind).fingerprint == added.dataset.fingerprint == found.dataset.fingerprint


def test_a_column_whose_name_is_not_its_own_is_named_by_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, "y,a,a,y\n9,1,2,0\n8,3,4,1\n")
    assert read(path).dataset.y.tolist() == [0, 1]
    assert dense(read(path, drop=[2])) == [[9, 1], [8, 3]]
    add(path, "mine")
    assert load("mine").y.tolist() == [0, 1]


def test_words_in_another_encoding_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_bytes("x,y\ngr\xfcn,0\ngr\xf6n,1\n".encode("latin-1"))
    assert dense(read(tmp_path / "mine.csv", target="y")) == [[0, 1], [1, 0]]


def test_libsvm_text_with_long_lines_is_recognised(tmp_path: Path) -> None:
    rows = "".join(f" {index}:1" for index in range(100_000, 110_000))
    found = read(written(tmp_path, f"1{rows}\n-1{rows}\n", "mine.txt"))
    assert found.dataset.X.shape == (2, 109_999)


def test_missing_values_are_refused_or_filled_with_the_mean_before(tmp_path: Path) -> None:
    path = written(tmp_path, "x,y\n,0\n2,1\n4,0\nNA,1\n9,0\n")
    with pytest.raises(DataError, match=r"mine\.csv:2:1: column x has no value here"):
        read(path)
    assert dense(read(path, missing="mean")) == [[0], [2], [4], [3], [9]]


def test_scaling_never_looks_ahead(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(5, 2, 40)
    for scale in ("running [0,1]", "running standard"):
        whole, half = (
            np.array(dense(read(written(tmp_path, "x,z,y\n" + "".join(
                f"{value},7,{place % 2}\n" for place, value in enumerate(rows)
            )), scale=scale)))
            for rows in (values, values[:20])
        )  # fmt: skip
        assert np.array_equal(whole[:20], half)
        assert not whole[:, 1].any()
    last = (values[-1] - values.mean()) / values.std()
    assert whole[-1, 0] == pytest.approx(last)


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        (
            "size,y\n1,0\n2,1\n",
            {"target": "sise"},
            DataError,
            "no column 'sise'. Did you mean 'size'",
        ),
        ("x,y\n1,0\n2,0\n", {"task": "binary"}, DataError, "every row has the label 0"),
        ("x,y\n1,0\n2,1\n3,2\n", {"task": "binary"}, DataError, "3 different values"),
        ("x,y\n1,a\n2,b\n", {"task": "regression"}, DataError, "the target holds words"),
        ("x,z,y\n,1,0\n?,2,1\n", {"missing": "mean"}, DataError, "every value of 'x' is missing"),
        ("x,y\n1,0\n2,\n", {"missing": "mean"}, DataError, "mine.csv:3:3: column y, the target,"),
        ("x,y\n1,0\n2,1,3\n", {}, DataError, "mine.csv:3:5: more than 2 fields"),
        ("y\n1\n0\n", {}, DataError, "no column is left beside the target"),
        ("x,y\n1,0\n2,1\n", {"task": "binry"}, UsageError, "Did you mean 'binary'"),
        (
            "x,y\n1,0\n2,1\n",
            {"missing": "median"},
            UsageError,
            "no way with missing values 'median'",
        ),
        ("x,y\n1,0\n2,1\n", {"scale": "[0,2]"}, UsageError, "no scale"),
        ("", {}, DataError, "holds no rows"),
        ("x,y\n1,yes\n2,\n3,no\n", {}, DataError, "mine.csv:3:3: column y, the target, has no"),
        ("x,y,\n1,0,\n2,1,\n", {}, DataError, "mine.csv:2:5: column 2, the target, has no value"),
        ("x,y\n1,0\n2,1\n", {"target": "--5"}, DataError, "no column '--5'"),
        ("x,x,y\n1,2,0\n3,4,1\n", {"target": "x"}, DataError, "give a place instead: 0, 1"),
        ("x,y\r1,0\r2,1\r", {}, DataError, "end lines with LF"),
        ("x,y\n1e308,0\n1e308,1\n,0\n", {"missing": "mean"}, DataError, "too large"),
        ("x,y\n1e308,0\n-1e308,1\n", {"scale": "running [0,1]"}, DataError, "too large"),
        ("x,y\n1e200,0\n-1e200,1\n", {"scale": "running standard"}, DataError, "too large"),
        ("x,y\n1,-2e300\n2,1.5\n3,1e3\n", {}, DataError, "targets reach 2e+300"),
    ],
)
def test_what_cannot_be_learned_is_reported(
    tmp_path: Path, text: str, options: dict[str, str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        read(written(tmp_path, text), **options)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_files_that_are_not_what_they_are_called_are_reported(tmp_path: Path) -> None:
    for name in ("mine.npy", "mine.npz", "mine.parquet", "mine.arff"):
        with pytest.raises(DataError, match=name):
            read(written(tmp_path, "nonsense", name))
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="not a file of rows"):
        read(tmp_path)
    (tmp_path / "wide.csv").write_text("x,y\n1,0\n2,1\n", encoding="utf-16")
    with pytest.raises(DataError, match="save it as UTF-8"):
        read(tmp_path / "wide.csv")
    with pytest.raises(DataError, match="rename the file"):
        read(Path(shutil.copy(tmp_path / "wide.csv", tmp_path / "b\udcff.csv")))


def test_an_added_set_is_loaded_by_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, "kind,1e3,y\nred,0.5,no\nblue,2,yes\nred,4,no\n")
    found = add(path, "My rows", target="y")
    loaded = load("my rows")
    assert loaded.fingerprint == found.dataset.fingerprint
    assert loaded.classes == ("no", "yes")
    add(written(tmp_path, "1 0:2\n-1 3:1\n", "zero.libsvm"), "zero")
    assert load("zero").n_features == 4
    assert load("My rows").n_features == 3
    assert {"My rows", "zero"} <= set(dataset_catalogue.dataset_names())


def test_a_name_already_taken_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "x,y\n1,0\n2,1\n")
    add(path, "mine")
    for name in ("mine", "codrna", "A9A"):
        with pytest.raises(UsageError, match="there is a dataset"):
            add(path, name)
    with pytest.raises(UsageError, match="is no name"):
        add(path, "../mine")
    np.savez(tmp_path / "mine.npz", X=np.eye(2), y=[0, 1])
    with pytest.raises(UsageError, match="can be added"):
        add(tmp_path / "mine.npz", "arrays")


def test_adding_keeps_what_the_user_wrote(tmp_path: Path) -> None:
    path = written(tmp_path, "x,y\n1,0\n2,1\n")
    add(path, "one")
    text = dataset_catalogue.user_datasets().read_text(encoding="utf-8")
    dataset_catalogue.user_datasets().write_text("# mine\n" + text, encoding="utf-8")
    add(path, "two")
    after = dataset_catalogue.user_datasets().read_text(encoding="utf-8")
    assert after.startswith("# mine\n" + text)
    assert load("two").n_rows == 2


def test_an_entry_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = written(tmp_path, "x,y\n1,0\n2,1\n")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        add(path, "mine")
    assert [left.name for left in (tmp_path / "data").iterdir()] == ["user-datasets.lock"]


def test_rows_that_are_gone_are_reported_with_their_entry(tmp_path: Path) -> None:
    path = written(tmp_path, "x,y\n1,0\n2,1\n")
    add(path, "mine")
    path.unlink()
    with pytest.raises(DataError, match=r"put it back, or mend .*user-datasets\.yaml:2"):
        load("mine")
