"""Signed feature hashing: inner products kept in the mean, collisions counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

from okbench.base.errors import ConfigError
from okbench.cli.run import run as command
from okbench.cli.show import show
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.prepare.hashing import Collisions, _places, hashed
from okbench.datasets.prepare.loading import load_afresh
from okbench.datasets.user.user_rows import read_user_rows
from okbench.papers.rows_file import read_buckets


def test_a_hashed_row_is_the_signed_sum_of_its_columns() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random_array((50, 300), density=0.1, rng=rng))
    columns, signs = _places(np.arange(300), 16)
    by_hand = np.zeros((50, 16))
    for column in range(300):
        by_hand[:, columns[column]] += signs[column] * X.toarray()[:, column]
    found = hashed(X, 16)
    found.check_format(full_check=True)
    assert found.has_canonical_format
    assert np.allclose(found.toarray(), by_hand, atol=1e-12)
    assert np.array_equal(hashed(X.toarray(), 16).toarray(), found.toarray())
    assert np.array_equal(hashed(X[7:9], 16).toarray(), found.toarray()[7:9])
    assert hashed(X[:0], 16).shape == (0, 16)


def test_values_that_cancel_are_not_stored() -> None:
    places, signs = _places(np.arange(50), 2)
    same = np.flatnonzero(places == places[0])
    other = int(next(c for c in same if signs[c] != signs[0]))
    row = sp.csr_array(([3.0, 3.0], ([0, 0], [0, other])), shape=(1, 50))
    assert hashed(row, 2).nnz == 0


def test_inner_products_keep_their_mean() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random(4_000), rng.random(4_000)
    exact = a @ b
    shifted = []
    for start in range(0, 4_000 * 200, 4_000):  # other columns: other hashes
        X = sp.csr_array(
            (
                np.concatenate([a, b]),
                np.tile(np.arange(start, start + 4_000), 2),
                [0, 4_000, 8_000],
            ),
            shape=(2, 800_000),
        )
        one, two = hashed(X, 1 << 10).toarray()
        shifted.append(one @ two)
    error = np.std(shifted, ddof=1) / np.sqrt(len(shifted))
    assert abs(np.mean(shifted) - exact) < 4 * error
    assert 0 < error < 0.05 * exact


def test_hashes_are_those_of_splitmix() -> None:
    columns = [0, 1, 1_355_190, 3_231_960]
    bits = [_splitmix(column + 1) for column in columns]
    places, signs = _places(np.array(columns), 1 << 18)
    assert places.tolist() == [(each >> 1) % (1 << 18) for each in bits]
    assert signs.tolist() == [1.0 if each & 1 else -1.0 for each in bits]
    odd, _ = _places(np.array(columns), 1_000)
    assert odd.tolist() == [(each >> 1) % 1_000 for each in bits]


def _splitmix(word: int) -> int:
    """Steele, Lea, Flood 2014, in whole numbers of Python."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def test_collisions_are_counted() -> None:
    used = np.arange(0, 3_000_000, 300)
    X = sp.csr_array((np.ones(len(used)), (np.arange(len(used)) % 9, used)), shape=(9, 3_000_000))
    found = Collisions.of([X[:4], X[4:]], 1 << 12)
    places = _places(used, 1 << 12)[0]
    by_hand = sum(np.count_nonzero(places == place) > 1 for place in places)
    assert (found.columns, found.sharing, found.into) == (10_000, by_hand, 4_096)
    assert found.words.startswith("10,000 columns that hold values hashed to 4,096: ")
    # of n columns in m, one is alone with probability (1 - 1/m)^(n - 1)
    assert found.sharing / 10_000 == pytest.approx(1 - (1 - 1 / 4_096) ** 9_999, abs=0.02)


@pytest.mark.parametrize(("text", "count"), [("2^18", 262_144), ("1000", 1_000), ("2", 2)])
def test_a_number_of_columns(text: str, count: int) -> None:
    assert read_buckets(text) == count


@pytest.mark.parametrize("text", ["1", "2^31", "-4", "2^-1", "a", "", "9^99", "2^", "1e3", "²"])
def test_what_is_no_number_of_columns_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="2\\^18"):
        read_buckets(text)


def _wide(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(300):
        y, columns = rng.choice([-1, 1]), np.sort(rng.choice(3_231_961, 12, replace=False)) + 1
        lines.append(f"{y} " + " ".join(f"{c}:1" for c in [1 + (y > 0), *columns[2:]]) + "\n")
    path = folder / "wide.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_own_rows_are_hashed_and_collisions_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _wide(tmp_path)
    given = ["--data", "wide.txt", "--learners", "FOGD", "--no-tune", "--trials", "1", "-j", "1"]
    done = CliRunner().invoke(command, [*given, "--hash", "2^10"])
    assert done.exit_code == 0, done.output
    assert "columns that hold values hashed to 1,024: " in done.output
    kept = Path("runs/own/wide.txt.yaml").read_text(encoding="utf-8")
    assert "hash: 1024" in kept
    assert CliRunner().invoke(command, ["own/wide.txt", "-j", "1"]).exit_code == 0
    refused = CliRunner().invoke(command, [*given, "--hash", "1"])
    assert refused.exit_code == 2
    assert "write 2^18" in refused.output


def test_a_variant_may_be_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    path = _wide(tmp_path)
    entry = {
        "task": "binary",
        "features": 3_231_961,
        "files": {"all": {"name": path.name, "path": str(path), "reader": "libsvm"}},
        "variants": {"all": {}, "hashed": {"hash": "2^12"}},
    }
    user = dataset_catalogue.user_datasets()
    user.write_text(json.dumps({"datasets": {"wide": entry}}), encoding="utf-8")
    spec = dataset_catalogue.spec("wide")
    whole, small = (load_afresh(spec, variant) for variant in ("all", "hashed"))
    assert small.X.shape == (300, 4_096)
    assert np.array_equal(small.X.toarray(), hashed(whole.X, 4_096).toarray())
    own = read_user_rows(path, hash_to=4_096).dataset
    assert own.X.shape[1] == 4_096
    shown = CliRunner().invoke(show, ["wide", "--variant", "hashed"])
    assert "hashed to 4,096" in shown.output, shown.output
    entry["variants"] = {"hashed": {"hash": 1}}
    user.write_text(json.dumps({"datasets": {"wide": entry}}), encoding="utf-8")
    with pytest.raises(ConfigError, match="write 2\\^18"):
        dataset_catalogue.spec("wide")
