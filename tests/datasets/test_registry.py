"""datasets.yaml and what may stand in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from okbench.base.errors import ConfigError, StoreError, UsageError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.catalogue.entries import read_catalogue
from okbench.datasets.catalogue.specs import FORMATS
from tests.shared import SHARED

needs_shared = pytest.mark.shared("datasets.yaml against the papers and the manifest")

PAPER_SETS = (
    *("german", "spambase", "w7a", "w8a", "a9a", "KDDCUP08", "KDDCUP99", "ijcnn1", "cod-rna"),
    *("dna", "satimage", "usps", "mnist", "letter", "shuttle", "acoustic", "seismic", "covtype"),
    *("poker", "connect-4", "housing", "mg", "abalone", "parkinsons", "cpusmall", "cadata"),
    *("casp", "slice", "year", "airlines", "twitter", "tom's hardware", "skin", "epsilon"),
    *("susy", "higgs", "url", "news20.binary", "rcv1.binary", "real-sim", "smallNORB"),
    "cifar-10",
)
EMBEDDED = (
    *("digits", "digits-even", "breast-cancer", "diabetes", "checkerboard", "spirals"),
    *("hyperplane", "friedman1", "friedman2", "friedman3"),
    *("abrupt-classes", "gradual-classes", "recurring-classes"),
    *("abrupt-targets", "gradual-targets", "recurring-targets"),
)


@pytest.fixture(autouse=True)
def no_own_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path))


def shelf(tmp_path: Path, entry: str) -> dataset_catalogue.DatasetSpec:
    """The spec of one entry, given as the YAML below its name."""
    path = tmp_path / "sets.yaml"
    indented = entry.replace("\n", "\n    ")
    text = f"bases: {{there: https://there.invalid/}}\ndatasets:\n  rows:\n    {indented}\n"
    path.write_text(text, encoding="utf-8")
    return read_catalogue(path).datasets["rows"]


GOOD = """task: binary
features: 3
reader: libsvm
files:
  train: {name: rows, rows: 60, from: there:rows}
  test: {name: rows.t, rows: 40, from: there:rows.t}"""


def test_the_42_sets_of_the_papers_and_the_embedded_ones_are_there() -> None:
    assert set(dataset_catalogue.dataset_names()) == {*PAPER_SETS, *EMBEDDED}
    assert len(PAPER_SETS) == 42


@pytest.mark.parametrize(
    ("name", "meant"),
    [("codrna", "cod-rna"), ("COD-RNA", "cod-rna"), ("toms-hardware", "tom's hardware")],
)
def test_names_go_by_any_case_and_by_their_aliases(name: str, meant: str) -> None:
    assert dataset_catalogue.spec(name).name == meant


def test_an_unknown_name_is_answered_with_the_closest() -> None:
    with pytest.raises(UsageError, match=r"no dataset 'cod-rnaa'\. Did you mean 'cod-rna'\?"):
        dataset_catalogue.spec("cod-rnaa")


def test_an_unknown_variant_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no variant 'rff'. Did you mean 'rrf'\?"):
        dataset_catalogue.variant(dataset_catalogue.spec("cod-rna"), "rff")


def test_the_first_variant_is_the_default() -> None:
    entry = dataset_catalogue.spec("cod-rna")
    assert dataset_catalogue.variant(entry).rows == 271_617
    assert dataset_catalogue.variant(entry, "rrf").rows == 331_152
    assert dataset_catalogue.variant(entry, "bkm").rows == 59_535


@pytest.mark.parametrize("name", ["german", "spambase", "dna", "satimage", "housing", "mg"])
def test_sets_of_the_authors_files_name_their_published_orders(name: str) -> None:
    entry = dataset_catalogue.spec(name)
    orders = dataset_catalogue.variant(entry).orders
    assert orders is not None
    assert entry.files[orders.file].name == f"{name}.mat"
    assert entry.files[orders.file] in entry.files_of(dataset_catalogue.variant(entry))


@pytest.mark.parametrize("name", PAPER_SETS)
def test_every_entry_of_a_paper_can_be_fetched_cited_and_expected(name: str) -> None:
    entry = dataset_catalogue.spec(name)
    assert entry.cite
    assert entry.licence
    assert entry.page
    assert entry.features
    assert entry.task == "regression" or entry.classes >= 2
    for file in entry.files.values():
        assert file.sources
        assert file.reader.format in FORMATS
    for variant in entry.variants.values():
        assert variant.rows or "not counted" in variant.note
        assert entry.files_of(variant)


def test_every_file_is_used_by_a_variant() -> None:
    for name in dataset_catalogue.dataset_names():
        entry = dataset_catalogue.spec(name)
        used = {file.key for way in entry.variants.values() for file in entry.files_of(way)}
        assert used == set(entry.files), name


def test_no_two_files_share_a_place() -> None:
    places = [
        (file.folder, file.name)
        for name in dataset_catalogue.dataset_names()
        for file in dataset_catalogue.spec(name).files.values()
    ]
    assert len(places) == len(set(places))


def test_an_address_without_https_has_a_checksum_or_is_fetched_by_hand() -> None:
    for name in dataset_catalogue.dataset_names():
        entry = dataset_catalogue.spec(name)
        for file in entry.files.values():
            for source in file.sources:
                plain = urlsplit(source.url).scheme == "http"
                assert not plain or file.hashed or entry.by_hand, source.url


# UCI's unscaled rows come as a .Z file, which is not read
UNSCALED_SHUTTLE = ("shuttle.trn", "shuttle.tst")


@needs_shared
def test_every_held_file_is_described_as_the_manifest_counts_it() -> None:
    manifest = yaml.safe_load((SHARED / "data" / "manifest.yaml").read_text(encoding="utf-8"))
    files = {
        (file.folder, file.name): file
        for name in dataset_catalogue.dataset_names()
        for file in dataset_catalogue.spec(name).files.values()
    }
    for held in manifest["datasets"]:
        for about in held["files"]:
            plain = re.sub(r"\.(bz2|gz|Z)$", "", about["name"])
            file = files.get((held["name"], plain))
            if file is None:
                is_left = held["name"] in ("adaraker-mat", "li-train")
                assert is_left or plain in UNSCALED_SHUTTLE, plain
                continue
            known = {file.content_sha256, *file.copies}
            assert about["content_sha256"] in known, plain
            if file.content_sha256 == about["content_sha256"]:
                assert file.content_bytes == about["content_bytes"], plain
            arrays = about.get("arrays", {})
            rows = about.get("rows") or arrays.get("data", [0])[0] or arrays["X"][1]
            assert file.rows == rows, plain


@needs_shared
def test_every_hash_in_the_list_of_sources_is_one_of_ours_or_of_a_file_we_leave() -> None:
    sources = yaml.safe_load((SHARED / "data" / "sources.yaml").read_text(encoding="utf-8"))
    published = {
        (check["algorithm"], check["value"])
        for entry in sources["datasets"]
        for file in entry["files"]
        for check in file.get("checksums", ())
    } | {
        (check["algorithm"], check["value"])
        for entry in sources["datasets"]
        for check in entry.get("member_checksums", ())
    }
    manifest = (SHARED / "data" / "manifest.yaml").read_text(encoding="utf-8")
    for name in dataset_catalogue.dataset_names():
        for file in dataset_catalogue.spec(name).files.values():
            for source in file.sources:
                for kind, value in (("sha256", source.sha256), ("md5", source.md5)):
                    assert not value or (kind, value) in published or value in manifest, value
            known = [file.content_sha256, *file.copies]
            for value in filter(None, known):
                assert ("sha256", value) in published or value in manifest, value


@needs_shared
@pytest.mark.parametrize("paper", ["rrf", "lsokl", "bkm", "ik", "raker"])
def test_some_variant_has_the_rows_every_table_of_a_paper_prints(paper: str) -> None:
    text = (SHARED / "papers" / f"{paper}.yaml").read_text(encoding="utf-8")
    excepted = {"raker": {"tom's hardware"}}.get(paper, set())
    for table in yaml.safe_load(text)["dataset_tables"]:
        for printed in table["datasets"]:
            name = printed.get("canonical", printed["name"])
            entry = dataset_catalogue.spec(name)
            if name in excepted:
                assert "rows" in dataset_catalogue.variant(entry).note
                continue
            train, rows = printed.get("train"), printed.get("instances")
            rows = rows or train + printed["test"]
            fits = [
                variant
                for variant in entry.variants.values()
                if variant.rows == rows and (train is None or variant.train == train)
            ]
            assert fits, f"{table['id']}: {name}: {rows}"
            if printed.get("classes"):
                assert any(variant.classes == printed["classes"] for variant in fits), name
            if printed.get("features"):
                assert any(variant.features == printed["features"] for variant in fits), name


def test_an_entry_is_read_with_its_defaults(tmp_path: Path) -> None:
    entry = shelf(tmp_path, GOOD)
    variant = dataset_catalogue.variant(entry)
    assert (variant.name, variant.use, variant.rows, variant.classes) == (
        "all",
        ("train", "test"),
        100,
        2,
    )
    assert entry.files["train"].sources[0].url == "https://there.invalid/rows"
    assert entry.files["train"].folder == "rows"


BAD = {
    "an unknown key": ("task: binry", "'binry' is not one of .*Did you mean 'binary'"),
    "a misspelt key": (f"{GOOD}\nlicense: none", "'license' is not a key here.*'licence'"),
    "no files": ("task: binary", "'rows' has no files"),
    "no reader": (
        "task: binary\nfiles: {all: {name: rows, from: there:rows}}",
        "'all' has no reader",
    ),
    "an unknown reader": (f"{GOOD.replace('libsvm', 'libsvn')}", "Did you mean 'libsvm'"),
    "a name that climbs": (f"{GOOD.replace('rows.t,', '../rows,')}", "no plain file name"),
    "an address of no kind": (f"{GOOD.replace('there:rows.t', 'ftp://x/y')}", "is no address"),
    "an unknown base": (f"{GOOD.replace('there:rows.t', 'where:rows')}", "is no address"),
    "a short hash": (
        f"{GOOD.replace('rows: 40', 'content_sha256: abc')}",
        "64 hexadecimal digits are expected, not 'abc'",
    ),
    "rows that are no number": (f"{GOOD.replace('40', 'many')}", "a whole number is expected"),
    "a variant of no file": (
        f"{GOOD}\nvariants: {{all: {{use: [tset]}}}}",
        "no file 'tset' in this entry",
    ),
    "too many rows": (
        f"{GOOD}\nvariants: {{all: {{rows: 101}}}}",
        "101 rows are promised, the files hold 100",
    ),
    "no test rows": (
        f"{GOOD}\nvariants: {{all: {{train: 100}}}}",
        "100 training rows leave no test rows of 100",
    ),
    "an unknown scaling": (f"{GOOD}\nvariants: {{all: {{scale: unit}}}}", "is not one of"),
    "a split without a seed": (
        f"{GOOD}\nvariants: {{all: {{split: {{train: 3}}}}}}",
        "'seed' is missing",
    ),
    "orders of no file": (
        f"{GOOD}\nvariants: {{all: {{orders: {{file: mat, variable: ID}}}}}}",
        "no file 'mat'",
    ),
    "labels of no file": (
        f"{GOOD.replace('reader: libsvm', 'reader: {format: norb, labels: cat}')}",
        "no file 'cat'",
    ),
    "no variant": (f"{GOOD}\nvariants: {{}}", "no variant stands here"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_entry_is_refused_with_its_file_and_line(tmp_path: Path, case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(ConfigError, match=message) as caught:
        shelf(tmp_path, text)
    assert re.search(r"sets\.yaml:\d+: ", str(caught.value))


def test_an_alias_that_is_another_sets_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sets.yaml"
    entry = "{task: binary, embedded: stream/spirals, aliases: [B]}"
    path.write_text(f"datasets:\n  a: {entry}\n  b: {entry}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="the alias 'B' already means 'b'"):
        read_catalogue(path)


def test_a_users_own_entries_follow_ours(tmp_path: Path) -> None:
    own = tmp_path / "user-datasets.yaml"
    own.write_text(
        "datasets:\n  mine: {task: regression, reader: csv, files: "
        "{all: {name: mine.csv, path: /somewhere/mine.csv}}}\n",
        encoding="utf-8",
    )
    assert dataset_catalogue.dataset_names()[-1] == "mine"
    assert dataset_catalogue.spec("mine").user_defined
    assert dataset_catalogue.spec("mine").files["all"].path == "/somewhere/mine.csv"


def test_a_users_own_entry_may_not_take_one_of_our_names(tmp_path: Path) -> None:
    own = tmp_path / "user-datasets.yaml"
    text = "datasets:\n  A9A: {task: binary, reader: csv, files: {all: {name: a, path: /a}}}\n"
    own.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="'A9A' is a dataset of okbench; rename yours"):
        dataset_catalogue.dataset_names()


def test_a_changed_file_of_own_entries_is_read_again(tmp_path: Path) -> None:
    own = tmp_path / "user-datasets.yaml"
    entry = "{task: binary, reader: csv, files: {all: {name: a, path: /a}}}"
    own.write_text(f"datasets:\n  first: {entry}\n", encoding="utf-8")
    assert "first" in dataset_catalogue.dataset_names()
    own.write_text(f"datasets:\n  second: {entry}\n", encoding="utf-8")
    os.utime(own, ns=(1, 1))
    assert "second" in dataset_catalogue.dataset_names()


def test_listing_datasets_imports_nothing_heavy() -> None:
    code = (
        "import sys; from okbench.datasets.catalogue import dataset_catalogue;"
        "dataset_catalogue.spec('a9a');"
        "heavy = {'numpy', 'pandas', 'scipy', 'numba', 'requests', 'sklearn'} & set(sys.modules);"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_data_folder_that_may_not_be_entered_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path))
    monkeypatch.setattr(Path, "stat", closed)
    with pytest.raises(StoreError, match="OKBENCH_DATA"):
        dataset_catalogue.dataset_names()


def test_a_home_folder_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKBENCH_DATA", "~nobody-of-that-name/x")
    with pytest.raises(UsageError, match=r"OKBENCH_DATA .*no such home folder"):
        dataset_catalogue.dataset_names()
