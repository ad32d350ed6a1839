"""Every held file and variant, against what was counted in the mirror's manifest."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from okbench.base.errors import DataError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.catalogue.specs import FileSpec
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare import loading
from okbench.datasets.prepare.loading import missing_files, prepared_rows
from okbench.datasets.readers.libsvm import read_libsvm
from tests.shared import SHARED, mostly_slow

MIRROR = SHARED / "data"
SMALL = ("german", "dna", "mg", "housing", "abalone")
LARGE = frozenset({"KDDCUP99"})  # half a minute; its counts are read in the test of its own

pytestmark = pytest.mark.shared("readers against the mirror's files")


def held(file: FileSpec) -> Path | None:
    """A file of the mirror, packed or not."""
    names = (file.name + suffix for suffix in ("", ".bz2", ".gz"))
    return next((path for name in names if (path := MIRROR / file.folder / name).is_file()), None)


@pytest.fixture(scope="module")
def _mirror(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OKBENCH_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setattr(loading, "path_of", held)
        yield


@cache
def manifest() -> dict[str, dict[str, Any]]:
    """What is known of each stored file, by folder/name."""
    known = yaml.load((MIRROR / "manifest.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    return {
        f"{entry['name']}/{file['name']}": file
        for entry in known["datasets"]
        for file in entry["files"]
    }


def libsvm_files() -> list[str]:
    if not MIRROR.is_dir():
        return []
    return [name for name, file in manifest().items() if "max_index" in file]


@pytest.mark.parametrize(
    "name",
    mostly_slow(libsvm_files(), [n for n in libsvm_files() if n.partition("/")[0] in SMALL]),
)
def test_a_libsvm_file_has_the_rows_and_labels_of_the_manifest(name: str) -> None:
    known = manifest()[name]
    rows = read_libsvm(MIRROR / name)
    assert rows.X.shape == (known["rows"], known["max_index"])
    assert rows.X.nnz <= known["nonzeros"]
    if "class_counts" in known:
        assert Counter(rows.y.astype(int).tolist()) == known["class_counts"]
    else:
        assert [rows.y.min(), rows.y.max()] == known["target_range"]


def variants() -> list[tuple[str, str]]:
    return [
        (name, variant)
        for name in dataset_catalogue.dataset_names()
        if name not in LARGE and not dataset_catalogue.spec(name).embedded
        for variant in dataset_catalogue.spec(name).variants
    ]


def loaded(name: str, variant: str) -> Dataset:
    return prepared_rows(
        dataset_catalogue.spec(name), dataset_catalogue.spec(name).variants[variant]
    ).dataset


@pytest.mark.usefixtures("_mirror")
@pytest.mark.parametrize(
    "of",
    mostly_slow(variants(), [each for each in variants() if each[0] in SMALL]),
    ids="-".join,
)
def test_a_variant_has_the_rows_width_and_classes_it_promises(of: tuple[str, str]) -> None:
    name, variant = of
    entry, chosen = dataset_catalogue.spec(name), dataset_catalogue.spec(name).variants[variant]
    if missing_files(entry, chosen):
        with pytest.raises(DataError, match="okbench fetch"):
            prepared_rows(entry, chosen)
        return
    found = prepared_rows(entry, chosen).dataset
    assert found.n_rows == chosen.rows
    assert found.n_features == chosen.features
    assert len(found.classes) == chosen.classes
    assert found.n_train == chosen.train
    assert (found.orders is not None) == (chosen.orders is not None)


def dense(found: Dataset) -> Any:
    return found.X if isinstance(found.X, np.ndarray) else found.X.toarray()


@pytest.mark.usefixtures("_mirror")
@pytest.mark.parametrize(
    ("name", "one", "other"),
    [("german", "lsokl", "libsvm"), ("spambase", "lsokl", "uci"), ("housing", "lsokl", "uci")],
)
def test_two_sources_of_a_set_give_the_same_rows(name: str, one: str, other: str) -> None:
    assert loaded(name, one).fingerprint == loaded(name, other).fingerprint


def as_svm_scale_prints(X: Any) -> Any:
    return np.char.mod("%g", X).astype(np.float64)


@pytest.mark.usefixtures("_mirror")
def test_scaling_gives_the_digits_of_the_published_scaled_files() -> None:
    published, ours = loaded("satimage", "libsvm"), loaded("satimage", "uci")
    for rows in (slice(0, 4435), slice(4435, None)):  # the training rows are in another order
        printed = as_svm_scale_prints(dense(ours)[rows]), dense(published)[rows]
        assert np.array_equal(*(np.unique(X, axis=0, return_counts=True)[0] for X in printed))


@pytest.mark.usefixtures("_mirror")
def test_the_published_orders_are_orders_counted_from_zero() -> None:
    orders = loaded("dna", "lsokl").orders
    assert orders is not None
    assert orders.shape == (20, 2000)
    assert orders.dtype == np.int64
    assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(2000), (20, 1)))


@pytest.mark.slow
@pytest.mark.usefixtures("_mirror")
def test_mnist_in_two_classes_is_the_split_of_the_paper() -> None:
    two, ten = loaded("mnist", "ik"), loaded("mnist", "all")
    assert np.array_equal(two.y == 1, np.isin(ten.y, [3, 4, 6, 7, 9]))
