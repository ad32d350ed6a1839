"""An entry of datasets.yaml as data: what a set is, where its files are, how papers prepare it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from okbench.base.shared_types import Task
from okbench.papers.provenance import AS_DESCRIBED, Ingredient

Format = Literal[
    "libsvm", "csv", "mat", "arff", "idx", "norb", "cifar", "airlines", "npy", "parquet"
]
Scale = Literal["none", "[-1,1]", "[0,1]", "[0,1] with target", "/255", "unit norm"]
Label = int | float | str

TASKS: tuple[str, ...] = get_args(Task)
FORMATS: tuple[str, ...] = get_args(Format)
SCALES: tuple[str, ...] = get_args(Scale)

# what may become the name of a file or a folder, on any system
_PLAIN_NAME = re.compile(r"\w([\w .+'()=,~@&-]{0,118}[\w+')=~@&-])?")


def is_plain_name(text: str) -> bool:
    """Whether a text may become the name of a file or a folder."""
    return _PLAIN_NAME.fullmatch(text) is not None


@dataclass(frozen=True)
class FileSource:
    """An address that serves a file, and what is known of the bytes served there."""

    url: str
    member: str = ""  # the file's path inside the zip or tar at `url`
    sha256: str = ""  # of what is served, still packed
    md5: str = ""  # likewise, where only that was published
    bytes: int | None = None

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.url.rstrip("/").rpartition("/")[2]


@dataclass(frozen=True)
class ReaderSpec:
    """How the text or bytes of a file become columns.

    Columns are counted from 0 or named after the header; a negative one counts from the end.
    """

    format: Format
    index_base: int = 1  # libsvm
    header: bool = False  # csv
    delimiter: str = ","  # csv: one character, or "whitespace"
    target: int | str = -1  # csv and the matrix `X` of a mat file
    drop: tuple[int | str, ...] = ()
    categorical: tuple[int | str, ...] = ()  # one column per value, in sorted order
    X: str = ""  # mat: the variable with the features
    y: str = ""  # mat: the variable with the target; "" when it is the `target` column of X
    transposed: bool = False  # mat: X is features × rows
    labels: str = ""  # key of the file that holds the labels
    label_column: int = 0  # the label's column in that file
    joined_with: str = ""  # key of a table joined to each row
    # a user's own file: missing values take the mean of the rows before
    filled: bool = False

    def written(self) -> dict[str, Any]:
        """What the entry of a dataset says of a reader: all that is not as usual."""
        usual = ReaderSpec(self.format)
        changed = {
            option.name: getattr(self, option.name)
            for option in fields(self)
            if getattr(self, option.name) != getattr(usual, option.name)
        }
        return {"format": self.format, **changed}


@dataclass(frozen=True)
class FileSpec:
    """One file of a set. It is held under `folder`, as `name` or as `name` still compressed."""

    key: str  # its name within the entry: train, test, all, orders, …
    name: str  # unpacked
    folder: str  # in the data folder, in bundles and in mirrors
    reader: ReaderSpec
    sources: tuple[FileSource, ...] = ()
    content_sha256: str = ""  # unpacked
    content_bytes: int | None = None
    copies: tuple[str, ...] = ()  # contents that hold the same values in other bytes
    rows: int | None = None
    path: str = ""  # of a user's own file, which stays where it is
    where: str = ""

    @property
    def hashed(self) -> bool:
        """Whether a checksum of the file is known before the first download."""
        return bool(self.content_sha256 or any(s.sha256 or s.md5 for s in self.sources))


@dataclass(frozen=True)
class Split:
    """After a shuffle by `seed`, the first `train` rows are for training, the rest for testing."""

    train: int
    seed: int


@dataclass(frozen=True)
class PublishedOrders:
    """Published permutations: a matrix of a mat file, one per line, counted from 1."""

    file: str
    variable: str


@dataclass(frozen=True)
class VariantSpec:
    """The rows as one paper used them. Steps apply in the order of the fields."""

    name: str
    use: tuple[str, ...]  # file keys, joined in this order
    distinct: bool = False  # drop rows that repeat an earlier one, label included
    first: int | None = None  # keep so many rows
    above: float | None = None  # a target above this is +1, else −1
    labels: Mapping[str, Label] = field(default_factory=dict)  # label as read (or "rest") → label
    scale: Scale = "none"
    split: Split | None = None
    orders: PublishedOrders | None = None
    task: Task = "binary"  # after preparation, as are the next four
    features: int | None = None
    classes: int = 0
    rows: int | None = None
    train: int | None = None  # where the test rows begin, when the set comes in two parts
    prepared: Ingredient = AS_DESCRIBED  # where the preparation comes from
    note: str = ""  # why the rows are not those of the paper
    where: str = ""
    hash: int = 0  # so many columns, to which all are hashed at the end


@dataclass(frozen=True)
class DatasetSpec:
    """A set: its files and the variants papers made of them. The first variant is the default."""

    name: str
    task: Task
    features: int | None
    classes: int
    files: Mapping[str, FileSpec]
    variants: Mapping[str, VariantSpec]
    aliases: tuple[str, ...] = ()
    cite: str = ""
    licence: str = ""
    page: str = ""
    by_hand: tuple[str, ...] = ()  # the steps, when the set cannot be fetched unattended
    embedded: str = ""  # sklearn/… or stream/…: needs no files
    parameters: Mapping[str, int | float] = field(default_factory=dict)
    user_defined: bool = False
    default_named: bool = False  # tables write the name of the default variant
    where: str = ""

    def files_of(self, variant: VariantSpec) -> tuple[FileSpec, ...]:
        """Every file a variant reads: its rows, their labels and tables, its orders."""
        keys = list(variant.use)
        for key in variant.use:
            reader = self.files[key].reader
            keys += [other for other in (reader.labels, reader.joined_with) if other]
        if variant.orders:
            keys.append(variant.orders.file)
        return tuple(self.files[key] for key in dict.fromkeys(keys))
