"""Comparisons and rankings as text of at most 100 columns, and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import fill

from tabulate import tabulate

from okbench.protocols.metrics import METRICS
from okbench.reports.compare.pairs import TOO_FEW, Comparison, Comparisons
from okbench.reports.compare.rank_tests import FEWEST_DATASETS
from okbench.reports.compare.ranking import Ranking

WIDTH = 100
ORDER_NOISE = (
    "The permutations of one file show the noise of the order of its rows, not of sampling: a "
    "difference on a dataset is one on this file, and no statement about other data."
)


def ranking_text(found: Comparisons, ranking: Ranking, command: str) -> str:
    """The comparisons dataset by dataset, then the ranks. `command` runs as many permutations as
    the tests need."""
    return "\n\n".join([*_comparison_blocks(found, command), *_ranking_blocks(ranking)]) + "\n"


def ranking_json(found: Comparisons, ranking: Ranking) -> str:
    """The same as data, with all pairs of learners."""
    page = {
        "okbench": "compare",
        "schema": 2,
        "comparisons": asdict(found),
        "ranking": asdict(ranking),
    }
    return json.dumps(page, indent=2, allow_nan=False) + "\n"


def _comparison_blocks(found: Comparisons, command: str) -> Iterator[str]:
    datasets = dict.fromkeys(pair.dataset for pair in found.pairs)
    shown = [(name, found.with_reference(name)) for name in datasets]
    if not any(pairs for _, pairs in shown):
        yield "No dataset has a complete cell to compare others with."
        return
    for name, pairs in shown:
        if any(pair.reason != TOO_FEW for pair in pairs):
            yield _dataset_block(name, pairs, found)
    yield _sentences(_about_the_tests(found, command))
    if found.tails:
        rows = [
            [tail.dataset, tail.learner, tail.n, f"{tail.mean:.4g}", f"{tail.median:.4g}"]
            for tail in found.tails
        ]
        heading = (
            "Heavy tails (a trial lies more than three interquartile ranges outside the quartiles):"
        )
        header = ["dataset", "learner", "n", "mean", "median"]
        yield f"{heading}\n{_table(header, rows, 2)}"


def _dataset_block(dataset: str, pairs: Sequence[Comparison], found: Comparisons) -> str:
    reference = pairs[0].reference + ("" if found.against else " (the best)")
    rows = [[pair.learner, *_figures(pair), pair.found] for pair in pairs if not pair.reason]
    header = ["learner", "difference", "95 % interval", "p (t)", "p (W)", ""]
    heading = METRICS[found.metric].heading
    lines = [f"{dataset}: {heading}, each learner minus {reference}"]
    if rows:
        lines.append(_table(header, rows, 1, last_is_words=True))
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.reason and pair.reason != TOO_FEW:  # what is too few is written once, at the end
            reasons.setdefault(pair.reason, []).append(pair.learner)
    for reason, learners in reasons.items():
        words = f"  cannot decide about {', '.join(learners)}: {reason}"
        lines.append(_wrapped(words, "    "))
    return "\n".join(lines)


def _figures(pair: Comparison) -> list[str]:
    if pair.differences is None or pair.t_test is None or pair.wilcoxon is None:
        return ["", "", "", ""]
    found = pair.differences
    return [
        f"{found.mean:+.3g}",
        f"{found.low:+.3g} … {found.high:+.3g}",
        f"{pair.t_test:.2g}",
        f"{pair.wilcoxon:.2g}",
    ]


def _about_the_tests(found: Comparisons, command: str) -> Iterator[str]:
    tests = "p (t), p (W): the p values of the paired t test and of Wilcoxon's signed-rank test"
    alone = "Each interval is that of one pair alone."
    if found.family == 1:
        yield f"{tests}. There is a single pair of learners, and nothing to correct."
    elif found.against:
        yield (
            f"{tests}, corrected (Holm) for the {found.family} tests of a learner against "
            f"{found.against} on a dataset. {alone}"
        )
    else:
        yield (
            f"{tests}, corrected (Holm) for all {found.family} pairs of learners on all datasets, "
            f"so that the best learner may be chosen on the data it is tested on. {alone}"
        )
    if found.too_few:
        few = "comparison has" if found.too_few == 1 else "comparisons have"
        corrected = "" if found.family == 1 else "after that correction "
        yield (
            f"Too few permutations: {found.too_few} {few} fewer than {found.enough}, the smallest "
            f"number with which Wilcoxon's test can be significant {corrected}"
            f"({command})."
        )
    yield ORDER_NOISE


def _ranking_blocks(ranking: Ranking) -> Iterator[str]:
    if ranking.ranks:
        yield f"Mean ranks over {_datasets(len(ranking.datasets))}, 1 the best:\n{_ranks(ranking)}"
    else:
        yield "No mean ranks: no dataset has a complete cell for every learner."
    lines = [*_about_ranks(ranking), *_about_agreement(ranking)]
    if lines:
        yield _sentences(lines)


def _ranks(ranking: Ranking) -> str:
    """The table of ranks, with a column for everything that could be computed."""
    names = [ranked.learner for ranked in ranking.ranks]
    columns = {"learner": names, "rank": [f"{ranked.rank:.2f}" for ranked in ranking.ranks]}
    if any(ranked.interval for ranked in ranking.ranks):
        columns["95 % interval"] = [
            f"{ranked.interval[0]:.2f} … {ranked.interval[1]:.2f}" if ranked.interval else ""
            for ranked in ranking.ranks
        ]
    if ranking.critical is not None:
        columns["Nemenyi"] = _letters(names, ranking.nemenyi)
    if ranking.wilcoxon:
        columns["Wilcoxon"] = _letters(names, ranking.wilcoxon_groups)
    if ranking.reference:
        found = [ranked.posterior for ranked in ranking.ranks]
        columns["better equal worse"] = [
            f"{each.below:6.2f} {each.within:5.2f} {each.above:5.2f}" if each else ""
            for each in found
        ]
    return _table(list(columns), [list(row) for row in zip(*columns.values(), strict=True)], 1)


def _letters(names: Sequence[str], groups: Sequence[Sequence[str]]) -> list[str]:
    """A letter for each group that a learner is in; after z come a1, b1 and so on."""
    signs = [chr(ord("a") + i % 26) + (str(i // 26) if i >= 26 else "") for i in range(len(groups))]
    members = [
        "".join(sign for sign, group in zip(signs, groups, strict=True) if name in group)
        for name in names
    ]
    return [letters or "–" for letters in members]


def _about_ranks(ranking: Ranking) -> Iterator[str]:
    if ranking.critical is not None:
        yield (
            "Learners that share a letter do not differ significantly (5 %). Nemenyi: their mean "
            f"ranks lie no farther apart than {ranking.critical:.2f}. Wilcoxon: the signed-rank "
            f"tests over datasets, corrected (Holm) for {len(ranking.wilcoxon)} pairs."
        )
    elif ranking.ranks:
        yield "There are too few datasets to say how far apart mean ranks must be."
    if 0 < len(ranking.datasets) < ranking.enough and ranking.wilcoxon:
        yield (
            f"Wilcoxon's test needs at least {ranking.enough} datasets to separate any two of so "
            "many learners after that correction."
        )
    if ranking.friedman is not None and ranking.iman_davenport is not None:
        yield (
            f"If all learners were alike, such ranks would have p = {ranking.friedman:.2g} "
            f"(Friedman) and p = {ranking.iman_davenport:.2g} (Iman–Davenport)."
        )
    if ranking.reference is not None:
        yield (
            "Better, equal, worse: the probabilities of each learner in comparison with "
            f"{ranking.reference} (Bayesian signed-rank test), where a difference of up to "
            f"{_region(ranking)} counts as equal (--rope)."
        )
    elif ranking.ranks:
        yield f"Bootstrap intervals and Bayesian tests need at least {FEWEST_DATASETS} datasets."


def _region(ranking: Ranking) -> str:
    if ranking.unit == "%":
        return f"{ranking.region:g} %"
    return f"{ranking.region:g} percentage point{'' if ranking.region == 1 else 's'}"


def _about_agreement(ranking: Ranking) -> Iterator[str]:
    if ranking.agreement is not None:
        interval = ranking.agreement_interval
        words = f" ({interval[0]:.2f} … {interval[1]:.2f}, bootstrap)" if interval else ""
        yield (
            f"Agreement with the paper's order: Kendall's τ = {ranking.agreement:.2f}{words}, the "
            f"mean over {_datasets(ranking.agreement_on)}."
        )
    if ranking.left_out:
        yield f"Without a complete cell for every learner: {', '.join(ranking.left_out)}."


def _datasets(count: int) -> str:
    return f"{count} dataset{'' if count == 1 else 's'}"


def _sentences(lines: Iterator[str] | Sequence[str]) -> str:
    return "\n".join(_wrapped(line, "  ") for line in lines)


def _wrapped(line: str, indent: str) -> str:
    return fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _table(
    header: list[str], rows: Sequence[Sequence[object]], words: int, last_is_words: bool = False
) -> str:
    """An indented table of which the first columns are words, and the others numbers."""
    sides = ["left"] * words + ["right"] * (len(header) - words)
    if last_is_words:
        sides[-1] = "left"
    page = tabulate(rows, headers=header, tablefmt="simple", colalign=sides, disable_numparse=True)
    return "\n".join(f"  {line}".rstrip() for line in page.splitlines())
