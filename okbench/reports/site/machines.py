"""The machines and versions behind outcomes, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from okbench.reports.site.markup import Markup, tag
from okbench.reports.tables.report import MACHINE_UNKNOWN

_PARTS = ("processor", "cores", "memory", "system", "Python", "BLAS", "packages", "outcomes")


def machines(environments: Mapping[str, Mapping[str, Any]], shares: Mapping[str, int]) -> Markup:
    """Every environment with the number of outcomes measured there, most of them first."""
    ordered = sorted(environments, key=lambda hash_: (-shares[hash_], hash_))
    sheets = [
        tag("dl", _described(environments[hash_], shares[hash_]), class_="machine")
        for hash_ in ordered
    ]
    return tag("div", sheets, class_="machines")


def _described(record: Mapping[str, Any], outcomes: int) -> list[Markup]:
    packages = _mapping(record, "packages")
    blas = _mapping(record, "blas")
    library = " ".join(str(blas[key]) for key in ("name", "version", "core") if blas.get(key))
    threads = f", threads per trial: {blas['threads']}" if blas.get("threads") else ""
    memory = f"{record['memory_gb']} GB" if record.get("memory_gb") else ""
    system = " ".join(str(record[key]) for key in ("os", "arch") if record.get(key))
    values = (
        record.get("cpu", "") or MACHINE_UNKNOWN,
        record.get("cores", ""),
        memory,
        system,
        record.get("python", ""),
        library and f"{library}{threads}",
        ", ".join(f"{name} {version}" for name, version in packages.items() if version),
        f"{outcomes:,}",
    )
    return [
        tag("div", tag("dt", part), tag("dd", what))
        for part, what in zip(_PARTS, values, strict=True)
        if what != ""
    ]


def _mapping(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = record.get(key)
    return found if isinstance(found, Mapping) else {}
